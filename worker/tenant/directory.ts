/**
 * directory.ts: the Durable Object that lists one user's sessions, named `tenant:user`.
 *
 * A list only: whose a session is, the session itself knows. Until a first session is added it stores nothing.
 */

import { DurableObject } from "cloudflare:workers"
import type { SessionSummary } from "../../shared/frame.ts"
import type { Env } from "../env.ts"

/** Numbered by their place; each runs once. The index makes a list read the rows that it returns, and no others. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sessions (
     id TEXT PRIMARY KEY, title TEXT NOT NULL,
     created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX sessions_active ON sessions (active, created)`,
]

/** The newest activity first. */
export const LIST_SQL = "SELECT id, title, created, active FROM sessions ORDER BY active DESC, created DESC LIMIT ?"

export class Directory extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (isBegun(ctx.storage.sql)) migrate(ctx.storage)
  }

  add(id: string, title: string, created: number): void {
    migrate(this.ctx.storage)
    this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)",
      ...[id, title, created, created],
    )
  }

  /** Something was said there, and perhaps it has a title now. A session that was never added is not listed. */
  touch(id: string, at: number, title?: string): void {
    if (!isBegun(this.ctx.storage.sql)) return
    this.ctx.storage.sql.exec(
      "UPDATE sessions SET active = max(active, ?), title = coalesce(?, title) WHERE id = ?",
      ...[at, title ?? null, id],
    )
  }

  /** The newest activity first. */
  list(limit: number): SessionSummary[] {
    if (!isBegun(this.ctx.storage.sql)) return []
    return this.ctx.storage.sql
      .exec<{ id: string; title: string; created: number; active: number }>(LIST_SQL, limit)
      .toArray()
  }
}

/** Whether anything was ever stored here. Reads only: an unknown user's object stays empty. */
function isBegun(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").toArray().length > 0
}

function migrate(storage: DurableObjectStorage): void {
  const { sql } = storage
  const done = isBegun(sql) ? Number(sql.exec("SELECT version FROM schema_version").one()["version"]) : 0
  if (done >= MIGRATIONS.length) return
  storage.transactionSync(() => {
    sql.exec(
      "CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)",
    )
    for (const migration of MIGRATIONS.slice(done)) sql.exec(migration)
    sql.exec("INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?)", MIGRATIONS.length)
  })
}
