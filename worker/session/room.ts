/**
 * room.ts: what an object has once its session exists: its row, its store, its turns, and the one seq.
 */

import { nanoid } from "nanoid"
import { TURN_MS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { systemPrompt } from "../model/prompt.ts"
import { modelFor } from "../model/registry.ts"
import type { Claims } from "../tenant/keys.ts"
import { toolsFor } from "../tool/registry.ts"
import type { Sockets } from "./sockets.ts"
import { createStore, type SessionRow, type Store } from "./store.ts"
import { createTurns, type Turns } from "./turn.ts"

export interface Room {
  readonly session: SessionRow
  readonly store: Store
  readonly turns: Turns
  /** The newest seq that was given. */
  readonly lastSeq: () => number
}

/** Rebuilt from storage on every waking; null where no session was created. Reads a fixed number of rows. */
export function openRoom(storage: DurableObjectStorage, env: Env, sockets: Sockets, armAlarm: () => void): Room | null {
  const store = createStore(storage.sql, (write) => storage.transactionSync(write))
  const session = store.session()
  if (session === null) return null
  let seq = store.lastSeq()
  const turns = createTurns({
    ...{ store, sockets, model: modelFor(env), tools: toolsFor(env), system: systemPrompt() },
    ...{ now: Date.now, turnMs: TURN_MS, nextId: nanoid, log, armAlarm },
    nextSeq: () => {
      seq += 1
      return seq
    },
    resetSeq: () => {
      seq = store.lastSeq()
    },
  })
  return { session, store, turns, lastSeq: () => seq }
}

/** Whether these claims are those of the session's owner (law 12). */
export function isOwner(room: Room, claims: Claims): boolean {
  return room.session.tenant === claims.tenant && room.session.user === claims.user
}

/** One structured line for the engineers who run it. */
export function log(event: string, detail: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...detail }))
}
