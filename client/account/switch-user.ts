/**
 * switch-user.ts: puts the unsent messages of a user aside when they sign out or another user signs in, and brings those
 * of the next user back.
 *
 * Rows that are put aside keep their key behind a prefix that names their user. Drafts are always stored per user
 * (session/stored-drafts.ts). Source: SPEC SP5.
 */

import { type KeyValueStorage, readStorageRows, USER_KEY } from "../net/outbox.ts"

/** Keys of messages, edits and unfinished imports, which don't name their user. */
const UNSENT_KEY = /^cuecard\.(?:send|edit|import)\./
const ASIDE_PREFIX = "cuecard.aside."
/** Rows kept for users who are signed out. The oldest stored ones go first. */
const MAX_ASIDE_ROWS = 200

/** Puts the user's rows aside. Afterwards the storage belongs to nobody, and the other tabs load again (watch-user.ts). */
export function putUserAside(storage: KeyValueStorage, user: string | null): void {
  putRowsAside(storage, user)
  removeRow(storage, USER_KEY)
}

function putRowsAside(storage: KeyValueStorage, user: string | null): void {
  const prefix = asidePrefix(user)
  for (const [key, value] of readStorageRows(storage)) {
    if (!UNSENT_KEY.test(key)) continue
    if (user !== null) moveRow(storage, key, prefix + key, value)
    else removeRow(storage, key)
  }
  const aside = readStorageRows(storage).filter(([key]) => key.startsWith(ASIDE_PREFIX))
  for (const [key] of aside.slice(0, Math.max(0, aside.length - MAX_ASIDE_ROWS))) removeRow(storage, key)
}

/**
 * Makes the storage that of another user. If the page shows something of the previous one, it is loaded again, and the
 * promise is never settled. Rows that were stored before the page remembered its user belong to the first one.
 */
export async function switchUser(
  storage: KeyValueStorage,
  previous: string | null,
  user: string | null,
  reload: () => void = () => location.reload(),
): Promise<void> {
  // The other tabs go on: a product may show the pages of two users side by side.
  if (previous !== null) putRowsAside(storage, previous)
  const hasRestored = user !== null && restoreUser(storage, user)
  if (previous === null && !hasRestored) return
  reload()
  await new Promise<never>(() => {})
}

/** Brings the user's rows back. Returns whether there were any. */
function restoreUser(storage: KeyValueStorage, user: string): boolean {
  const prefix = asidePrefix(user)
  const rows = readStorageRows(storage).filter(([key]) => key.startsWith(prefix))
  for (const [key, value] of rows) moveRow(storage, key, key.slice(prefix.length), value)
  try {
    storage.setItem(USER_KEY, user)
  } catch {
    // Storage is forbidden: nothing is stored for anybody.
  }
  return rows.length > 0
}

function asidePrefix(user: string | null): string {
  return `${ASIDE_PREFIX}${encodeURIComponent(user ?? "")}.`
}

/** The old row goes first, so that a full storage has room for the new one. */
function moveRow(storage: KeyValueStorage, from: string, to: string, value: string): void {
  removeRow(storage, from)
  try {
    storage.setItem(to, value)
  } catch {
    // Storage is full or forbidden: the row is lost, but never shown to another user.
  }
}

function removeRow(storage: KeyValueStorage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // Storage is forbidden, so nothing was stored.
  }
}
