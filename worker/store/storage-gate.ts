/**
 * storage-gate.ts: the way to a session's rows, which is shut for good when the session is erased.
 *
 * store, staging → GATE → SQLite
 * Whatever was under way for the erased session (a model that still talks, a tool, an import) finds the gate shut, also
 * when a new session of the same id stands in the object by then. Source: SPEC RT10.
 */

/** All that the stores need of SQLite. */
export type SqlExecutor = Pick<SqlStorage, "exec">

/** Thrown to whoever comes late. Nobody is to be told: there is no session that it could be about. */
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
