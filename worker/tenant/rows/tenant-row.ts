/**
 * tenant-row.ts: the SQL row of the tenant itself. A tenant that exists only because a token names it has no row.
 */

export const TENANT_TABLE = `
  CREATE TABLE tenant (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    name TEXT,
    created INTEGER NOT NULL,        -- milliseconds since 1970
    status TEXT NOT NULL DEFAULT 'open')`

export class TenantRow {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Adds the row. Returns false if it already exists. */
  create(name: string | null, now: number): boolean {
    const sql = "INSERT OR IGNORE INTO tenant (one, name, created) VALUES (1, ?, ?) RETURNING one"
    return this.#sql.exec(sql, name, now).toArray().length > 0
  }
}
