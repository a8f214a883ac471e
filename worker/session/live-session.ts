/**
 * live-session.ts: what an object has once its session exists: its row, its store, its turns, and the one seq.
 */

import { nanoid } from "nanoid"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { AgentView } from "../tenant/agent-config.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import { exportKey } from "../auth/verify-token.ts"
import { timesFor } from "../platform/time-limits.ts"
import type { Rename } from "../tool/rename-tool.ts"
import { type Answerer, answererFor, defaultView } from "../turn/resolve-agent.ts"
import { type Answering, createAnswering } from "../agent/answer-agent.ts"
import { type AssetBook, createAssetBook } from "../asset/asset-rows.ts"
import { type Asking, createAsking, type Owner } from "../agent/ask-agent.ts"
import { createPast } from "../turn/model-context.ts"
import { carrierFor } from "../transfer/copy-assets.ts"
import { createImporter, type Importer } from "../transfer/session-import.ts"
import { createGate, type Gate } from "../store/storage-gate.ts"
import { createFiles, type Files } from "../asset/asset-service.ts"
import { loaderFor } from "../asset/asset-bytes.ts"
import { log } from "../platform/log.ts"
import { plantBucket, plantStore } from "./plants.ts"
import { quotesFrom } from "../turn/reply-quote.ts"
import type { Reviser } from "../turn/message-versions.ts"
import type { Family, SessionRow } from "../store/row-codec.ts"
import type { TurnHost } from "../turn/turn-run.ts"
import type { Sockets } from "../socket/sockets.ts"
import { createStaging } from "../transfer/staged-rows.ts"
import { createStore, type Store } from "../store/session-store.ts"
import { createTurns } from "../turn/turn-scheduler.ts"

/** It is also what a revision needs: the host of its turns, and how another version becomes active. */
export interface Room extends Reviser {
  readonly session: SessionRow
  readonly store: Store
  /** The way to its rows, which an erasing shuts. */
  readonly gate: Gate
  /** Changes whenever another version becomes active. */
  readonly epoch: () => string
  /** The newest seq that was given. */
  readonly lastSeq: () => number
  readonly asking: Asking
  readonly answering: Answering
  readonly importer: Importer
  /** The files that it keeps. */
  readonly assets: AssetBook
  /** How they come and go. */
  readonly files: Files
  /** Who answers here, as it is configured. */
  readonly agent: () => AgentView
  /** Another configuration of who answers, from the next turn on. */
  readonly setAgent: (view: AgentView) => void
}

/** What a room needs of the object that it stands in. */
export interface RoomParts {
  readonly storage: DurableObjectStorage
  readonly env: Env
  readonly sockets: Sockets
  readonly armAlarm: () => void
  /** Begins what waits. */
  readonly goOn: () => void
  readonly rename: Rename
}

/** Rebuilt from storage on every waking; null where no session was created. Reads a fixed number of rows. */
export function openRoom({ storage, env, sockets, armAlarm, goOn, rename }: RoomParts): Room | null {
  const gate = createGate(storage.sql)
  const store = plantStore(
    env.PLANT,
    createStore(gate.sql, (write) => storage.transactionSync(write)),
  )
  const session = store.session()
  if (session === null) return null
  const assets = createAssetBook(gate.sql)
  const times = timesFor(env)
  const files = createFiles({
    ...{ assets, place: { tenant: session.tenant, session: session.id }, armAlarm, now: Date.now, nextId: nanoid },
    ...{ times, bucket: () => plantBucket(env.PLANT, env.MEDIA) },
  })
  let seq = store.lastSeq()
  let { epoch } = session
  let agent = session.agent ?? defaultView()
  let answerer: Answerer
  const setAgent = (view: AgentView): void => {
    agent = view
    answerer = answererFor(env, view, { rename, ask: (question, context) => asking.ask(question, context) }, log)
  }
  const common = {
    env,
    store,
    session,
    log,
    now: Date.now,
    maxTokens: () => answerer.maxTokens,
    name: () => answerer.name,
    turns: () => turns,
  }
  const asking = createAsking(common)
  const answering = createAnswering({ ...common, waitsFor: asking.waitsFor })
  const atRest = (): void => {
    answering.settle()
    asking.sweep()
  }
  setAgent(agent)
  const isMessage = (id: string): boolean => store.find(id)?.isWithdrawn === false
  const host: TurnHost = {
    resolver: { asset: assets.find, isMessage, origins: () => agent.settings?.embed_origins ?? [] },
    ...{ store, sockets, log, armAlarm, answerer: () => answerer, atRest },
    // Not in this very step: whoever moves turns now may have looked already.
    goOn: () => void setTimeout(goOn),
    past: createPast(store.at, Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS, quotesFrom(store)),
    load: loaderFor(env.MEDIA, session, log),
    ...{ times, now: Date.now, nextId: nanoid, save: files.save },
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
  const importer = createImporter({
    ...{ store, turns, times: host.times, now: Date.now, log, nextSeq: host.nextSeq, armAlarm, goOn },
    staging: createStaging(gate.sql),
    ...{ carrier: carrierFor(env.MEDIA, session, assets), resolver: host.resolver },
    key: () => exportKey(env.JWT_SECRET ?? "", session.tenant),
    // Another transcript stands here now: every client reads it.
    async onFolded({ tip, title }) {
      const next = nanoid()
      // Any file may say where its path ends: it ends there only if something stands there.
      store.setPath(next, tip !== null && store.isAt(tip) ? tip : null)
      setEpoch(next)
      if (title === "" || store.session()?.title !== "") return
      // The list of sessions may be away: then it is called by its first words.
      await rename(title).catch(() => log("import_untitled", {}))
    },
  })
  return {
    ...{
      session,
      store,
      gate,
      host,
      turns,
      asking,
      answering,
      importer,
      assets,
      files,
      setAgent,
      setEpoch,
      epoch: () => epoch,
      lastSeq: () => seq,
    },
    ...{ agent: () => agent, maxTokens: () => answerer.maxTokens },
  }
}

/**
 * Takes what the tenant says of this session's agent by now; where it cannot be asked, or has it no more, it stays as it is.
 * False: the tenant has it no more.
 */
export async function refreshAgent(env: Env, room: Room): Promise<boolean> {
  const known = room.agent()
  const view = await tenantOf(env, room.session.tenant)
    .view(known.self.name)
    .catch(() => known)
  if (view === null || JSON.stringify(view) === JSON.stringify(known)) return view !== null
  room.store.setAgent(view)
  room.setAgent(view)
  return true
}

/** Whether this is the session of that agent in that family. */
export function isAgentOf({ session, agent }: Room, name: string, family: Family): boolean {
  return (
    agent().self.name === name && session.family.session === family.session && session.family.agent === family.agent
  )
}

/** Whether these claims are those of the session's owner (law 12). */
export function isOwner(room: Room, claims: Owner): boolean {
  return room.session.tenant === claims.tenant && room.session.user === claims.user
}

/** Does something that may give seqs; after a write that failed they are given again. */
export function sparing<T>(room: Room, work: () => T): T {
  try {
    return work()
  } catch (error) {
    room.host.resetSeq()
    throw error
  }
}
