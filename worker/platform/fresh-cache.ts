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
   *
   * @param maxAgeMs a shorter maximum age than the cache's, for a caller that needs the value to stay fresh for a while
   */
  async getOrFetch(
    key: string,
    now: number,
    fetchValue: () => Promise<T>,
    maxAgeMs: number = this.#maxAgeMs,
  ): Promise<T> {
    const cached = this.get(key, now, maxAgeMs)
    if (cached !== undefined) return cached
    const value = await fetchValue()
    this.set(key, value, now)
    return value
  }

  /** Returns the cached value; undefined if there is no fresh one. */
  get(key: string, now: number, maxAgeMs: number = this.#maxAgeMs): T | undefined {
    const cached = this.#entries.get(key)
    // If the clock was set back, an entry from the future is treated as stale.
    const isFresh = cached !== undefined && cached.fetchedAt <= now && now - cached.fetchedAt < maxAgeMs
    return isFresh ? cached.value : undefined
  }

  set(key: string, value: T, now: number): void {
    this.#entries.set(key, { value, fetchedAt: now })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
