/** bounded-map.ts: a map for caches that removes its oldest entry when it is full. */

export class BoundedMap<K, V> extends Map<K, V> {
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    super()
    this.#maxEntries = maxEntries
  }

  /** Adds an entry as the newest one. Setting a key again makes it the newest. */
  override set(key: K, value: V): this {
    // `Map`'s constructor does not call this for an empty map, so the private field is always initialised here.
    this.delete(key)
    if (this.size >= this.#maxEntries) {
      const oldest = this.keys().next()
      if (oldest.done !== true) this.delete(oldest.value)
    }
    return super.set(key, value)
  }
}
