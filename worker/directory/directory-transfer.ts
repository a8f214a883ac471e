/** directory-transfer.ts: what a user's directory does for the export, import and erasure of a tenant. */

import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { DirectoryEntry } from "../platform/rpc/directory-rpc.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import { withTimeout } from "../platform/timeout.ts"

/** A time later than that of any token, in seconds since 1970: while a user is erased, no token is accepted. */
export const ALL_TOKENS = Number.MAX_SAFE_INTEGER

/** A session that does not respond within this time counts as not reached, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000

export function listEntries(sql: SqlStorage, after: string | null, limit: number): DirectoryEntry[] {
  const query = "SELECT id, title, created, active FROM sessions WHERE id > ? ORDER BY id LIMIT ?"
  return sql.exec<DirectoryEntry & Record<string, SqlStorageValue>>(query, after ?? "", limit).toArray()
}

export function isListed(sql: SqlStorage, id: string): boolean {
  return sql.exec("SELECT 1 FROM sessions WHERE id = ?", id).toArray().length > 0
}

export function restoreEntry(sql: SqlStorage, { id, title, created, active }: DirectoryEntry): void {
  const query = "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)"
  sql.exec(query, id, title, created, active)
}

/** Returns the number of sessions that could not be reached. */
export async function closeHolderSockets(env: Env, tenant: string, sessions: readonly string[]): Promise<number> {
  let unreached = 0
  for (const session of sessions) {
    try {
      const closing = Promise.resolve(sessionStub(env, tenant, session).closeSockets())
      await withTimeout(closing, CLOSE_TIMEOUT_MS, () => new Error(`no response within ${CLOSE_TIMEOUT_MS} ms`))
    } catch (error) {
      unreached += 1
      logError("sockets_not_closed", { session, error: describeError(error) })
    }
  }
  return unreached
}
