/**
 * kept-page.ts: the copy of the page in the browser's cache: the HTML, and the scripts and styles that a page of this
 * version has loaded.
 *
 * Each version has its own cache, named after the script that the version's HTML loads. The HTML is added last, so a
 * cache that contains HTML is complete. After that, the caches of other versions are deleted.
 */

import { CACHE_PREFIX, type LoadedFiles, MAX_KEPT_FILES } from "./loaded-files.ts"

const PAGE = "/"

/** Returns the cached page; undefined if there is none. */
export async function readKeptPage(): Promise<Response | undefined> {
  return await readKept(PAGE)
}

export async function readKeptFile(request: Request): Promise<Response | undefined> {
  return await readKept(request)
}

/**
 * Reads a cached response. A cache that can't be read is treated as empty, so that the page still opens if there is a
 * network connection.
 */
async function readKept(request: Request | string): Promise<Response | undefined> {
  return await caches.match(request, { ignoreVary: true }).catch(() => undefined)
}

/**
 * Replaces the HTML of the cached version. The HTML may have changed, because it contains the tenant's theme and a
 * content security policy.
 */
export async function refreshKeptPage(response: Response): Promise<void> {
  const names = new Set((await listFiles(response.clone())).map((file) => CACHE_PREFIX + file))
  const name = (await caches.keys()).find((kept) => names.has(kept))
  if (name === undefined) return
  const cache = await caches.open(name)
  if ((await cache.match(PAGE)) !== undefined) await cache.put(PAGE, response)
}

/**
 * Caches the files of a page, and its HTML unless that is already cached. Does nothing if the server has another
 * version by now.
 */
export async function keepPage({ entry, files }: LoadedFiles): Promise<void> {
  const name = CACHE_PREFIX + entry
  const cache = await caches.open(name)
  if ((await cache.match(PAGE)) !== undefined) return await addFiles(cache, files)
  const response = await fetch(PAGE, { cache: "no-cache" })
  const names = await listFiles(response.clone())
  if (!names.includes(entry)) return void (await caches.delete(name))
  await addFiles(cache, [...names, ...files])
  await cache.put(PAGE, response)
  for (const other of await caches.keys())
    if (other.startsWith(CACHE_PREFIX) && other !== name) await caches.delete(other)
}

/**
 * Adds all files that the cache doesn't have yet. If one can't be loaded, none is added. Most come from the browser's
 * HTTP cache.
 */
async function addFiles(cache: Cache, paths: readonly string[]): Promise<void> {
  const known = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname))
  const missing = [...new Set(paths)].filter((path) => !known.has(path))
  if (known.size + missing.length <= MAX_KEPT_FILES) await cache.addAll(missing)
}

/** Returns the files that the page's HTML names; none if the response isn't the page. */
async function listFiles(response: Response): Promise<readonly string[]> {
  const isPage = response.ok && (response.headers.get("content-type") ?? "").startsWith("text/html")
  return isPage ? ((await response.text()).match(/\/assets\/[\w.-]+/g) ?? []) : []
}
