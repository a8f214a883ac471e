/**
 * history-pages.ts: pages of a session, and what changed since a client last looked.
 *
 * store → HISTORY → page, resume
 * Follows the active path by parent pointers from its newest message, so a page reads its own rows and no others
 * however long the session is (law 9).
 */

import { MAX_PAGE_BYTES, MAX_RESUME_MESSAGES } from "../../shared/limits.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { PageQuery, PageText } from "../platform/rpc/session-types.ts"

/** A page, and what it took. */
export function readPage(store: SessionStore, epoch: string, seq: number, query: PageQuery): PageText {
  const before = store.countRows().read
  const json = readPageJson(store, epoch, seq, query)
  return { json, rowsRead: store.countRows().read - before }
}

/**
 * One page as JSON text, ready to send: built once, not parsed again on its way out.
 *
 * Shapes  HistoryPage of shared/protocol/http-body.ts.
 * Cost    the rows of its messages; at most MAX_PAGE_BYTES of JSON, and always one message.
 * Source  SPEC HI1–HI3.
 */
export function readPageJson(store: SessionStore, epoch: string, seq: number, query: PageQuery): string {
  const texts: string[] = []
  let bytes = 0
  if (query.before === undefined) {
    for (const queued of store.readQueue()) texts.unshift(JSON.stringify(messageToWire(queued.message)))
    bytes = texts.reduce((sum, text) => sum + countUtf8Bytes(text), 0)
  }
  let next = query.before === undefined ? store.readTip() : (store.findParent(query.before) ?? null)
  let oldest: number | null = query.before ?? null
  for (let count = 0; next !== null && count < query.limit; count++) {
    const stored = store.findMessageAt(next)
    if (stored === null) {
      // Nothing stands there: no page is before this one.
      next = null
      break
    }
    const text = JSON.stringify(messageToWire(stored.message))
    bytes += countUtf8Bytes(text)
    if (count > 0 && bytes > MAX_PAGE_BYTES) break
    texts.push(text)
    oldest = stored.pos
    next = stored.parent
  }
  const hasMore = next !== null
  const cursor = hasMore && oldest !== null ? `,"cursor":"${oldest}"` : ""
  const messages = texts.reverse().join(",")
  return `{"messages":[${messages}],"has_more":${hasMore}${cursor},"epoch":${JSON.stringify(epoch)},"seq":${seq}}`
}

/**
 * The messages that changed after `seq`, in the order of their last change; null where they are too many to send, or
 * nobody remembers which. One that was taken back comes as a user's message that is `cancelled`.
 *
 * Cost    their rows, and those of one message more: newer messages changed later, so the first that did not ends the
 *         walk. What changed after its end is remembered one by one.
 * Source  SPEC WS7, HI5.
 */
export function readChangesSince(store: SessionStore, seq: number): StoredMessage[] | null {
  const changed: StoredMessage[] = store.readWithdrawnSince(seq)
  for (const queued of store.readQueue()) {
    if (queued.seq > seq)
      changed.push({ pos: 0, parent: null, deadline: null, seq: queued.seq, message: queued.message })
  }
  for (let pos = store.readTip(); pos !== null; ) {
    const stored = store.findMessageAt(pos)
    if (stored === null) break
    if (changed.length > MAX_RESUME_MESSAGES) return null
    if (stored.seq > seq) changed.push(stored)
    else if (isMessageSettled(stored)) break
    pos = stored.parent
  }
  const lateChanges = readLateChanges(store, seq, changed)
  if (lateChanges === null || changed.length + lateChanges.length > MAX_RESUME_MESSAGES + 1) return null
  return [...changed, ...lateChanges].sort((a, b) => a.seq - b.seq)
}

/** Messages of the active path that changed after their end, and that the walk did not come to. */
function readLateChanges(store: SessionStore, seq: number, walked: readonly StoredMessage[]): StoredMessage[] | null {
  const found = store.readLateChanges(seq)
  if (found === null) return null
  const knownPositions = new Set(walked.map(({ pos }) => pos))
  const late = found
    .filter((pos) => !knownPositions.has(pos) && store.isOnPath(pos))
    .map((pos) => store.findMessageAt(pos))
  return late.filter((stored) => stored !== null)
}
