/**
 * client-storage.ts: the storage of a client, in which each user has separate rows.
 *
 * The user is known once the first token has arrived. Until then, rows are kept in memory, so that no user reads
 * another user's rows. Source: SPEC SK6.
 */

import type { KeyValueStorage } from "../client/net/outbox.ts"
import { createUserStorage, readStorageRows } from "../client/net/user-storage.ts"

export interface ClientRows extends KeyValueStorage {
  /** Moves the rows from memory to a user's storage, which may contain earlier rows. */
  openRowsOf(user: string): void
}

export function createClientRows(storage: KeyValueStorage | undefined): ClientRows {
  let rows = createMemoryRows()
  return {
    get length() {
      return rows.length
    },
    key: (index) => rows.key(index),
    getItem: (key) => rows.getItem(key),
    setItem: (key, value) => rows.setItem(key, value),
    removeItem: (key) => rows.removeItem(key),
    openRowsOf(user) {
      if (storage === undefined) return
      const written = readStorageRows(rows)
      rows = createUserStorage(storage, user)
      try {
        for (const [key, value] of written) rows.setItem(key, value)
      } catch {
        // If storage is full or forbidden, the messages are still sent, but unsent messages are lost on a restart.
      }
    },
  }
}

function createMemoryRows(): KeyValueStorage {
  const rows = new Map<string, string>()
  return {
    get length() {
      return rows.size
    },
    key: (index) => [...rows.keys()][index] ?? null,
    getItem: (key) => rows.get(key) ?? null,
    setItem: (key, value) => void rows.set(key, value),
    removeItem: (key) => void rows.delete(key),
  }
}
