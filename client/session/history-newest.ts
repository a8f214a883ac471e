/**
 * history-newest.ts: the newest page of a session, and as much before it as leaves a reader further up where they are.
 *
 * api → NEWEST → store
 * Source: SPEC SO12.
 */

import type { HistoryPage } from "../../shared/protocol/frame.ts"
import { MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"

/** Messages of the first page, and of every older one. */
export const PAGE_MESSAGES = 24

/** `ids`: what stands there, oldest first; `reading`: the message that the reader has before them, null at the end. */
export async function readNewest(
  api: Pick<Api, "page">,
  session: string,
  ids: readonly string[],
  reading: string | null,
): Promise<HistoryPage> {
  const newest = await api.page(session, PAGE_MESSAGES)
  // Versions part ways somewhere: what is before that place is the same, so any of these will do.
  const known = new Set(reading === null ? [] : ids.slice(0, ids.indexOf(reading) + 1))
  let whole = newest
  while (known.size > 0 && whole.cursor !== undefined && whole.messages.length <= ids.length + PAGE_MESSAGES) {
    if (whole.messages.some(({ id }) => known.has(id))) break
    const older = await api.page(session, MAX_PAGE_MESSAGES, whole.cursor)
    // It changed again meanwhile: the server's hello will say so.
    if (older.epoch !== newest.epoch) return newest
    const { epoch, seq } = newest
    whole = { ...older, messages: [...older.messages, ...whole.messages], epoch, seq }
  }
  return whole
}
