/**
 * storage-gate.ts: gives access to a session's database until the session is erased.
 *
 * Work that is still running for the erased session (a model, a tool, an import) can no longer write, even if the
 * object already contains a new session with the same id (SPEC RT10).
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
