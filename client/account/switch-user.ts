/**
 * switch-user.ts: sets unsent messages aside when a user signs out, and restores them when the user signs in again.
 *
 * A known user's rows are always stored under that user's prefix (net/user-storage.ts). Rows stored before the page
 * knew its user get the prefix of the first user to sign in. Source: SPEC SP5, SP9.
 */

import { parseJson } from "../../shared/json.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import { readStorageRows, USER_KEY, ASIDE_PREFIX, UNSENT_KEY, userPrefix, writeUser } from "../net/user-storage.ts"

/** Maximum number of rows kept for users other than the current one. Beyond it, the oldest rows are deleted. */
const MAX_ASIDE_ROWS = 200

/**
 * Sets this user's rows aside. Afterwards, the storage isn't assigned to any user, and the other tabs reload
 * (watch-user.ts).
 */
export function setUserAside(storage: KeyValueStorage, user: string | null): void {
  claimRows(storage, user)
  limitRows(storage, null)
  removeRow(storage, USER_KEY)
}

/** Assigns rows without a user to this user, or deletes them if `user` is null. */
function claimRows(storage: KeyValueStorage, user: string | null): void {
  for (const [key, value] of readStorageRows(storage)) {
    if (!UNSENT_KEY.test(key)) continue
    if (user !== null) moveRow(storage, key, userPrefix(user) + key, value)
    else removeRow(storage, key)
  }
}

function limitRows(storage: KeyValueStorage, user: string | null): void {
  const own = user === null ? null : userPrefix(user)
  const aside = readStorageRows(storage).filter(
    ([key]) => key.startsWith(ASIDE_PREFIX) && (own === null || !key.startsWith(own)),
  )
  if (aside.length <= MAX_ASIDE_ROWS) return
  // Browsers list keys in no particular order.
  const oldestFirst = aside.map(([key, value]) => ({ key, at: readRowTime(value) })).sort((a, b) => a.at - b.at)
  for (const { key } of oldestFirst.slice(0, -MAX_ASIDE_ROWS)) removeRow(storage, key)
}

/**
 * Returns when the message or edit was stored, in milliseconds since 1970. Returns 0 for rows without a timestamp:
 * unfinished imports, which contain no text, and edits stored by version 0.1.0.
 */
function readRowTime(value: string): number {
  const { at } = Object(parseJson(value)) as { readonly at?: unknown }
  return typeof at === "number" ? at : 0
}

/**
 * Assigns the storage to another user. If the page shows the previous user's data, or the new user has rows that the
 * page doesn't show, the page reloads and the promise never settles.
 */
export async function switchUser(
  storage: KeyValueStorage,
  previous: string | null,
  user: string | null,
  reload: () => void = () => location.reload(),
): Promise<void> {
  const hasRows = user !== null && readStorageRows(storage).some(([key]) => key.startsWith(userPrefix(user)))
  if (previous === null) claimRows(storage, user)
  limitRows(storage, user)
  // Tabs that share the sign-in reload when this value changes. Tabs of an embedding product don't, because the product
  // may show the pages of two users at the same time.
  if (user !== null) writeUser(storage, user)
  if (previous === null && !hasRows) return
  reload()
  await new Promise<never>(() => {})
}

/**
 * Moves a row to another key. Deletes the old row first, so that there is room for the new one even if the storage is
 * full.
 */
function moveRow(storage: KeyValueStorage, from: string, to: string, value: string): void {
  removeRow(storage, from)
  try {
    storage.setItem(to, value)
  } catch {
    // Storage is full or blocked: the row is lost, but never shown to another user.
  }
}

function removeRow(storage: KeyValueStorage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // Storage is blocked, so nothing was stored.
  }
}
