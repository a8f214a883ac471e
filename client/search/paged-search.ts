/**
 * paged-search.ts: a search whose query may change while pages of results are being loaded. Does not use the DOM.
 *
 * A page that arrives after the query has changed is dropped, so an older result never replaces a newer one. Requests
 * wait until the user has stopped typing for a moment. Source: SPEC LB2, LB3.
 */

import { type ReadonlySignal, signal } from "@preact/signals"

/** A query is sent once it has not changed for this time, in milliseconds. */
export const QUERY_DELAY_MS = 150
/** Maximum number of empty pages that are requested in a row. Each page may stand for 1,000 messages without a hit. */
const MAX_EMPTY_PAGES = 20
/** Maximum length of a query, in UTF-16 code units. The server refuses longer queries. */
export const MAX_QUERY_CHARS = 200

export interface HitPage<T> {
  readonly hits: readonly T[]
  readonly next: string | null
  /** True while older conversations are still being indexed. */
  readonly pending?: boolean
}

export interface SearchState<T> {
  /** The query; empty if there is no search. */
  readonly query: string
  readonly hits: readonly T[]
  readonly next: string | null
  readonly isLoading: boolean
  readonly isPending: boolean
  /** The error of the last request; null if it succeeded. */
  readonly error: unknown
}

type LoadPage<T> = (query: string, next: string | null) => Promise<HitPage<T>>

const NO_SEARCH = { query: "", hits: [], next: null, isLoading: false, isPending: false, error: null } as const

export class PagedSearch<T> {
  readonly #loadPage: LoadPage<T>
  readonly #state = signal<SearchState<T>>(NO_SEARCH)
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Counts the changes of the query. */
  #run = 0

  constructor(loadPage: LoadPage<T>) {
    this.#loadPage = loadPage
  }

  get state(): ReadonlySignal<SearchState<T>> {
    return this.#state
  }

  /** Searches for another query. The old hits remain until the new ones arrive. */
  setQuery(text: string): void {
    const query = text.trim().slice(0, MAX_QUERY_CHARS)
    if (query === this.#state.peek().query) return
    this.#run++
    clearTimeout(this.#timer)
    if (query === "") {
      this.#state.value = NO_SEARCH
      return
    }
    this.#state.value = { ...this.#state.peek(), query, next: null, isLoading: true, error: null }
    this.#timer = setTimeout(() => void this.#load([], null), QUERY_DELAY_MS)
  }

  /** Loads the next page, or repeats a request that failed. */
  async loadMore(): Promise<void> {
    const { query, hits, next, isLoading, error } = this.#state.peek()
    if (query === "" || isLoading || (next === null && error === null)) return
    await this.#load(next === null ? [] : hits, next)
  }

  /** Ends the search. Pages that are still being loaded are dropped. */
  close(): void {
    this.#run++
    clearTimeout(this.#timer)
  }

  async #load(hits: readonly T[], from: string | null): Promise<void> {
    const run = this.#run
    this.#state.value = { ...this.#state.peek(), isLoading: true, error: null }
    try {
      const page = await this.#loadHits(run, from)
      if (page === null) return
      const { next, pending: isPending = false } = page
      this.#state.value = {
        ...this.#state.peek(),
        hits: [...hits, ...page.hits],
        next,
        isLoading: false,
        isPending,
      }
    } catch (error) {
      if (run === this.#run) this.#state.value = { ...this.#state.peek(), hits, next: from, isLoading: false, error }
    }
  }

  /** Returns the first page that has hits, or else the last page requested; null if the query has changed. */
  async #loadHits(run: number, from: string | null): Promise<HitPage<T> | null> {
    let next = from
    for (let count = 1; ; count++) {
      const page = await this.#loadPage(this.#state.peek().query, next)
      if (run !== this.#run) return null
      if (page.hits.length > 0 || page.next === null || count === MAX_EMPTY_PAGES) return page
      next = page.next
    }
  }
}
