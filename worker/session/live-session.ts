/**
 * live-session.ts: what an object has once its session exists: its row, its store, its turns, and the one seq.
 */

import { nanoid } from "nanoid"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { AgentView } from "../tenant/agent-config.ts"
import { deriveExportKey } from "../auth/verify-token.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { RenameSession } from "../tool/rename-tool.ts"
import { type ResolvedAgent, resolveAgent, defaultAgentView } from "../turn/resolve-agent.ts"
import { type InboundAsks, createInboundAsks } from "../agent/answer-agent.ts"
import { type AssetRows, createAssetRows } from "../asset/asset-rows.ts"
import { type OutboundAsks, createOutboundAsks } from "../agent/ask-agent.ts"
import { createPastTurns, createQuoteLookup } from "../turn/past-turns.ts"
import { createAssetCopier } from "../transfer/copy-assets.ts"
import { Importer } from "../transfer/session-import.ts"
import { createStorageGate, type StorageGate } from "../store/storage-gate.ts"
import { createAssetService, type AssetService } from "../asset/asset-service.ts"
import { createAssetLoader } from "../asset/asset-bytes.ts"
import { log } from "../platform/log.ts"
import { mutateBucket, mutateStore } from "./plants.ts"
import type { RevisionContext } from "../turn/message-versions.ts"
import type { SessionRow } from "../store/row-codec.ts"
import type { TurnHost } from "../turn/turn-run.ts"
import type { Sockets } from "../socket/sockets.ts"
import { createStagedRows } from "../transfer/staged-rows.ts"
import { createSessionStore, type SessionStore } from "../store/session-store.ts"
import { TurnScheduler } from "../turn/turn-scheduler.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { SessionGroup } from "../platform/rpc/session-types.ts"

/** It is also what a revision needs: the host of its turns, and how another version becomes active. */
export interface LiveSession extends RevisionContext {
  readonly row: SessionRow
  readonly store: SessionStore
  /** The way to its rows, which an erasing shuts. */
  readonly storageGate: StorageGate
  /** Changes whenever another version becomes active. */
  readonly currentEpoch: () => string
  /** The newest seq that was given. */
  readonly lastSeq: () => number
  readonly outboundAsks: OutboundAsks
  readonly inboundAsks: InboundAsks
  readonly importer: Importer
  /** The files that it keeps. */
  readonly assets: AssetRows
  /** How they come and go. */
  readonly assetService: AssetService
  /** Who answers here, as it is configured. */
  readonly agentView: () => AgentView
  /** Another configuration of who answers, from the next turn on. */
  readonly setAgentView: (view: AgentView) => void
}

/** What a room needs of the object that it stands in. */
export interface LiveSessionDeps {
  readonly storage: DurableObjectStorage
  readonly env: Env
  readonly sockets: Sockets
  readonly armAlarm: () => void
  /** Begins what waits. */
  readonly resume: () => void
  readonly rename: RenameSession
}

/** Rebuilt from storage on every waking; null where no session was created. Reads a fixed number of rows. */
export function openLiveSession({
  storage,
  env,
  sockets,
  armAlarm,
  resume,
  rename,
}: LiveSessionDeps): LiveSession | null {
  const storageGate = createStorageGate(storage.sql)
  const store = mutateStore(
    env.PLANT,
    createSessionStore(storageGate.sql, (write) => storage.transactionSync(write)),
  )
  const row = store.readSession()
  if (row === null) return null
  const assets = createAssetRows(storageGate.sql)
  const times = readTimeLimits(env)
  const assetService = createAssetService({
    assets,
    sessionRef: { tenant: row.tenant, session: row.id },
    armAlarm,
    now: Date.now,
    nextId: nanoid,
    times,
    bucket: () => mutateBucket(env.PLANT, env.MEDIA),
  })
  let seq = store.readLastSeq()
  let { epoch } = row
  let agentView = row.agent ?? defaultAgentView()
  let resolvedAgent: ResolvedAgent
  const setAgentView = (view: AgentView): void => {
    agentView = view
    resolvedAgent = resolveAgent(
      env,
      view,
      { renameSession: rename, askAgent: (question, context) => outboundAsks.askAgent(question, context) },
      log,
    )
  }
  const agentHost = {
    env,
    store,
    session: row,
    log,
    now: Date.now,
    maxMessageTokens: () => resolvedAgent.maxMessageTokens,
    agentName: () => resolvedAgent.name,
    turns: () => turns,
  }
  const outboundAsks = createOutboundAsks(agentHost)
  const inboundAsks = createInboundAsks({ ...agentHost, listAwaitedSessions: outboundAsks.listAwaitedSessions })
  const onIdle = (): void => {
    inboundAsks.deliverAnswers()
    outboundAsks.sweepAsks()
  }
  setAgentView(agentView)
  const isMessage = (id: string): boolean => store.findById(id)?.isWithdrawn === false
  const host: TurnHost = {
    resolver: {
      findAsset: assets.find,
      hasMessage: isMessage,
      listOrigins: () => agentView.settings?.embed_origins ?? [],
    },
    store,
    sockets,
    log,
    armAlarm,
    currentAgent: () => resolvedAgent,
    onIdle,
    // Not in this very step: whoever moves turns now may have looked already.
    resume: () => void setTimeout(resume),
    pastTurns: createPastTurns(
      store.findMessageAt,
      Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS,
      createQuoteLookup(store),
    ),
    loadAsset: createAssetLoader(env.MEDIA, row, log),
    times,
    now: Date.now,
    nextId: nanoid,
    saveAsset: assetService.save,
    nextSeq: () => {
      seq += 1
      return seq
    },
    resetSeq: () => {
      seq = store.readLastSeq()
    },
  }
  const turns = new TurnScheduler(host)
  const setEpoch = (next: string): void => {
    epoch = next
    sockets.announceEpoch(epoch, seq)
  }
  const importer = new Importer({
    store,
    turns,
    times: host.times,
    now: Date.now,
    log,
    nextSeq: host.nextSeq,
    armAlarm,
    resume,
    staging: createStagedRows(storageGate.sql),
    assetCopier: createAssetCopier(env.MEDIA, row, assets),
    resolver: host.resolver,
    getSealKey: () => deriveExportKey(env.JWT_SECRET ?? "", row.tenant),
    // Another transcript stands here now: every client reads it.
    async onFolded({ tip, title }) {
      const next = nanoid()
      // Any file may say where its path ends: it ends there only if something stands there.
      store.setActivePath(next, tip !== null && store.hasMessageAt(tip) ? tip : null)
      setEpoch(next)
      if (title === "" || store.readSession()?.title !== "") return
      // The list of sessions may be away: then it is called by its first words.
      await rename(title).catch(() => log("import_untitled", {}))
    },
  })
  return {
    row,
    store,
    storageGate,
    host,
    turns,
    outboundAsks,
    inboundAsks,
    importer,
    assets,
    assetService,
    setAgentView,
    setEpoch,
    currentEpoch: () => epoch,
    lastSeq: () => seq,
    agentView: () => agentView,
    maxMessageTokens: () => resolvedAgent.maxMessageTokens,
  }
}

/**
 * Takes what the tenant says of this session's agent by now; where it cannot be asked, or has it no more, it stays as it is.
 * False: the tenant has it no more.
 */
export async function refreshAgent(env: Env, session: LiveSession): Promise<boolean> {
  const known = session.agentView()
  const view = await tenantStub(env, session.row.tenant)
    .getAgentView(known.self.name)
    .catch(() => known)
  if (view === null || JSON.stringify(view) === JSON.stringify(known)) return view !== null
  session.store.setAgent(view)
  session.setAgentView(view)
  return true
}

/** Whether this is the session of that agent in that family. */
export function isAgentOf({ row: session, agentView: agent }: LiveSession, name: string, group: SessionGroup): boolean {
  return agent().self.name === name && session.family.session === group.session && session.family.agent === group.agent
}

/** Whether these claims are those of the session's owner (law 12). */
export function isOwner(session: LiveSession, claims: SessionOwner): boolean {
  return session.row.tenant === claims.tenant && session.row.user === claims.user
}

/** Does something that may give seqs; after a write that failed they are given again. */
export function withSeqRollback<T>(session: LiveSession, work: () => T): T {
  try {
    return work()
  } catch (error) {
    session.host.resetSeq()
    throw error
  }
}
