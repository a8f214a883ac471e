/**
 * database.ts: queries on a session's SQLite database, with the platform's row counts.
 *
 * All calls are synchronous. A transaction is therefore never interrupted, and the platform's output gate sends nothing
 * before the transaction's writes are durable (SPEC ST3).
 */

import type { SqlExecutor } from "./storage-gate.ts"

export type Row = Record<string, SqlStorageValue>

export interface RowCounts {
  readonly read: number
  readonly written: number
}

export interface Database {
  queryAll(query: string, ...bindings: SqlStorageValue[]): Row[]
  /** Returns the first row of the result; null if there is none. */
  queryFirst(query: string, ...bindings: SqlStorageValue[]): Row | null
  /** Whether a table exists, for tables that are created with their first row. Cost: reads the names of all tables. */
  hasTable(name: string): boolean
  /** Reads one row at a time, for results that may not fit in memory. */
  streamRows(query: string, ...bindings: SqlStorageValue[]): Generator<Row>
  /** Returns the number of rows read and written so far, as the platform counts and bills them. */
  countRows(): RowCounts
  /** Applies all writes of a callback or none. */
  runInTransaction<T>(write: () => T): T
}

export function createDatabase(sql: SqlExecutor, runInTransaction: Database["runInTransaction"]): Database {
  const counts = { read: 0, written: 0 }

  function queryAll(query: string, ...bindings: SqlStorageValue[]): Row[] {
    const cursor = sql.exec<Row>(query, ...bindings)
    const rows = cursor.toArray()
    counts.read += cursor.rowsRead
    counts.written += cursor.rowsWritten
    return rows
  }

  const queryFirst: Database["queryFirst"] = (query, ...bindings) => queryAll(query, ...bindings)[0] ?? null

  function* streamRows(query: string, ...bindings: SqlStorageValue[]): Generator<Row> {
    const cursor = sql.exec<Row>(query, ...bindings)
    try {
      yield* cursor
    } finally {
      counts.read += cursor.rowsRead
    }
  }

  return {
    queryAll,
    queryFirst,
    hasTable: (name) => queryFirst("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name) !== null,
    streamRows,
    countRows: () => ({ ...counts }),
    runInTransaction,
  }
}
