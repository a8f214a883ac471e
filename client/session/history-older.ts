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
const MAX_FETCHED_PAGES = 60

export interface OlderDeps {
  readonly session: string
  readonly api: Pick<Api, "page">
  readonly store: TranscriptStore
  /** Nobody shows it any more. */
  isClosed(): boolean
}

export class Older {
  readonly loading = signal(false)
  readonly #deps: OlderDeps
  #coming: Promise<void> | null = null

  constructor(deps: OlderDeps) {
    this.#deps = deps
  }

  /** One older page, if there is one. A failure is tried again when the reader scrolls. */
  load(): Promise<void> {
    this.#coming ??= this.#read().finally(() => {
      this.#coming = null
    })
    return this.#coming
  }

  /** False where it is not there, cannot be had, or lies too far back. */
  async fetch(id: string): Promise<boolean> {
    const { store } = this.#deps
    for (let pages = 0; pages < MAX_FETCHED_PAGES && !store.has(id); pages++) {
      const { cursor } = store
      await this.load()
      if (cursor === store.cursor) break
    }
    return store.has(id)
  }

  async #read(): Promise<void> {
    const { api, session, store, isClosed } = this.#deps
    const { cursor } = store
    if (!store.hasOlder.peek() || cursor === undefined) return
    this.loading.value = true
    try {
      const page = await api.page(session, PAGE_MESSAGES, cursor)
      if (!isClosed() && store.cursor === cursor) store.prepend(page)
    } catch {
      // Nothing is lost: the sentinel is still in view or comes into view again.
    } finally {
      this.loading.value = false
    }
  }
}
