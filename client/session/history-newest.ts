/**
 * history-newest.ts: loads a session's newest history, back to the message that the user is reading.
 *
 * api → NEWEST → store
 * Source: SPEC SO12.
 */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"

/** Messages per page of history. */
export const PAGE_MESSAGES = 24

/** When a session is opened again, no more pages are loaded beyond this many messages to restore the reading position. */
const MAX_REOPENED_MESSAGES = 1_000

/** `ids` are the loaded messages, oldest first. `readingId` is the message being read; null if the view is at the end. */
export async function readNewestPage(
  api: Pick<Api, "getHistoryPage">,
  session: string,
  ids: readonly string[],
  readingId: string | null,
): Promise<HistoryPage> {
  const newest = await api.getHistoryPage(session, PAGE_MESSAGES)
  // After a switch of versions, the message being read may be gone. Messages before the fork are the same in both versions.
  const isReopened = ids.length === 0
  const anchorIds = new Set(
    readingId === null ? [] : isReopened ? [readingId] : ids.slice(0, ids.indexOf(readingId) + 1),
  )
  const maxMessages = isReopened ? MAX_REOPENED_MESSAGES : ids.length + PAGE_MESSAGES
  let merged = newest
  while (anchorIds.size > 0 && merged.cursor !== undefined && merged.messages.length <= maxMessages) {
    if (merged.messages.some(({ id }) => anchorIds.has(id))) break
    const older = await api.getHistoryPage(session, MAX_PAGE_MESSAGES, merged.cursor)
    // The version has changed again. The server's hello will report the new epoch.
    if (older.epoch !== newest.epoch) return newest
    const { epoch, seq } = newest
    merged = { ...older, messages: [...older.messages, ...merged.messages], epoch, seq }
  }
  return merged
}
