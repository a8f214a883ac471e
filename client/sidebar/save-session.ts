/**
 * save-session.ts: a session as a file on the reader's machine.
 *
 * GET /v1/sessions/:id/events → blob → SAVE → download
 * The token travels in a header, so it cannot be a plain link. Source: SPEC PG34.
 */

import type { ExportFormat } from "../net/api.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { formatTitle, describeError } from "../session/session-list.ts"

/** Longest name of a file, in UTF-16 code units, without its ending. */
const MAX_NAME_CHARS = 80
/** The browser has begun the download by then, in milliseconds. */
const REVOKE_MS = 60_000

/** What no file system minds. */
export function createFileName(title: string, format: ExportFormat): string {
  const cleaned = title
    .replace(/[\p{C}\\/:*?"<>|]+/gu, " ")
    .replace(/\s+/g, " ")
    .slice(0, MAX_NAME_CHARS)
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/^[. ]+|[. ]+$/g, "")
  return `${cleaned === "" ? "conversation" : cleaned}.${format === "markdown" ? "md" : "jsonl"}`
}

export async function saveSession(
  { sessionList: sessions, api }: SessionRouter,
  id: string,
  format: ExportFormat,
): Promise<void> {
  const name = formatTitle(sessions.findSession(id)?.title)
  sessions.showNotice(`Exporting “${name}”…`, false, true)
  try {
    const blob = await api.downloadExport(id, format)
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = createFileName(name, format)
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS)
    sessions.showNotice(`“${name}” was exported.`)
  } catch (error) {
    sessions.showNotice(`“${name}” could not be exported: ${describeError(error)}`, true)
  }
}
