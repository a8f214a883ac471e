/**
 * backup-bucket.ts: the R2 buckets for scheduled backups, one per region, and the keys in them. No other module reads
 * these bindings.
 *
 * Keys begin with the day, so that listings are sorted oldest first: `2026-11-22/<tenant>/<id>/<n>`. File 0 is the
 * manifest. It is written last, so a backup without it is incomplete.
 */

import { findRegionBucket, type RegionBindings } from "../platform/region-binding.ts"
import { getRegion, type Region, REGIONS } from "../platform/tenant-id.ts"

/** A backup is stored in its tenant's region. If the region has no bucket, its tenants are not backed up. */
export type BackupBuckets = { readonly BACKUP?: R2Bucket } & RegionBindings<"BACKUP">

type BackupEnv = BackupBuckets & { readonly ENVIRONMENT: string }

/** Returns the bucket of a tenant's backups; null if none is bound. */
export function findBackupBucket(env: BackupEnv, tenant: string): R2Bucket | null {
  return findBucket(env, getRegion(tenant))
}

/**
 * Returns the regions whose tenants are backed up, with their buckets. Null represents the tenants without a region.
 */
export function listBackupRegions(env: BackupEnv): { readonly region: Region | null; readonly bucket: R2Bucket }[] {
  return [null, ...REGIONS].flatMap((region) => {
    const bucket = findBucket(env, region)
    return bucket === null ? [] : [{ region, bucket }]
  })
}

/** On a developer's machine one bucket serves all regions. */
function findBucket(env: BackupEnv, region: Region | null): R2Bucket | null {
  const own = region === null ? env.BACKUP : findRegionBucket(env, "BACKUP", region)
  return own ?? (env.ENVIRONMENT === "local" ? env.BACKUP : undefined) ?? null
}

/** Returns the folder of a backup, with a trailing slash. `created`: milliseconds since 1970. */
export function backupFolder(tenant: string, id: string, created: number): string {
  return `${formatDay(created)}/${tenant}/${id}/`
}

/** Formats a day in UTC, such as `2026-11-22`. */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
