/**
 * fresh-cache.ts: caches fetched values for a short time, shared by all requests of one isolate.
 */

import { BoundedMap } from "./bounded-map.ts"

interface CachedValue<T> {
  readonly value: T
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
}

export class FreshCache<T> {
  readonly #entries: BoundedMap<string, CachedValue<T>>
  readonly #maxAgeMs: number

  constructor(maxAgeMs: number, maxEntries: number) {
    this.#maxAgeMs = maxAgeMs
    this.#entries = new BoundedMap(maxEntries)
  }

  /**
   * Returns the cached value, or fetches and caches it. A failed fetch is not cached.
   *
   * Concurrent fetches are not merged: the platform ties I/O to the request that started it.
   */
  async getOrFetch(key: string, now: number, fetchValue: () => Promise<T>): Promise<T> {
    const cached = this.#entries.get(key)
    // If the clock was set back, an entry from the future counts as stale.
    if (cached !== undefined && cached.fetchedAt <= now && now - cached.fetchedAt < this.#maxAgeMs) return cached.value
    const value = await fetchValue()
    this.#entries.set(key, { value, fetchedAt: now })
    return value
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
