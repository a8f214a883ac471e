/**
 * stored-drafts.ts: keeps drafts in the browser's storage, so that they survive a reload.
 *
 * draft ↔ STORED DRAFTS ↔ localStorage
 * There is one row per user and session. A draft is stored shortly after each change, and its row is deleted at once
 * when the draft becomes empty. This code is loaded once the user is known. Source: SPEC PG77, PG90, PG91.
 */

import { cutText } from "../../shared/text/cut-text.ts"
import { effect } from "@preact/signals"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { parseJson } from "../../shared/json.ts"
import { DRAFT_PREFIX, type KeyValueStorage, type MessageExtras, pickExtras } from "../net/outbox.ts"
import { readStorageRows } from "../net/user-storage.ts"
import type { Draft } from "./draft.ts"

/** Delay between a change and the write, in milliseconds. */
const WRITE_DELAY_MS = 250
/** Maximum number of drafts stored in one browser, for all users together. The oldest drafts are deleted first. */
const MAX_STORED_DRAFTS = 50
/**
 * Maximum total size of the stored drafts, in UTF-16 code units. Browsers allow about 5 million for everything on an
 * origin.
 */
const MAX_STORED_CHARS = 1_000_000
/** Longer text is cut to this length, in UTF-16 code units. Such text is too long to be sent anyway. */
const MAX_TEXT_CHARS = 2 * MAX_MESSAGE_BYTES

export interface StoredDraftsDeps {
  readonly storage: KeyValueStorage
  now(): number
  setTimer(ms: number, callback: () => void): () => void
}

interface WatchedDraft {
  readonly key: string
  /**
   * Whether attachments are stored. For a new conversation, they aren't, because its draft session is erased when the
   * page is closed.
   */
  readonly hasFiles: boolean
  readonly draft: Draft
  /** The row as this page last read or wrote it; null if there is none. */
  row: string | null
  cancelWrite: (() => void) | null
  stopWatching(): void
}

export class StoredDrafts {
  readonly #deps: StoredDraftsDeps
  /** The prefix of the user's rows. */
  readonly #prefix: string
  readonly #watched = new Map<string, WatchedDraft>()

  /** `user` identifies the user across tenants. */
  constructor(deps: StoredDraftsDeps, user: string) {
    this.#deps = deps
    this.#prefix = `${DRAFT_PREFIX}${encodeURIComponent(user)}.`
  }

  /** Restores a session's stored draft into `draft`, and stores changes to `draft` from then on. */
  keepDraft(session: string, draft: Draft): void {
    const key = this.#prefix + session
    const row = this.#readRow(key)
    const watched: WatchedDraft = { key, hasFiles: session !== "", draft, row, cancelWrite: null, stopWatching() {} }
    restoreDraft(draft, row)
    this.#watched.set(session, watched)
    watched.stopWatching = effect(() => this.#noteChange(watched, readContent(watched) !== null))
  }

  /** Deletes a session's stored draft, and stops storing its changes. */
  forgetDraft(session: string): void {
    const watched = this.#watched.get(session)
    this.#watched.delete(session)
    watched?.stopWatching()
    watched?.cancelWrite?.()
    if (watched !== undefined) this.#removeRow(watched.key)
  }

  /** Writes all pending changes, because the page may be about to close. */
  flush(): void {
    for (const watched of this.#watched.values()) if (watched.cancelWrite !== null) this.#write(watched)
  }

  /**
   * Called when another tab has deleted a row. Clears an equal draft on this page, because the other tab sent or
   * discarded it.
   */
  handleRemoved(key: string, row: string | null): void {
    for (const watched of this.#watched.values()) {
      if (watched.key !== key || row === null || !isSameContent(row, readContent(watched))) continue
      watched.row = null
      watched.draft.clear()
    }
  }

  #noteChange(watched: WatchedDraft, isFilled: boolean): void {
    watched.cancelWrite?.()
    watched.cancelWrite = null
    if (isFilled) watched.cancelWrite = this.#deps.setTimer(WRITE_DELAY_MS, () => this.#write(watched))
    else if (watched.row !== null) this.#write(watched)
  }

  #write(watched: WatchedDraft): void {
    const { key } = watched
    watched.cancelWrite?.()
    watched.cancelWrite = null
    const content = readContent(watched)
    // An unchanged row keeps its time, so that opening a draft doesn't make it the newest.
    if (watched.row !== null && isSameContent(watched.row, content)) return
    watched.row = content === null ? null : JSON.stringify({ at: this.#deps.now(), ...content })
    this.#removeRow(key)
    if (watched.row === null) return
    this.#makeRoom(watched.row.length)
    try {
      this.#deps.storage.setItem(key, watched.row)
    } catch {
      // If storage is full or blocked, the draft lasts until the page is closed.
    }
  }

  /** Deletes the oldest drafts until a draft of `chars` UTF-16 code units fits. */
  #makeRoom(chars: number): void {
    const rows = readStorageRows(this.#deps.storage).filter(([key]) => key.startsWith(DRAFT_PREFIX))
    let total = rows.reduce((sum, [, row]) => sum + row.length, chars)
    let count = rows.length + 1
    if (count <= MAX_STORED_DRAFTS && total <= MAX_STORED_CHARS) return
    const oldestFirst = rows.map(([key, row]) => ({ key, row, at: readTime(row) })).sort((a, b) => a.at - b.at)
    for (const { key, row } of oldestFirst) {
      if (count <= MAX_STORED_DRAFTS && total <= MAX_STORED_CHARS) return
      this.#removeRow(key)
      total -= row.length
      count--
    }
  }

  #readRow(key: string): string | null {
    try {
      return this.#deps.storage.getItem(key)
    } catch {
      return null
    }
  }

  #removeRow(key: string): void {
    try {
      this.#deps.storage.removeItem(key)
    } catch {
      // Storage is blocked, so nothing was stored.
    }
  }
}

interface DraftContent extends MessageExtras {
  readonly text: string
}

/**
 * Returns the part of a draft that is stored; null if there is nothing to store. Subscribes the calling effect to the
 * whole draft.
 */
function readContent({ draft, hasFiles }: WatchedDraft): DraftContent | null {
  const text = cutText(draft.text.value, MAX_TEXT_CHARS)
  const uploaded = draft.attachments.listUploaded()
  const extras = pickExtras({ reply_to: draft.replyTo.value, attachments: hasFiles ? uploaded : [] })
  return text === "" && Object.keys(extras).length === 0 ? null : { text, ...extras }
}

function restoreDraft(draft: Draft, row: string | null): void {
  const { text, ...extras } = Object(parseJson(row ?? "")) as Partial<DraftContent>
  if (typeof text !== "string") return
  // The user may have begun to type before the row was read.
  const typed = draft.text.peek()
  draft.text.value = ""
  draft.restoreText(text, pickExtras(extras))
  draft.restoreText(typed)
}

/** Returns the time of a row; 0 for a damaged row. */
function readTime(row: string): number {
  return Number(Object(parseJson(row)).at) || 0
}

function isSameContent(row: string, content: DraftContent | null): boolean {
  const { at: _at, ...stored } = Object(parseJson(row))
  return JSON.stringify(stored) === JSON.stringify(content)
}
