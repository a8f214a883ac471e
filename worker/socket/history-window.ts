/**
 * history-window.ts: pages of history that begin in the middle of a session: around a message, or after a position.
 * Loaded on demand.
 */

import { MAX_PAGE_BYTES } from "../../shared/limits.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import type { PageQuery, PageText } from "../platform/rpc/session-types.ts"
import type { SessionStore } from "../store/session-store.ts"
import { type PageHead, pageToJson } from "./history-pages.ts"

/**
 * Returns the messages after a position, or around a message. Null if that position or message is not on the active
 * path. Size: at most MAX_PAGE_BYTES, but at least one message. Cost: the rows of the page's messages, and a number of
 * rows that is logarithmic in the number of later messages.
 */
export function readWindow(store: SessionStore, head: PageHead, query: PageQuery): PageText | null {
  const rowsBefore = store.countRows().read
  const json =
    query.around === undefined
      ? readAfter(store, head, query.after ?? 0, query.limit)
      : readAround(store, head, query.around, query.limit)
  return json === null ? null : { json, rowsRead: store.countRows().read - rowsBefore }
}

function readAfter(store: SessionStore, head: PageHead, after: number, limit: number): string | null {
  if (after !== 0 && !store.isOnPath(after)) return null
  const page = new WindowTexts(store)
  page.addAll(store.listPathAfter(after, limit), MAX_PAGE_BYTES)
  return page.toJson(head)
}

/**
 * Reads a page around a message. Up to half of the messages, and of the bytes, are used for that message and newer
 * ones.
 */
function readAround(store: SessionStore, head: PageHead, id: string, limit: number): string | null {
  const pos = store.findById(id)?.pos ?? null
  if (pos === null || !store.isOnPath(pos)) return null
  const page = new WindowTexts(store)
  page.addAll([pos, ...store.listPathAfter(pos, Math.floor((limit - 1) / 2))], MAX_PAGE_BYTES / 2)
  page.addOlder(limit)
  return page.toJson(head)
}

/** The messages of a page, as JSON, in the order of the path. */
class WindowTexts {
  readonly #store: SessionStore
  readonly #texts: string[] = []
  #bytes = 0
  /** Parent of the oldest message. */
  #parent: number | null = null
  #oldest: number | null = null
  #newest: number | null = null

  constructor(store: SessionStore) {
    this.#store = store
  }

  /** Adds messages at the end, until the page has `maxBytes`. */
  addAll(positions: readonly number[], maxBytes: number): void {
    for (const pos of positions) {
      const loaded = this.#load(pos)
      if (loaded === null || (this.#texts.length > 0 && this.#bytes + loaded.bytes > maxBytes)) return
      this.#bytes += loaded.bytes
      this.#texts.push(loaded.text)
      if (this.#oldest === null) [this.#oldest, this.#parent] = [pos, loaded.parent]
      this.#newest = pos
    }
  }

  /** Adds older messages at the beginning, up to a number of messages and the size of a page. */
  addOlder(limit: number): void {
    while (this.#parent !== null && this.#texts.length < limit) {
      const loaded = this.#load(this.#parent)
      if (loaded === null || this.#bytes + loaded.bytes > MAX_PAGE_BYTES) return
      this.#bytes += loaded.bytes
      this.#texts.unshift(loaded.text)
      this.#oldest = this.#parent
      this.#parent = loaded.parent
    }
  }

  /** Formats the page. The queued messages follow the newest message. */
  toJson(head: PageHead): string {
    const isAtEnd = this.#newest === null || this.#newest === this.#store.readTip()
    const queued = isAtEnd ? this.#store.readQueue().map(({ message }) => JSON.stringify(messageToWire(message))) : []
    const ends = { before: this.#parent === null ? null : this.#oldest, after: isAtEnd ? null : this.#newest }
    return pageToJson(head, [...this.#texts, ...queued], ends)
  }

  #load(pos: number): { text: string; bytes: number; parent: number | null } | null {
    const stored = this.#store.findMessageAt(pos)
    if (stored === null) return null
    const text = JSON.stringify(messageToWire(stored.message))
    return { text, bytes: countUtf8Bytes(text), parent: stored.parent }
  }
}
