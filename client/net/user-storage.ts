/**
 * user-storage.ts: the browser's storage as one user of the page sees it.
 *
 * Unsent messages, edits and unfinished imports are stored under a prefix that names their user, so that the pages of two
 * users in one browser never read each other's. Drafts have the user in their key already. Source: SPEC SP5.
 */

import type { KeyValueStorage } from "./outbox.ts"

/** The storage key of the user whose rows the page shows. Removed when the user signs out. */
export const USER_KEY = "cuecard.user"

/** Keys of messages, edits and unfinished imports, which don't name their user. */
export const UNSENT_KEY = /^cuecard\.(?:send|edit|import)\./
export const ASIDE_PREFIX = "cuecard.aside."

export interface UserStorage extends KeyValueStorage {
  /** The user of the page. While it is null, rows name no user. Version 0.1.0 stored everything like this. */
  user: string | null
}

/** An encoded user contains no slash, so no prefix begins with another prefix. */
export function userPrefix(user: string | null): string {
  return user === null ? "" : ASIDE_PREFIX + encodeURIComponent(user) + "/"
}

/** By default, the user of the page. */
export function createUserStorage(storage: KeyValueStorage, user = storage.getItem(USER_KEY)): UserStorage {
  const toStored = (key: string): string => (UNSENT_KEY.test(key) ? userPrefix(page.user) + key : key)
  const page: UserStorage = {
    user,
    get length() {
      return storage.length
    },
    /** Null for rows of other users. */
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

/** All stored rows; none if storage is forbidden. */
export function readStorageRows(storage: KeyValueStorage): readonly (readonly [key: string, value: string])[] {
  try {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    return keys.map((key) => [key, storage.getItem(key) ?? ""])
  } catch {
    return []
  }
}
