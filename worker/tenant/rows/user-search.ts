/**
 * user-search.ts: finds a tenant's users by the beginning of their id, of their name, or of a later word of their name.
 *
 * The number of rows read depends on the size of a page, and not on the number of users.
 */

import { base64url } from "jose"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import type { FoundUsers, TenantUser } from "../../settings/tenant-rpc.ts"
import { UserRows } from "./user-rows.ts"
import { listSearchKeys, toSearchKey } from "./user-search-keys.ts"

/**
 * Number of index rows that are read per user of a full page. A user can be found under several keys but is returned
 * only for the first one, so a page may contain fewer users than requested even if more follow.
 */
const ROWS_PER_USER = 2

/** A prefix followed by this character sorts after every string with that prefix. */
const AFTER_KEYS = "\u{10ffff}"

/**
 * The keys of an index that begin with `prefix`. `users`: ids as they are written. `user_keys`: see
 * user-search-keys.ts.
 */
interface KeyRange {
  readonly index: "users" | "user_keys"
  readonly prefix: string
}

/** `user` is found under `key`. */
type IndexRow = { readonly key: string; readonly user: string }

/**
 * The rows of an index from ?1 to ?2 that follow the row (?3, ?4). Each condition is a single range of the index, and
 * both indexes are in the order of the columns, so SQLite merges them without sorting.
 */
const RANGE_SQL = {
  users: "SELECT id AS key, id AS user FROM users WHERE id >= max(?1, ?3) AND id < ?2 AND (id > ?3 OR ?3 > ?4)",
  user_keys: `SELECT key, user FROM user_keys
    WHERE (key, user) > (max(?1, ?3), CASE WHEN ?3 < ?1 THEN '' ELSE ?4 END) AND key < ?2`,
} as const

/**
 * Returns at most `limit` users, ordered by the key under which they are found. `after` is the `next` of the preceding
 * page, or empty. Errors: `field_invalid`.
 */
export function searchUsers(sql: SqlStorage, text: string, after: string, limit: number): Result<FoundUsers> {
  const from = after === "" ? { key: "", user: "" } : parseCursor(after)
  if (from === null) return fail({ reason: "field_invalid", field: "after" })
  const ranges = listRanges(text)
  const rows = readIndexes(sql, ranges, from, ROWS_PER_USER * limit)
  const userRows = new UserRows(sql)
  const users: TenantUser[] = []
  let readCount = 0
  for (const { key, user } of rows) {
    if (users.length === limit) break
    readCount += 1
    const found = userRows.find(user)
    if (found !== null && findFirstKey(found, ranges) === key) users.push(found)
  }
  const last = rows[readCount - 1]
  const hasMore = readCount < rows.length || rows.length === ROWS_PER_USER * limit
  return succeed({ users, next: hasMore && last !== undefined ? formatCursor(last) : null })
}

/** Lists the ranges for a query. Ids are found as they are written and in lower case, names by their words. */
function listRanges(text: string): readonly KeyRange[] {
  const id = text.trim()
  const words = toSearchKey(text)
  if (words === "") return []
  const ids = new Set([id, id.toLowerCase()])
  return [
    ...[...ids].map((prefix) => ({ index: "users", prefix }) as const),
    ...[...new Set([id.toLowerCase(), words])].map((prefix) => ({ index: "user_keys", prefix }) as const),
  ]
}

/**
 * Finds the first key of the user that matches the query. The others are ignored, so that the user appears only once.
 */
function findFirstKey({ id, name }: TenantUser, ranges: readonly KeyRange[]): string | undefined {
  const keys = [
    { index: "users", key: id } as const,
    ...listSearchKeys(id, name).map((key) => ({ index: "user_keys", key }) as const),
  ]
  const isInRange = ({ index, key }: (typeof keys)[number]): boolean =>
    ranges.some((range) => range.index === index && key.startsWith(range.prefix))
  return keys.find(isInRange)?.key
}

function readIndexes(sql: SqlStorage, ranges: readonly KeyRange[], from: IndexRow, maxRows: number): IndexRow[] {
  if (ranges.length === 0) return []
  const selects = ranges.map(({ index }, at) =>
    RANGE_SQL[index].replaceAll(/\?[1-4]/g, (name) => `?${4 * at + Number(name[1])}`),
  )
  const bindings = ranges.flatMap(({ prefix }) => [prefix, prefix + AFTER_KEYS, from.key, from.user])
  // UNION without ALL, because two ranges of an index can overlap.
  const query = `${selects.join(" UNION ")} ORDER BY key, user LIMIT ${maxRows}`
  return sql.exec<IndexRow>(query, ...bindings).toArray()
}

function formatCursor({ key, user }: IndexRow): string {
  return base64url.encode(new TextEncoder().encode(JSON.stringify([key, user])))
}

/** Parses a cursor; null for a string that `formatCursor` didn't return. */
function parseCursor(text: string): IndexRow | null {
  const json = decodeText(text)
  const parsed: unknown = json === null ? null : parseJson(json)
  const [key, user]: readonly unknown[] = Array.isArray(parsed) ? parsed : []
  return typeof key === "string" && typeof user === "string" ? { key, user } : null
}

function decodeText(text: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(base64url.decode(text))
  } catch {
    return null
  }
}
