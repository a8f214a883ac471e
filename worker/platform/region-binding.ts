/**
 * region-binding.ts: the bindings that a deployment has once per region, such as `MEDIA_EU`.
 *
 * A bucket's jurisdiction is fixed when it is created, so each region needs a separate bucket.
 */

import type { Region } from "./tenant-id.ts"

const SUFFIXES = { eu: "EU", us: "US", fedramp: "FEDRAMP", "fedramp-high": "FEDRAMP_HIGH" } as const satisfies Record<
  Region,
  string
>

type Suffix = (typeof SUFFIXES)[Region]

/** The optional buckets `<Name>_EU` and so on. */
export type RegionBindings<Name extends string> = { readonly [key in `${Name}_${Suffix}`]?: R2Bucket }

/**
 * Returns the bucket that is bound for a region; undefined if there is none. `env` contains the bindings whose names
 * begin with `name`.
 */
export function findRegionBucket<Name extends string>(
  env: RegionBindings<Name>,
  name: Name,
  region: Region,
): R2Bucket | undefined {
  return env[`${name}_${SUFFIXES[region]}`]
}
