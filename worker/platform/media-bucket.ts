/**
 * media-bucket.ts: the R2 bucket of each region. No other module reads these bindings.
 *
 * A deployment serves only the regions for which buckets are bound.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { findRegionBucket, type RegionBindings } from "./region-binding.ts"
import { getRegion, type Region, REGIONS } from "./tenant-id.ts"

export type RegionBuckets = RegionBindings<"MEDIA">

/** `MEDIA` is the bucket of all tenants without a region. */
export type MediaEnv = RegionBuckets & { readonly ENVIRONMENT: string; readonly MEDIA: R2Bucket }

/**
 * Returns the bucket of a tenant. Throws if the deployment does not serve the tenant's region, so callers must have
 * called `checkRegion`.
 */
export function mediaBucket(env: MediaEnv, tenant: string): R2Bucket {
  const bucket = findBucket(env, getRegion(tenant))
  if (bucket === null) throw new Error(`no bucket is bound for the region of ${tenant}`)
  return bucket
}

/** Checks that this deployment serves a tenant's region. Errors: `region_unavailable`. */
export function checkRegion(env: Omit<MediaEnv, "MEDIA">, tenant: string): Result<null> {
  const region = getRegion(tenant)
  return region === null || listServedRegions(env).includes(region)
    ? succeed(null)
    : fail({ reason: "region_unavailable", region })
}

/**
 * Returns the regions that this deployment serves. On a developer's machine, one bucket serves all regions. In
 * production, that would store data outside its region.
 */
export function listServedRegions(env: Omit<MediaEnv, "MEDIA">): readonly Region[] {
  return REGIONS.filter((region) => env.ENVIRONMENT === "local" || findRegionBucket(env, "MEDIA", region) !== undefined)
}

function findBucket(env: MediaEnv, region: Region | null): R2Bucket | null {
  if (region === null) return env.MEDIA
  return findRegionBucket(env, "MEDIA", region) ?? (env.ENVIRONMENT === "local" ? env.MEDIA : null)
}
