/**
 * loaded-files.ts: the message that tells the service worker which scripts and styles a page has loaded, and the names
 * of the caches that store them.
 */

/** The prefix of the caches' names. worker/routes/service-worker-route.ts also deletes these caches. */
export const CACHE_PREFIX = "cuecard-page "

export interface LoadedFiles {
  /**
   * The path of the script that the page's HTML loads. Its name contains a hash, so it identifies the page's version.
   */
  readonly entry: string
  /** Paths of files. */
  readonly files: readonly string[]
}

/** The path of a file whose name contains a hash of its contents. Such a file never changes. */
const FILE_PATH = /^\/assets\/[\w.-]{1,120}$/

/** Maximum number of files in a message, and of files in a cache. A build has fewer. */
export const MAX_KEPT_FILES = 500

/**
 * Parses a message and drops everything that isn't a file path. Returns null if the message isn't from a Cuecard page.
 */
export function parseLoadedFiles(message: unknown): LoadedFiles | null {
  const { entry, files }: { readonly entry?: unknown; readonly files?: unknown } = Object(message)
  if (!isFilePath(entry) || !Array.isArray(files) || files.length > MAX_KEPT_FILES) return null
  return { entry, files: files.filter(isFilePath) }
}

export function isFilePath(path: unknown): path is string {
  return typeof path === "string" && FILE_PATH.test(path)
}
