/**
 * user-search-keys.ts: a user's search keys. They are the id, the name, and the part of the name that begins at each
 * later word. Pure.
 */

/** The search keys. The primary key finds a user's keys; the index finds users by the beginning of a key. */
export const USER_KEY_TABLE = `
  CREATE TABLE user_keys (user TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (user, key)) WITHOUT ROWID;
  CREATE INDEX user_keys_key ON user_keys (key, user)`

/**
 * For users from before USER_KEY_TABLE existed: the last one whose keys have been written. No row: all users have keys.
 */
export const USER_KEY_FILL = `
  CREATE TABLE user_key_fill (one INTEGER PRIMARY KEY CHECK (one = 1), after TEXT NOT NULL);
  INSERT INTO user_key_fill SELECT 1, '' FROM users LIMIT 1`

/** Maximum length of a key, in characters. Names have at most 120. */
const MAX_KEY_CHARS = 64

/** Maximum number of keys from a name. One begins at each of its first words. */
const MAX_KEYS_OF_NAME = 8

/** Marks that are written above or below letters in Latin, Greek, Cyrillic, Hebrew and Arabic text. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g

/** Turns a name, or the beginning of one, into words in lower case without diacritics, with a space between them. */
export function toSearchKey(text: string): string {
  // Upper-casing turns ß into SS but leaves the capital ẞ as it is, so the text is lower-cased first.
  const letters = text.toLowerCase().toUpperCase().toLowerCase().normalize("NFKD").replaceAll(MARKS, "")
  const words = letters.replaceAll(/[øłđı]/g, (letter) => "oldi"["øłđı".indexOf(letter)] ?? "")
  const key = words.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " ").trim()
  return key.slice(0, MAX_KEY_CHARS)
}

/** Returns the keys of a user, except the id itself, because the table of users is already ordered by id. */
export function listSearchKeys(id: string, name: string | null): string[] {
  const words = toSearchKey(name ?? "").split(" ", MAX_KEYS_OF_NAME)
  const keys = [id.toLowerCase(), ...words.map((_word, at) => words.slice(at).join(" "))]
  return [...new Set(keys)].filter((key) => key !== "" && key !== id)
}
