/** save-file.ts: saves a file as a browser download. */

/** How long a blob's URL remains valid for the browser to start the download, in milliseconds. */
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
