/**
 * directory.ts: the Durable Object that lists one user's sessions, named `tenant:user`.
 *
 * A list only: whose a session is, the session itself knows. Until a first session is added it stores nothing.
 */

import { DurableObject } from "cloudflare:workers"
import type { SessionSummary } from "../../shared/frame.ts"
import type { Env } from "../env.ts"
import { isBegun, migrateTo } from "../migrate.ts"

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
    if (isBegun(ctx.storage.sql)) migrateTo(ctx.storage, MIGRATIONS)
  }

  add(id: string, title: string, created: number): void {
    migrateTo(this.ctx.storage, MIGRATIONS)
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
