/**
 * live-session.ts: a session in memory: its stores, its turns, and the only code that assigns its seqs.
 *
 * The object opens the live session from storage when the object wakes up, and passes every client message to the
 * session.
 */

import { nanoid } from "nanoid"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import { InboundAsks } from "../agent/inbound-asks.ts"
import { OutboundAsks } from "../agent/outbound-asks.ts"
import type { AgentSession } from "../agent/agent-session.ts"
import { readAgentView } from "../agent/agent-view.ts"
import { createCardFinder, createCardLoader } from "../tool/cards/card-finder.ts"
import { createAssetLoader } from "../asset/asset-bytes.ts"
import { type AssetRows, createAssetRows } from "../asset/asset-rows.ts"
import { type AssetService, createAssetService } from "../asset/asset-service.ts"
import { deriveExportKey } from "../auth/verify-token.ts"
import type { Env } from "../env.ts"
import type { SessionBytes } from "../limits/session-bytes.ts"
import { type Log, log } from "../platform/log.ts"
import { keyToPublicId } from "../platform/session-key.ts"
import { createTelemetry } from "../telemetry/telemetry.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { Sockets } from "../socket/sockets.ts"
import type { SessionRow } from "../store/row-codec.ts"
import { createSessionStore, type SessionStore } from "../store/session-store.ts"
import { createStorageGate, SessionErasedError, type StorageGate } from "../store/storage-gate.ts"
import type { AgentView } from "../settings/agent-config.ts"
import type { ExportStream } from "../transfer/session-export.ts"
import { ImportLoader } from "../transfer/import-loader.ts"
import type { ImportParts } from "../transfer/session-import.ts"
import type { StagedFile } from "../transfer/import-state.ts"
import { type AcceptRequest, acceptMessage, pickTitleText } from "../turn/accept-message.ts"
import type { RevisionContext } from "../turn/message-versions.ts"
import { createPastTurns, createQuoteLookup } from "../turn/past-turns.ts"
import { defaultAgentView, type ResolvedAgent, resolveAgent } from "../turn/resolve-agent.ts"
import type { TurnHost } from "../turn/turn-run.ts"
import { createTurnGate } from "../usage/session-gate.ts"
import type { TurnGate } from "../usage/turn-gate.ts"
import { createUsageRecorder } from "../usage/usage-recorder.ts"
import { TurnScheduler } from "../turn/turn-scheduler.ts"
import { createDirectorySync, type DirectorySync } from "./directory-sync.ts"
import type { SessionHooks } from "./session-hooks.ts"
import type { AcceptedMessage, ExportFormat, SessionGroup, ImportPart } from "../platform/rpc/session-types.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import type { ImportAnswer } from "../../shared/protocol/http-body.ts"

/** The parts of its object that a live session uses. */
export interface LiveSessionDeps {
  readonly storage: DurableObjectStorage
  readonly env: Env
  readonly sockets: Sockets
  readonly hooks: SessionHooks
  readonly armAlarm: () => void
  readonly openBytes: (row: SessionRow, gate: StorageGate) => SessionBytes
  /** Keeps the object in memory until the work is done. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** Returns the session in this storage; null if none was created. Reads a fixed number of rows. */
export function openLiveSession(deps: LiveSessionDeps): LiveSession | null {
  const { storage, hooks } = deps
  const storageGate = createStorageGate(storage.sql)
  const store = hooks.wrapStore(createSessionStore(storageGate.sql, (write) => storage.transactionSync(write)))
  const row = store.readSession()
  return row === null ? null : new LiveSession(deps, { row, store, storageGate })
}

export interface CancelledTurn {
  readonly exchange_id: string
  /** The seq of the change. */
  readonly seq: number
}

export class LiveSession implements AgentSession, RevisionContext {
  /** As read when the session was opened. */
  readonly row: SessionRow
  readonly store: SessionStore
  /** Closed when the session is erased. */
  readonly storageGate: StorageGate
  readonly sockets: Sockets
  readonly assets: AssetRows
  readonly assetService: AssetService
  readonly directorySync: DirectorySync
  readonly gate: TurnGate
  readonly outboundAsks: OutboundAsks
  readonly inboundAsks: InboundAsks
  readonly host: TurnHost
  readonly turns: TurnScheduler
  readonly importer: ImportLoader
  readonly #env: Env
  readonly #armAlarm: () => void
  readonly #waitUntil: (work: Promise<unknown>) => void
  #seq: number
  #epoch: string
  #agentView: AgentView
  #agent: ResolvedAgent
  #isClosed = false

  constructor(deps: LiveSessionDeps, { row, store, storageGate }: Pick<LiveSession, "row" | "store" | "storageGate">) {
    const { env } = deps
    this.row = row
    this.store = store
    this.storageGate = storageGate
    this.sockets = deps.sockets
    this.#env = env
    this.#armAlarm = deps.armAlarm
    this.#waitUntil = deps.waitUntil
    this.#seq = store.readLastSeq()
    this.#epoch = row.epoch
    this.assets = createAssetRows(storageGate.sql)
    this.assetService = this.#createAssetService(deps)
    this.directorySync = createDirectorySync(env, this)
    this.outboundAsks = new OutboundAsks(env, this)
    this.inboundAsks = new InboundAsks(env, this, this.outboundAsks)
    this.#agentView = row.agent ?? defaultAgentView()
    this.gate = createTurnGate(env, this)
    this.#agent = this.#resolveAgent()
    // These parts receive objects that refer to the fields above.
    this.host = this.#createTurnHost()
    this.turns = new TurnScheduler(this.host)
    this.importer = new ImportLoader(this.#createImportParts())
  }

  /** Changes when another version of a message becomes active, and after an import. */
  get epoch(): string {
    return this.#epoch
  }

  /** The newest seq that was assigned. */
  get lastSeq(): number {
    return this.#seq
  }

  /** The configuration of the agent that answers here. */
  get agentView(): AgentView {
    return this.#agentView
  }

  /** Adds to each line the ids that an operator searches for: the tenant, the session and the running turn's trace. */
  readonly log: Log = (event, fields) => {
    const { tenant, id } = this.row
    log(event, { tenant, session: keyToPublicId(id), trace: this.turns.currentTrace(), ...fields })
  }

  readonly agentName = (): string => this.#agent.name

  readonly maxMessageTokens = (): number => this.#agent.maxMessageTokens

  readonly nextSeq = (): number => {
    this.#seq += 1
    return this.#seq
  }

  /** Resets the seq counter to the stored seq. Called after a failed write whose seq was already assigned. */
  readonly resetSeq = (): void => {
    this.#seq = this.store.readLastSeq()
  }

  /** Runs work that may assign seqs. If it throws, these seqs are assigned again. */
  withSeqRollback<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.resetSeq()
      throw error
    }
  }

  readonly setEpoch = (epoch: string, fork: number): void => {
    this.#epoch = epoch
    this.sockets.announceEpoch(epoch, this.#seq)
    this.directorySync.notePathChange(fork)
  }

  isOwner({ tenant, user }: SessionOwner): boolean {
    return this.row.tenant === tenant && this.row.user === user
  }

  /** Whether this is the session of the given agent in the given session group. */
  isAgentInGroup(agent: string, { session, agent: groupAgent }: SessionGroup): boolean {
    const { family } = this.row
    return this.#agentView.self.name === agent && family.session === session && family.agent === groupAgent
  }

  /**
   * Fetches the agent's configuration. The session keeps its current one if the tenant object can't be reached.
   *
   * @returns false if the tenant no longer has an agent with that name
   */
  async refreshAgent(): Promise<boolean> {
    const known = this.#agentView
    const { name } = known.self
    const { tenant } = this.row
    const view = await readAgentView(this.#env, tenant, name).catch(() => known)
    if (view === null || JSON.stringify(view) === JSON.stringify(known)) return view !== null
    this.store.setAgent(view)
    this.#agentView = view
    this.#agent = this.#resolveAgent()
    return true
  }

  /** Fetches the agent's configuration in the background. */
  refreshAgentLater(): void {
    // Rejects only if the session was erased in the meantime.
    this.#waitUntil(this.refreshAgent().catch(() => {}))
  }

  /** Accepts a message from a user. Idempotent: repeating an id has no effect. */
  acceptMessage(request: AcceptRequest, trace = createTraceId()): Result<AcceptedMessage> {
    const nowMs = Date.now()
    const accepted = acceptMessage(this, request, nowMs, trace)
    if (!accepted.ok) this.log("message_refused", { exchange: request.id, trace, code: accepted.fault.reason })
    if (!accepted.ok || accepted.value.duplicate) return accepted
    this.reportActivity(pickTitleText(this.assets, request), nowMs)
    this.advance()
    return accepted
  }

  /** Stops the answer of an exchange. Returns the seq of that change. */
  cancelTurn(exchangeId: string): Result<number> {
    const cancelled = this.turns.cancelExchange(exchangeId)
    this.advance()
    return cancelled
  }

  /** Like `cancelTurn`. With null, it stops the answer that is running. */
  cancelActiveTurn(exchangeId: string | null): Result<CancelledTurn> {
    const exchange_id = exchangeId ?? this.turns.activeExchangeId()
    if (exchange_id === null) return fail({ reason: "turn_ended" })
    const cancelled = this.cancelTurn(exchange_id)
    return cancelled.ok ? succeed({ exchange_id, seq: cancelled.value }) : cancelled
  }

  /** Returns the transcript as JSONL, or its active path as Markdown, from the beginning or after a position. */
  async export(after: number | null, format: ExportFormat): Promise<Pick<ExportStream, "lines">> {
    const { exportJsonl, exportMarkdown } = await import("../transfer/session-export.ts")
    const isText = format === "markdown"
    const { lines, done } = isText
      ? exportMarkdown(this.store, after, { env: this.#env, tenant: this.row.tenant })
      : exportJsonl(this, await this.deriveSealKey(), after)
    this.#waitUntil(done)
    return { lines }
  }

  /** Imports a file or one part of it. The import continues if the caller disconnects. */
  async importPart(part: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> {
    const imported = this.importer.importPart(part, body)
    this.#waitUntil(imported.catch(() => {}))
    return await imported
  }

  async rename(title: string): Promise<Result<null>> {
    await this.directorySync.renameSession(title, 0)
    return succeed(null)
  }

  /** Moves the session to the top of its user's list. An untitled session takes its title from the text. */
  reportActivity(text: string, nowMs: number): void {
    this.#waitUntil(this.directorySync.reportActivity(text, nowMs))
  }

  /** Continues stored work in the background. */
  readonly advance = (): void => {
    if (!this.#isClosed) this.#waitUntil(this.#advanceAndSync())
  }

  /** Stops everything. Work that is still in progress can neither read nor write any more (SPEC RT10). */
  close(): void {
    this.#isClosed = true
    this.#waitUntil(this.inboundAsks.rejectWaiting())
    this.storageGate.close()
    this.turns.stopAll()
  }

  /** Advances the turns. The user's directory is updated when a turn begins and when all have ended. */
  async #advanceAndSync(): Promise<void> {
    try {
      const advanced = this.turns.advance()
      const synced = this.directorySync.syncRunningState()
      await advanced
      await synced
      await this.directorySync.syncRunningState()
    } catch (error) {
      if (!(error instanceof SessionErasedError)) throw error
    }
  }

  readonly #armAlarmIfOpen = (): void => {
    if (!this.#isClosed) this.#armAlarm()
  }

  readonly #renameSession = (title: string): Promise<void> => this.directorySync.renameSession(title, Date.now())

  #resolveAgent(): ResolvedAgent {
    const askAgent = this.outboundAsks.askAgent.bind(this.outboundAsks)
    const { row, store } = this
    const { toolCallbacks: callbacks, callInputs: inputs } = store
    const host = { row, callbacks, inputs, renameSession: this.#renameSession, askAgent }
    return resolveAgent(this.#env, this.#agentView, host, this.log)
  }

  #createAssetService({ openBytes }: LiveSessionDeps): AssetService {
    return createAssetService({
      assets: this.assets,
      sessionRef: { tenant: this.row.tenant, session: this.row.id },
      armAlarm: this.#armAlarmIfOpen,
      bytes: openBytes(this.row, this.storageGate),
      times: readTimeLimits(this.#env),
      bucket: () => mediaBucket(this.#env, this.row.tenant),
    })
  }

  #createTurnHost(): TurnHost {
    const env = this.#env
    const { row, store, sockets, assets, nextSeq, resetSeq } = this
    const { tenant, id } = row
    const contextTokens = Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS
    return {
      store,
      sockets,
      resolver: {
        findAsset: assets.find,
        hasMessage: (id) => store.findById(id)?.isWithdrawn === false,
        listOrigins: () => this.#agentView.settings?.embed_origins ?? [],
      },
      currentAgent: () => this.#agent,
      onIdle: () => {
        this.inboundAsks.deliverAnswers()
        this.outboundAsks.sweepAsks()
        this.outboundAsks.beginHeldTurns()
      },
      // Runs in a later task, because an `advance` that is running now may already have looked for work.
      resume: () => void setTimeout(this.advance),
      pastTurns: createPastTurns(store.findMessageAt, contextTokens, createQuoteLookup(store)),
      loadAsset: createAssetLoader(mediaBucket(env, row.tenant), row, this.log),
      findCard: createCardFinder(env, tenant),
      loadCardView: createCardLoader(env, tenant),
      saveAsset: this.assetService.save,
      times: readTimeLimits(env),
      now: Date.now,
      nextId: nanoid,
      nextSeq,
      resetSeq,
      armAlarm: this.#armAlarmIfOpen,
      log: this.log,
      telemetry: createTelemetry({ env, tenant, session: keyToPublicId(id), log: this.log, now: Date.now }),
      gate: this.gate,
      usageRecorder: createUsageRecorder({
        now: Date.now,
        listPrices: () => this.#agentView.prices ?? [],
        onCall: this.gate.countCall,
      }),
    }
  }

  #createImportParts(): ImportParts {
    const { row, store, assets, turns, host } = this
    return {
      env: this.#env,
      row,
      sql: this.storageGate.sql,
      assets,
      store,
      turns,
      readSeq: () => this.lastSeq,
      resolver: host.resolver,
      times: host.times,
      getSealKey: async (tenant) => await this.deriveSealKey(tenant),
      now: Date.now,
      armAlarm: this.#armAlarmIfOpen,
      resume: this.advance,
      log: this.log,
      onFolded: async (staged) => await this.#showImport(staged),
    }
  }

  async deriveSealKey(tenant = this.row.tenant): Promise<CryptoKey> {
    return await deriveExportKey(this.#env.JWT_SECRET ?? "", tenant)
  }

  /** Makes the imported transcript active, and makes every client read it. */
  async #showImport({ tip, title }: Pick<StagedFile, "tip" | "title">): Promise<void> {
    const epoch = nanoid()
    // An imported file can name any tip, so its tip is used only if there is a message at that position.
    this.store.setActivePath(epoch, tip !== null && this.store.hasMessageAt(tip) ? tip : null)
    this.setEpoch(epoch, 0)
    if (title === "" || this.store.readSession()?.title !== "") return
    // Without its title, the session would be listed under the first words of its next message.
    await this.#renameSession(title).catch(() => this.log("import_untitled", {}))
  }
}
