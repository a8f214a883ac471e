/**
 * share-rows.ts: the `share` table of a session: its shared copies.
 *
 * A row is inserted before its copy is written and deleted after the copy is deleted, so that no copy exists without a
 * row. While the copy is being written, `messages` is 0.
 */

import type { SessionShare } from "../../shared/protocol/http-body.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"

type Row = { id: string; upto: string; title: string; named: number; created: number; expires: number | null }

export class ShareRows {
  readonly #sql: SqlExecutor

  constructor(sql: SqlExecutor) {
    this.#sql = sql
  }

  /** Returns all complete copies, newest first. */
  list(now: number): SessionShare[] {
    const query = `SELECT id, upto, title, named, created, expires FROM share
      WHERE messages > 0 AND (expires IS NULL OR expires > ?) ORDER BY created DESC, id DESC`
    return this.#sql.exec<Row>(query, now).toArray().map(rowToShare)
  }

  /** Returns the ids of all copies, including those that are being written. */
  listIds(): string[] {
    return this.#listIds("SELECT id FROM share")
  }

  /** Returns the ids of the copies that have expired, or were never completed. */
  listExpired(now: number): string[] {
    return this.#listIds("SELECT id FROM share WHERE expires <= ?", now)
  }

  hasUnfinished(): boolean {
    return this.#listIds("SELECT id FROM share WHERE messages = 0 LIMIT 1").length > 0
  }

  has(id: string): boolean {
    return this.#listIds("SELECT id FROM share WHERE id = ?", id).length > 0
  }

  count(): number {
    return Number(this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM share").one().n)
  }

  /** Returns when the next copy expires, in milliseconds since 1970; null if none expires. */
  nextExpiry(): number | null {
    return this.#sql.exec<{ at: number | null }>("SELECT min(expires) AS at FROM share").one().at
  }

  /** Adds a copy that is about to be written. It is deleted at `giveUpAt` unless it is completed before then. */
  begin({ id, upto, title, named, created }: SessionShare, giveUpAt: number): void {
    const insert = "INSERT INTO share (id, upto, title, named, created, expires, messages) VALUES (?, ?, ?, ?, ?, ?, 0)"
    this.#sql.exec(insert, id, upto, title, named === true ? 1 : 0, created, giveUpAt)
  }

  complete(id: string, messages: number, expires: number | null): void {
    this.#sql.exec("UPDATE share SET messages = ?, expires = ? WHERE id = ?", messages, expires, id)
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM share WHERE id = ?", id)
  }

  #listIds(query: string, ...bindings: (string | number)[]): string[] {
    return this.#sql
      .exec<{ id: string }>(query, ...bindings)
      .toArray()
      .map(({ id }) => id)
  }
}

function rowToShare({ id, upto, title, named, created, expires }: Row): SessionShare {
  return { id, upto, title, created, expires, ...(named === 1 ? { named: true } : {}) }
}
