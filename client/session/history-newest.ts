/**
 * history-newest.ts: the newest page of a session, and as much before it as leaves a reader further up where they are.
 *
 * api → NEWEST → store
 * Source: SPEC SO12.
 */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"

/** Messages of the first page, and of every older one. */
export const PAGE_MESSAGES = 24

/** `ids`: what stands there, oldest first; `reading`: the message that the reader has before them, null at the end. */
export async function readNewestPage(
  api: Pick<Api, "getHistoryPage">,
  session: string,
  ids: readonly string[],
  readingId: string | null,
): Promise<HistoryPage> {
  const newest = await api.getHistoryPage(session, PAGE_MESSAGES)
  // Versions part ways somewhere: what is before that place is the same, so any of these will do.
  const anchorIds = new Set(readingId === null ? [] : ids.slice(0, ids.indexOf(readingId) + 1))
  let merged = newest
  while (anchorIds.size > 0 && merged.cursor !== undefined && merged.messages.length <= ids.length + PAGE_MESSAGES) {
    if (merged.messages.some(({ id }) => anchorIds.has(id))) break
    const older = await api.getHistoryPage(session, MAX_PAGE_MESSAGES, merged.cursor)
    // It changed again meanwhile: the server's hello will say so.
    if (older.epoch !== newest.epoch) return newest
    const { epoch, seq } = newest
    merged = { ...older, messages: [...older.messages, ...merged.messages], epoch, seq }
  }
  return merged
}
