/**
 * history-older.ts: loads older history: the next page when the user scrolls up, or all pages up to a message.
 *
 * scrolling, a quote → OLDER → api → store
 * Concurrent calls share one request. Source: SPEC PG16, PG43.
 */

import { signal } from "@preact/signals"
import type { Api } from "../net/api.ts"
import { PAGE_MESSAGES } from "./history-newest.ts"
import type { TranscriptStore } from "./transcript-store.ts"

/** Maximum number of pages loaded to find a message. */
const MAX_SEARCHED_PAGES = 60

export interface OlderHistoryDeps {
  readonly session: string
  readonly api: Pick<Api, "getHistoryPage">
  readonly store: TranscriptStore
  /** Whether the session was closed. */
  isClosed(): boolean
}

export class OlderHistory {
  readonly isLoading = signal(false)
  readonly #deps: OlderHistoryDeps
  #pendingLoad: Promise<void> | null = null

  constructor(deps: OlderHistoryDeps) {
    this.#deps = deps
  }

  /** Loads the next older page, if there is one. After a failure, the next scroll tries again. */
  loadNextPage(): Promise<void> {
    this.#pendingLoad ??= this.#readPage().finally(() => {
      this.#pendingLoad = null
    })
    return this.#pendingLoad
  }

  /** Loads pages until one contains the message. Returns false if it doesn't exist, can't be loaded or is too far back. */
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
      // Scrolling tries again.
    } finally {
      this.isLoading.value = false
    }
  }
}
