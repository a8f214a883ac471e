/** browser-storage.ts: the browser's storage, or an empty one. */

import type { KeyValueStorage } from "../net/outbox.ts"

/** Returns an empty storage if the browser blocks storage, so that the page works without it. */
export function openStorage(): KeyValueStorage {
  try {
    return localStorage
  } catch {
    const getNothing = (): null => null
    return { length: 0, key: getNothing, getItem: getNothing, setItem: getNothing, removeItem: getNothing }
  }
}
