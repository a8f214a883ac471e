/**
 * page-files.ts: the scripts and styles of the built page as objects in the bucket, from which every version serves
 * them (worker/routes/kept-page-files.ts).
 */

import { readdirSync } from "node:fs"
import { join } from "node:path"
import { PAGE_FILES_FOLDER } from "../../shared/asset-limits.ts"
import { parseJson } from "../../shared/json.ts"
import type { PlatformApi } from "./platform-api.ts"

const ASSETS = "dist/client/assets"

/** Maximum number of a version's files that are checked, and the number checked at the same time. */
const MAX_CHECKED_FILES = 500
const CONCURRENT_CHECKS = 8

/** An object for `wrangler r2 bulk put`. */
export interface PageObject {
  readonly key: string
  /** The path of a local file. */
  readonly file: string
}

/** Returns the bucket's name in the built configuration; null if there is none. */
export function findPageBucket(config: unknown): string | null {
  const { r2_buckets: buckets } = config as {
    readonly r2_buckets?: readonly { readonly binding: string; readonly bucket_name?: string }[]
  }
  return buckets?.find(({ binding }) => binding === "MEDIA")?.bucket_name ?? null
}

export function listPageObjects(): PageObject[] {
  return readdirSync(ASSETS).map((name) => ({ key: `${PAGE_FILES_FOLDER}/${name}`, file: join(ASSETS, name) }))
}

/**
 * Returns the key of the list of a version's page files. The list is written after the files. The Worker serves nothing
 * under this key.
 */
export function createListKey(version: string): string {
  return `${PAGE_FILES_FOLDER}/versions/${version}.json`
}

/** Returns the content of the list: the keys of the build's page files. */
export function formatPageList(): string {
  return JSON.stringify(listPageObjects().map(({ key }) => key))
}

/**
 * Returns why the page files of a version may be missing from the bucket, as the end of a sentence; null if all are
 * there. Errors: PlatformError.
 */
export async function findMissingFiles(api: PlatformApi, bucket: string, version: string): Promise<string | null> {
  const text = await api.readObject(bucket, createListKey(version))
  const list = text === null ? null : parsePageList(text)
  if (list === null) return "the bucket has no list of its page files"
  const missing: string[] = []
  const waiting = [...list]
  const checkNext = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
      if ((await api.readObject(bucket, key)) === null) missing.push(key)
  }
  await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, checkNext))
  return missing.length === 0 ? null : `${missing.length} of its ${list.length} page files are missing from the bucket`
}

/** Parses a list; null if `formatPageList` did not write the text. */
function parsePageList(text: string): readonly string[] | null {
  const keys = parseJson(text)
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_CHECKED_FILES) return null
  const isPageKey = (key: unknown): key is string => typeof key === "string" && key.startsWith(`${PAGE_FILES_FOLDER}/`)
  return keys.every(isPageKey) ? keys : null
}
