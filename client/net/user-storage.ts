/**
 * user-storage.ts: the browser's storage as seen by a page in which one user is signed in.
 *
 * Unsent messages, edits and unfinished imports are stored under a prefix that contains the user, so that two users'
 * pages in one browser never read each other's data. The keys of drafts already contain the user. Source: SPEC SP5.
 */

import type { KeyValueStorage } from "./outbox.ts"

/** The storage key of the user whose rows the page shows. Removed when the user signs out. */
export const USER_KEY = "cuecard.user"

/** Matches the keys of messages, edits and unfinished imports, which don't contain the user. */
export const UNSENT_KEY = /^cuecard\.(?:send|edit|import)\./
export const ASIDE_PREFIX = "cuecard.aside."

export interface UserStorage extends KeyValueStorage {
  /** The page's user. While this is null, keys don't contain a user; version 0.1.0 stored everything in this way. */
  user: string | null
}

/** Returns the prefix of a user's keys. An encoded user contains no slash, so no prefix begins with another prefix. */
export function userPrefix(user: string | null): string {
  return user === null ? "" : ASIDE_PREFIX + encodeURIComponent(user) + "/"
}

/** Creates the storage of a user, by default of the page's user. */
export function createUserStorage(storage: KeyValueStorage, user = storage.getItem(USER_KEY)): UserStorage {
  const toStored = (key: string): string => (UNSENT_KEY.test(key) ? userPrefix(page.user) + key : key)
  const page: UserStorage = {
    user,
    get length() {
      return storage.length
    },
    /** Returns null for other users' rows. */
    key(index) {
      const key = storage.key(index) ?? ""
      return toStored(key) === key ? key.replace(userPrefix(page.user), "") : null
    },
    getItem: (key) => storage.getItem(toStored(key)),
    setItem: (key, value) => storage.setItem(toStored(key), value),
    removeItem: (key) => storage.removeItem(toStored(key)),
  }
  return page
}

/** Returns all stored rows; none if storage is blocked. */
export function readStorageRows(storage: KeyValueStorage): readonly (readonly [key: string, value: string])[] {
  try {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    return keys.map((key) => [key, storage.getItem(key) ?? ""])
  } catch {
    return []
  }
}

export function writeUser(storage: KeyValueStorage, user: string): void {
  try {
    storage.setItem(USER_KEY, user)
  } catch {
    // Storage is blocked, so nothing is stored for anybody.
  }
}
