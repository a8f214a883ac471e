/**
 * directory.ts: the Durable Object that lists one user's sessions, named `tenant:user`.
 *
 * A list only: whose a session is, the session itself knows. Reads of an unknown user write nothing.
 */

import { DurableObject } from "cloudflare:workers"
import type { SessionSummary } from "../../shared/frame.ts"
import type { Env } from "../env.ts"

export class Directory extends DurableObject<Env> {
  add(id: string, title: string, created: number): void {
    this.#createTable()
    this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)",
      ...[id, title, created, created],
    )
  }

  /** Something was said there. A session that was never added is not listed. */
  touch(id: string, at: number, title: string): void {
    if (!this.#hasTable()) return
    this.ctx.storage.sql.exec("UPDATE sessions SET active = max(active, ?), title = ? WHERE id = ?", at, title, id)
  }

  /** The newest activity first. Cost: the rows of this user, of which `limit` are returned. */
  list(limit: number): SessionSummary[] {
    if (!this.#hasTable()) return []
    return this.ctx.storage.sql
      .exec<{ id: string; title: string; created: number; active: number }>(
        "SELECT id, title, created, active FROM sessions ORDER BY active DESC, created DESC LIMIT ?",
        limit,
      )
      .toArray()
  }

  #hasTable(): boolean {
    const { sql } = this.ctx.storage
    return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sessions'").toArray().length > 0
  }

  #createTable(): void {
    this.ctx.storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS sessions (
         id TEXT PRIMARY KEY, title TEXT NOT NULL, created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID`,
    )
  }
}
