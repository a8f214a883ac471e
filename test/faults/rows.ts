/**
 * rows.ts: reads the SQLite files of a stopped server with the store's own reader.
 */

import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Message } from "../../shared/protocol/message.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"

export interface StoredSession {
  readonly id: string
  readonly epoch: string
  /** Every message of every version, including queued ones. */
  readonly all: readonly Message[]
  /** Seq of each message's last change, by id. */
  readonly seqs: ReadonlyMap<string, number>
  /** Seq at which each message was withdrawn from the queue, by id. */
  readonly withdrawn: ReadonlyMap<string, number>
  /** Position and parent of each message that has begun, by id. */
  readonly places: ReadonlyMap<string, { readonly pos: number; readonly parent: number | null }>
  /** The active path, oldest first, followed by the queued messages. */
  readonly path: readonly Message[]
  readonly lastSeq: number
}

/**
 * Returns every session in a state folder, by id. Calls `onBroken` for sessions that cannot be read. The server must be
 * stopped.
 */
export function readSessions(persist: string, onBroken: (error: unknown) => void): Map<string, StoredSession> {
  const sessions = new Map<string, StoredSession>()
  const folder = join(persist, "do", "cuecard-Session")
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(".sqlite") || file.startsWith("metadata")) continue
    try {
      const session = readSession(join(folder, file))
      if (session !== null) sessions.set(session.id, session)
    } catch (error) {
      onBroken(error)
    }
  }
  return sessions
}

function readSession(file: string): StoredSession | null {
  const database = new DatabaseSync(file)
  try {
    const created = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'session'").all()
    if (created.length === 0) return null
    const store = createSessionStore(sqlOf(database))
    const session = store.readSession()
    if (session === null) return null
    const queued = store.readQueue().map(({ message }) => message)
    const all: Message[] = []
    const seqs = new Map<string, number>()
    const places = new Map<string, { pos: number; parent: number | null }>()
    for (let pos = 1; pos <= store.readNewestPos(); pos++) {
      const stored = store.findMessageAt(pos)
      if (stored === null) continue
      all.push(stored.message)
      seqs.set(stored.message.id, stored.seq)
      places.set(stored.message.id, { pos, parent: stored.parent })
    }
    const path: Message[] = []
    for (let pos = store.readTip(); pos !== null; ) {
      const stored = store.findMessageAt(pos)
      if (stored === null) break
      path.unshift(stored.message)
      pos = stored.parent
    }
    const { id, epoch } = session
    const withdrawn = new Map(store.readWithdrawnSince(0).map(({ message, seq }) => [message.id, seq]))
    const lastSeq = store.readLastSeq()
    return { id, epoch, seqs, places, withdrawn, lastSeq, all: [...all, ...queued], path: [...path, ...queued] }
  } finally {
    database.close()
  }
}

export function sqlOf(database: DatabaseSync): SqlStorage {
  return {
    exec<Row extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]) {
      // The store writes only text, numbers and null.
      const values = bindings.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value))
      const rows = database.prepare(query).all(...values) as Row[]
      const one = (): Row => {
        const [row] = rows
        if (row === undefined) throw new Error(`no row: ${query}`)
        return row
      }
      return { toArray: () => rows, [Symbol.iterator]: () => rows.values(), one, rowsRead: rows.length, rowsWritten: 0 }
    },
  }
}
