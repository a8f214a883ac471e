/**
 * history-pages.ts: pages of history, and the messages that changed since a given seq.
 *
 * Both follow the parent pointers of the active path, beginning with its newest message, so that the cost does not
 * depend on the length of the session (SPEC HI3).
 */

import { MAX_PAGE_BYTES, MAX_RESUME_MESSAGES } from "../../shared/limits.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { PageQuery, PageText } from "../platform/rpc/session-types.ts"

/** The state of a session that its pages contain. */
export interface PageHead {
  readonly epoch: string
  readonly seq: number
  readonly isTemporary: boolean
}

export function readPage(store: SessionStore, head: PageHead, query: PageQuery): PageText {
  const before = store.countRows().read
  const json = readPageJson(store, head, query)
  return { json, rowsRead: store.countRows().read - before }
}

/**
 * Returns one page as JSON text, which is sent without being parsed again.
 *
 * Cost: the rows of the page's messages. Size: at most MAX_PAGE_BYTES, but at least one message (SPEC HI1).
 */
export function readPageJson(store: SessionStore, head: PageHead, query: PageQuery): string {
  // Newest first.
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
      // The path ends at a position without a message, so there is no earlier page.
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
  return pageToJson(head, texts.reverse(), { before: next === null ? null : oldest, after: null })
}

/**
 * Returns the JSON of a page. `before` and `after`: the positions at which the next older and newer pages begin, if
 * there are any.
 */
export function pageToJson(
  { epoch, seq, isTemporary }: PageHead,
  texts: readonly string[],
  { before, after }: { readonly before: number | null; readonly after: number | null },
): string {
  const cursor = before === null ? "" : `,"cursor":"${before}"`
  const next = after === null ? "" : `,"next":"${after}"`
  const marks = `${cursor}${next}${isTemporary ? ',"temporary":true' : ""}`
  return `{"messages":[${texts.join(",")}],"has_more":${before !== null}${marks},"epoch":${JSON.stringify(epoch)},"seq":${seq}}`
}

/**
 * Returns the messages that changed after `seq`, in the order of their last change. A withdrawn message is a user
 * message with status `cancelled`. Null if there are too many to send, or the changes are no longer recorded.
 *
 * Cost: the rows of these messages and one more row. Newer messages changed later, so the walk stops at the first
 * settled message that did not change. Changes made after a message's end are recorded separately (SPEC WS7, HI5).
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

/**
 * Returns messages of the active path that changed after their end and that the walk did not reach. Null if such
 * changes are no longer recorded.
 */
function readLateChanges(store: SessionStore, seq: number, walked: readonly StoredMessage[]): StoredMessage[] | null {
  const found = store.readLateChanges(seq)
  if (found === null) return null
  const knownPositions = new Set(walked.map(({ pos }) => pos))
  return found
    .filter((pos) => !knownPositions.has(pos) && store.isOnPath(pos))
    .map((pos) => store.findMessageAt(pos))
    .filter((stored) => stored !== null)
}
