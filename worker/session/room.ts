/**
 * room.ts: what an object has once its session exists: its row, its store, its turns, and the one seq.
 */

import { nanoid } from "nanoid"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { systemPrompt } from "../model/prompt.ts"
import { modelFor } from "../model/registry.ts"
import { tokensOfFrame } from "../model/tokens.ts"
import type { Claims } from "../tenant/keys.ts"
import { timesFor } from "../times.ts"
import { toolsFor } from "../tool/registry.ts"
import type { Rename } from "../tool/rename.ts"
import { createPast } from "./context.ts"
import { plantStore } from "./plants.ts"
import type { Reviser } from "./revise.ts"
import type { SessionRow } from "./rows.ts"
import type { TurnHost } from "./run.ts"
import type { Sockets } from "./sockets.ts"
import { createStore, type Store } from "./store.ts"
import { createTurns } from "./turn.ts"

/** It is also what a revision needs: the host of its turns, and how another version becomes active. */
export interface Room extends Reviser {
  readonly session: SessionRow
  readonly store: Store
  /** Changes whenever another version becomes active. */
  readonly epoch: () => string
  /** The newest seq that was given. */
  readonly lastSeq: () => number
}

/** What a room needs of the object that it stands in. */
export interface RoomParts {
  readonly storage: DurableObjectStorage
  readonly env: Env
  readonly sockets: Sockets
  readonly armAlarm: () => void
  readonly rename: Rename
}

/** Share of the model's tokens that one message may have: the rest is for what the model and its tools say. */
const MESSAGE_SHARE = 0.75

/** Rebuilt from storage on every waking; null where no session was created. Reads a fixed number of rows. */
export function openRoom({ storage, env, sockets, armAlarm, rename }: RoomParts): Room | null {
  const store = plantStore(
    env.PLANT,
    createStore(storage.sql, (write) => storage.transactionSync(write)),
  )
  const session = store.session()
  if (session === null) return null
  let seq = store.lastSeq()
  let { epoch } = session
  const tools = toolsFor(env, { rename })
  const system = systemPrompt()
  const contextTokens = Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS
  const maxTokens = Math.floor((contextTokens - tokensOfFrame(system, tools)) * MESSAGE_SHARE)
  const host: TurnHost = {
    ...{ store, sockets, tools, system, contextTokens, log, armAlarm },
    past: createPast(store.at, contextTokens),
    ...{ model: modelFor(env, log), times: timesFor(env), now: Date.now, nextId: nanoid },
    nextSeq: () => {
      seq += 1
      return seq
    },
    resetSeq: () => {
      seq = store.lastSeq()
    },
  }
  const turns = createTurns(host)
  const setEpoch = (next: string): void => {
    epoch = next
    sockets.renew(epoch, seq)
  }
  return { session, store, host, turns, maxTokens, setEpoch, epoch: () => epoch, lastSeq: () => seq }
}

/** Whether these claims are those of the session's owner (law 12). */
export function isOwner(room: Room, claims: Claims): boolean {
  return room.session.tenant === claims.tenant && room.session.user === claims.user
}

/** One structured line for the engineers who run it. */
export function log(event: string, detail: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...detail }))
}
