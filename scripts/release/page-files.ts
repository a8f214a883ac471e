/**
 * page-files.ts: the scripts and styles of the built page as objects of the bucket, from which every version serves them
 * (worker/routes/kept-page-files.ts).
 */

import { readdirSync } from "node:fs"
import { join } from "node:path"

const ASSETS = "dist/client/assets"

/** The folder in the bucket. Tenant ids can't contain `~`. */
const FOLDER = "~page"

/** The bucket's name in the built configuration; null if there is none. */
export function findPageBucket(config: unknown): string | null {
  const { r2_buckets: buckets } = config as {
    readonly r2_buckets?: readonly { readonly binding: string; readonly bucket_name?: string }[]
  }
  return buckets?.find(({ binding }) => binding === "MEDIA")?.bucket_name ?? null
}

/** The input of `wrangler r2 bulk put`: the keys, and the files for them. */
export function listPageObjects(): { readonly key: string; readonly file: string }[] {
  return readdirSync(ASSETS).map((name) => ({ key: `${FOLDER}/${name}`, file: join(ASSETS, name) }))
}
