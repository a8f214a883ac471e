/**
 * save-session.ts: a session as a file on the reader's machine.
 *
 * GET /v1/sessions/:id/events → blob → SAVE → download
 * The token travels in a header, so it cannot be a plain link. Source: SPEC PG34.
 */

import type { ExportFormat } from "../net/api.ts"
import type { Chat } from "../session/session-router.ts"
import { nameOf, wordsOf } from "../session/session-list.ts"

/** Longest name of a file, in UTF-16 code units, without its ending. */
const MAX_NAME_CHARS = 80
/** The browser has begun the download by then, in milliseconds. */
const REVOKE_MS = 60_000

/** What no file system minds. */
export function fileName(title: string, format: ExportFormat): string {
  const plain = title
    .replace(/[\p{C}\\/:*?"<>|]+/gu, " ")
    .replace(/\s+/g, " ")
    .slice(0, MAX_NAME_CHARS)
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/^[. ]+|[. ]+$/g, "")
  return `${plain === "" ? "conversation" : plain}.${format === "markdown" ? "md" : "jsonl"}`
}

export async function saveSession({ sessions, api }: Chat, id: string, format: ExportFormat): Promise<void> {
  const name = nameOf(sessions.find(id)?.title)
  sessions.tell(`Exporting “${name}”…`, false, true)
  try {
    const blob = await api.download(id, format)
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = fileName(name, format)
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS)
    sessions.tell(`“${name}” was exported.`)
  } catch (error) {
    sessions.tell(`“${name}” could not be exported: ${wordsOf(error)}`, true)
  }
}
