/**
 * audit-rows.ts: the SQL rows of a tenant's audit log. Rows are only added.
 */

import type { Actor } from "../platform/rpc/actor.ts"

export const AUDIT_TABLE = `
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,             -- milliseconds since 1970
    actor TEXT NOT NULL,             -- JSON of an Actor
    action TEXT NOT NULL, target TEXT, details TEXT)`

/** What happened: never the text of a message. */
export interface AuditEvent {
  /** A noun and a past participle: `key.created`, `user.suspended`. */
  readonly action: string
  /** The id of what was changed. */
  readonly target?: string
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

export class AuditRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Adds a row. The caller makes the change that it records in the same transaction. */
  append(actor: Actor, { action, target, details }: AuditEvent, now: number): void {
    this.#sql.exec(
      "INSERT INTO audit (at, actor, action, target, details) VALUES (?, ?, ?, ?, ?)",
      now,
      JSON.stringify(actor),
      action,
      target ?? null,
      details === undefined ? null : JSON.stringify(details),
    )
  }
}
