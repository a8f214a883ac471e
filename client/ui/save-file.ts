/** save-file.ts: saves a file through the browser's download. */

/** Time after which the browser has started the download, in milliseconds. */
const REVOKE_AFTER_MS = 60_000

/** Downloads the content of a URL. */
export function saveHref(href: string, fileName: string): void {
  const link = document.createElement("a")
  link.href = href
  link.download = fileName
  link.click()
}

export function saveBlob(blob: Blob, fileName: string): void {
  const href = URL.createObjectURL(blob)
  saveHref(href, fileName)
  setTimeout(() => URL.revokeObjectURL(href), REVOKE_AFTER_MS)
}
