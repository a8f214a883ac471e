/**
 * storage-gate.ts: the way to a session's rows, which is shut for good when the session is erased.
 *
 * store, staging → GATE → SQLite
 * Whatever was under way for the erased session (a model that still talks, a tool, an import) finds the gate shut, also
 * when a new session of the same id stands in the object by then. Source: SPEC RT9.
 */

/** All that the stores need of SQLite. */
export type Sql = Pick<SqlStorage, "exec">

/** Thrown to whoever comes late. Nobody is to be told: there is no session that it could be about. */
export class Erased extends Error {
  constructor() {
    super("the session was erased")
  }
}

export interface Gate {
  readonly sql: Sql
  shut(): void
}

export function createGate(sql: Sql): Gate {
  let isShut = false
  return {
    sql: {
      exec(query, ...bindings) {
        if (isShut) throw new Erased()
        return sql.exec(query, ...bindings)
      },
    },
    shut() {
      isShut = true
    },
  }
}
