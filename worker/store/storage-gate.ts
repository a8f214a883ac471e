/**
 * storage-gate.ts: access to a session's database that is closed for good when the session is erased.
 *
 * Work that is still running for the erased session (a model, a tool, an import) cannot write any more, even if the object
 * contains a new session of the same id by then (SPEC RT10).
 */

/** The part of `SqlStorage` that the stores use. */
export type SqlExecutor = Pick<SqlStorage, "exec">

/** Thrown by queries after the gate was closed. There is nothing to report, because the session no longer exists. */
export class SessionErasedError extends Error {
  constructor() {
    super("the session was erased")
  }
}

export interface StorageGate {
  readonly sql: SqlExecutor
  close(): void
}

export function createStorageGate(sql: SqlExecutor): StorageGate {
  let isClosed = false
  return {
    sql: {
      exec(query, ...bindings) {
        if (isClosed) throw new SessionErasedError()
        return sql.exec(query, ...bindings)
      },
    },
    close() {
      isClosed = true
    },
  }
}
