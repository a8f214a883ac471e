/**
 * history-older.ts: the pages before the one at hand: the next one as the reader nears the top, or as many as lead to a message.
 *
 * scrolling, a quote → OLDER → api → store
 * One is on its way at a time, whoever asks. Source: SPEC PG16, PG43.
 */

import { signal } from "@preact/signals"
import type { Api } from "../net/api.ts"
import { PAGE_MESSAGES } from "./history-newest.ts"
import type { TranscriptStore } from "./transcript-store.ts"

/** A message that is looked for and lies further back than so many pages is not loaded. */
const MAX_SEARCHED_PAGES = 60

export interface OlderHistoryDeps {
  readonly session: string
  readonly api: Pick<Api, "getHistoryPage">
  readonly store: TranscriptStore
  /** Nobody shows it any more. */
  isClosed(): boolean
}

export class OlderHistory {
  readonly isLoading = signal(false)
  readonly #deps: OlderHistoryDeps
  #pendingLoad: Promise<void> | null = null

  constructor(deps: OlderHistoryDeps) {
    this.#deps = deps
  }

  /** One older page, if there is one. A failure is tried again when the reader scrolls. */
  loadNextPage(): Promise<void> {
    this.#pendingLoad ??= this.#readPage().finally(() => {
      this.#pendingLoad = null
    })
    return this.#pendingLoad
  }

  /** False where it is not there, cannot be had, or lies too far back. */
  async loadUntilMessage(id: string): Promise<boolean> {
    const { store } = this.#deps
    for (let pages = 0; pages < MAX_SEARCHED_PAGES && !store.has(id); pages++) {
      const { cursor } = store
      await this.loadNextPage()
      if (cursor === store.cursor) break
    }
    return store.has(id)
  }

  async #readPage(): Promise<void> {
    const { api, session, store, isClosed } = this.#deps
    const { cursor } = store
    if (!store.hasOlder.peek() || cursor === undefined) return
    this.isLoading.value = true
    try {
      const page = await api.getHistoryPage(session, PAGE_MESSAGES, cursor)
      if (!isClosed() && store.cursor === cursor) store.prependPage(page)
    } catch {
      // Nothing is lost: the sentinel is still in view or comes into view again.
    } finally {
      this.isLoading.value = false
    }
  }
}
