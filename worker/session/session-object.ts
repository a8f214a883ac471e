/**
 * session-object.ts: the Durable Object of one session, named `tenant:session`.
 *
 * Thin: it checks who asks, hands the work on, and answers. All its fields are rebuilt from storage on waking.
 * Before `create` it stores nothing, whatever it is asked (law 12).
 */

import { DurableObject } from "cloudflare:workers"
import { nanoid } from "nanoid"
import type { Asset } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import type { ImportAnswer, ImportProgress } from "../../shared/protocol/http-body.ts"
import { PING_FRAME, PONG_FRAME } from "../../shared/protocol/client-frame.ts"
import type { Env } from "../env.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { GENERAL_AGENT_NAME } from "../tenant/agent-config.ts"
import { readClaims, deriveExportKey } from "../auth/verify-token.ts"
import { acceptMessage, pickTitleText } from "../turn/accept-message.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { type SessionAlarm, createSessionAlarm } from "./session-alarm.ts"
import type { SessionRef } from "../asset/bucket.ts"
import { eraseLateUploads, eraseSessionStorage } from "./erase-session.ts"
import { exportJsonl, exportMarkdown } from "../transfer/session-export.ts"
import { createProducerIngress, type ProducerIngress } from "./producer-ingress.ts"
import { WHOLE_FILE } from "../transfer/import-steps.ts"
import { advanceAndSync, type DirectorySync, createDirectorySync } from "./directory-sync.ts"
import { readPage } from "../socket/history-pages.ts"
import { type FrameContext, handleFrame } from "./frame-handlers.ts"
import { mutateBucket, mutateSockets } from "./plants.ts"
import { log } from "../platform/log.ts"
import { isAgentOf, isOwner, openLiveSession, refreshAgent, type LiveSession, withSeqRollback } from "./live-session.ts"
import { isCreated, migrateSession } from "../store/session-schema.ts"
import type { NewSession } from "../store/row-codec.ts"
import { createSockets, readFrame, type Sockets } from "../socket/sockets.ts"
import { createSessionStore } from "../store/session-store.ts"
import { directoryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { type Claims, getScope, type SessionOwner } from "../platform/rpc/claims.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"
import type { SessionRpc } from "../platform/rpc/session-rpc.ts"
import type {
  AcceptedMessage,
  AnswerRef,
  AskAnswer,
  AskCallback,
  AskRequest,
  CompleteAnswerState,
  ExportFormat,
  ExternalState,
  ImportPart,
  IngestResult,
  PageQuery,
  PageText,
  SendRequest,
  StoredAsset,
} from "../platform/rpc/session-types.ts"

export class Session extends DurableObject<Env> implements SessionRpc {
  readonly #sockets: Sockets
  readonly #alarm: SessionAlarm
  readonly #producerIngress: ProducerIngress
  #session: LiveSession | null = null
  #directorySync: DirectorySync | null = null
  #eraseInProgress: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#alarm = createSessionAlarm(ctx, readTimeLimits(env).alarmMs)
    this.#sockets = mutateSockets(env.PLANT, createSockets(ctx, Date.now))
    this.#producerIngress = createProducerIngress(env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_FRAME, PONG_FRAME))
    if (isCreated(ctx.storage.sql)) {
      migrateSession(ctx.storage)
      this.#openSession()
      // Before any turn begins: what is coming in holds them.
      this.ctx.waitUntil(this.#session?.importer.resumeImport() ?? Promise.resolve())
      this.#advanceTurns()
    }
  }

  /** Makes the session. The same again changes nothing; somebody else's is `session_unknown`. Errors: `agent_unknown`. */
  async create(claims: Claims, id: string, title: string, agent = GENERAL_AGENT_NAME): Promise<Result<null>> {
    return await this.#createSession(claims, { id, title, agent, family: { session: id, agent } })
  }

  /** Whether it is a session of theirs. */
  checkOwner(claims: Claims): Result<null> {
    return this.#withSession(claims, () => succeed(null))
  }

  /** Announces a file of a user, and tells its id. Errors: `assets_full`. */
  reserveAsset(claims: Claims, size: number): Result<string> {
    return this.#withSession(claims, ({ assetService: files }) => files.reserve("user", size))
  }

  /** Its bytes are in the bucket. Errors: `asset_store_failed`. */
  commitAsset(claims: Claims, asset: Asset, hash: string): Result<StoredAsset> {
    return this.#withSession(claims, ({ assetService: files }) => files.commit(asset, hash))
  }

  /** It does not come, and its bytes are gone. */
  discardAsset(claims: Claims, id: string): Result<null> {
    return this.#withSession(claims, ({ assetService: files }) => succeed(files.discard(id)))
  }

  /** What is kept under these ids; null where nothing is. */
  findAssets(claims: Claims, ids: readonly string[]): Result<readonly (Asset | null)[]> {
    return this.#withSession(claims, ({ assets }) => succeed(ids.map((id) => assets.find(id))))
  }

  /** Takes the records of a producer outside as they come; tells what came of them when they are over. */
  async ingestRecords(
    claims: Claims,
    answerRef: AnswerRef,
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Result<IngestResult>> {
    return await this.#producerIngress.ingestRecords(this.#session, claims, answerRef, body)
  }

  /** Takes an answer of a producer outside that is told whole. */
  writeExternalAnswer(claims: Claims, answerRef: AnswerRef, text: string): Result<CompleteAnswerState> {
    return this.#producerIngress.acceptCompleteAnswer(this.#session, claims, answerRef, text)
  }

  /** How an answer of a producer outside stands. */
  readExternalState(claims: Claims, id: string): Result<ExternalState> {
    return this.#producerIngress.readState(this.#session, claims, id)
  }

  /** A page of history as JSON text (HistoryPage), and the rows it took. */
  readHistoryPage(claims: Claims, query: PageQuery): Result<PageText> {
    return this.#withSession(claims, ({ store, currentEpoch: epoch, lastSeq }) =>
      succeed(readPage(store, epoch(), lastSeq(), query)),
    )
  }

  /** Gives the session another title; that is no activity. */
  async renameSession(claims: Claims, title: string): Promise<Result<null>> {
    const session = this.#findSession(claims)
    if (session === null) return fail({ reason: "session_unknown" })
    await this.#directorySync?.renameSession(title, 0)
    return succeed(null)
  }

  /**
   * Stops what runs, closes the sockets, and erases all that was ever stored here. What is still under way finds the
   * gate shut. The list of sessions is the caller's to mend, last of all.
   */
  async erase(owner: SessionOwner, withAgents = false): Promise<Result<null>> {
    const session = this.#findSession(owner)
    if (session === null) return fail({ reason: "session_unknown" })
    this.#session = null
    this.#alarm.reset()
    const { id, family } = session.row
    const erasesGroup = withAgents || id === family.session
    const agents = erasesGroup
      ? session.store.agentAsks.listAskedSessions().filter((one) => one !== family.session)
      : []
    const recheckAtMs =
      session.assetService.nextAlarmAt() === null ? null : Date.now() + session.host.times.assetPendingMs
    this.ctx.waitUntil(session.inboundAsks.rejectWaiting())
    session.storageGate.close()
    session.turns.stopAll()
    this.#sockets.closeAll({ reason: "session_unknown" })
    this.#eraseInProgress = this.#eraseWithAgents({ tenant: owner.tenant, session: id }, owner, agents, recheckAtMs)
    await this.#eraseInProgress
    return succeed(null)
  }

  /** The agents' sessions that were asked go first: should this end half-way, asking again finds them. */
  async #eraseWithAgents(
    sessionRef: SessionRef,
    owner: SessionOwner,
    agents: readonly string[],
    recheckAtMs: number | null,
  ): Promise<void> {
    const erase = (id: string) => this.env.SESSION.getByName(`${owner.tenant}:${id}`).erase(owner, true)
    try {
      await Promise.all(agents.map(erase))
      await eraseSessionStorage(this.ctx.storage, mutateBucket(this.env.PLANT, this.env.MEDIA), sessionRef, recheckAtMs)
    } finally {
      // Where it failed, what is left is there again, to be erased once more.
      if (isCreated(this.ctx.storage.sql)) this.#openSession()
      this.#eraseInProgress = null
    }
  }

  /** Takes a user's message: the same id again has no second effect. */
  send(claims: Claims, request: SendRequest): Result<AcceptedMessage> {
    return this.#withSession(claims, (session) => withSeqRollback(session, () => this.#acceptMessage(session, request)))
  }

  /** Stops the answer of an exchange, or (null) the one that runs. Tells which it was. */
  cancel(claims: Claims, exchangeId: string | null): Result<{ readonly exchange_id: string; readonly seq: number }> {
    return this.#withSession(claims, (session) => {
      const exchange_id = exchangeId ?? session.turns.activeExchangeId()
      if (exchange_id === null) return fail({ reason: "turn_ended" })
      const cancelled = withSeqRollback(session, () => this.#cancelExchange(session, exchange_id))
      return cancelled.ok ? succeed({ exchange_id, seq: cancelled.value }) : cancelled
    })
  }

  /** The transcript as JSONL, or its active path as Markdown, from the beginning or after a position. */
  async export(
    claims: Claims,
    after: number | null,
    format: ExportFormat = "jsonl",
  ): Promise<Result<{ readonly lines: ReadableStream }>> {
    const session = this.#findSession(claims)
    if (session === null) return fail({ reason: "session_unknown" })
    const key = await deriveExportKey(this.env.JWT_SECRET ?? "", session.row.tenant)
    const exported = format === "jsonl" ? exportJsonl(session, key, after) : exportMarkdown(session.store, after)
    this.ctx.waitUntil(exported.done)
    return succeed({ lines: exported.lines })
  }

  /** Takes a file of records, or a part of one; what of it cannot be folded at once is folded later. */
  async import(
    claims: Claims,
    body: ReadableStream<Uint8Array>,
    importPart: ImportPart = WHOLE_FILE,
  ): Promise<Result<ImportAnswer>> {
    const session = this.#findSession(claims)
    if (session === null) return fail({ reason: "session_unknown" })
    const imported = session.importer.importPart(importPart, body)
    // It goes on when nobody waits for its answer any more.
    this.ctx.waitUntil(imported.catch(() => {}))
    return await imported
  }

  /** How far an import is; it is told while it runs. */
  importProgress(claims: Claims): Result<ImportProgress> {
    return this.#withSession(claims, ({ importer }) => succeed(importer.readProgress()))
  }

  /** Another agent's session asks this one, which is made if it is not there yet. */
  async acceptAsk(request: AskRequest): Promise<Result<null, TurnFault>> {
    const { owner, agent, family, from } = request
    const isNew = this.#session === null
    const made = await this.#createSession(owner, { id: request.to, title: agent, agent, family })
    const session = this.#findSession(owner)
    if (!made.ok || session === null || !isAgentOf(session, agent, family)) return fail("agent_unknown")
    // Whoever asks may be erased by now, with all that it had asked: then this one has no business either.
    const asker = this.env.SESSION.getByName(`${owner.tenant}:${from.session}`)
    if (isNew && !(await asker.isAskOpen(owner, request.id))) {
      await this.erase(owner, true)
      return fail("agent_failed")
    }
    if (!(await refreshAgent(this.env, session))) return fail("agent_unknown")
    const accepted = await session.inboundAsks.acceptAsk(request).catch((error: unknown) => {
      session.host.resetSeq()
      throw error
    })
    this.#advanceTurns()
    return accepted
  }

  /** Whether a question of this session is still open. */
  isAskOpen(owner: SessionOwner, id: string): boolean {
    return this.#findSession(owner)?.outboundAsks.isAskOpen(id) ?? false
  }

  /** The answer to what was asked, once it is there. */
  async waitForAnswer(owner: SessionOwner, id: string): Promise<AskAnswer> {
    const session = this.#findSession(owner)
    if (session === null) throw new Error("nobody was asked here")
    return await session.inboundAsks.waitForAnswer(id)
  }

  /** Whoever asked waits no more: the turn is stopped, or does not begin. */
  cancelAsk(owner: SessionOwner, id: string): void {
    const session = this.#findSession(owner)
    if (session !== null) withSeqRollback(session, () => this.#cancelExchange(session, id))
  }

  /** An agent that was asked answers late. The same again changes nothing. */
  acceptCallback(owner: SessionOwner, callback: AskCallback): void {
    const session = this.#findSession(owner)
    if (session === null) return
    withSeqRollback(session, () => session.outboundAsks.acceptCallback(callback))
    this.#advanceTurns()
  }

  /** Sessions for whose answer the turn that runs here waits. */
  listAwaitedSessions(owner: SessionOwner): string[] {
    return this.#findSession(owner)?.outboundAsks.listAwaitedSessions() ?? []
  }

  /** A WebSocket. The Worker verified the token; whose session it is is checked again here. */
  override async fetch(request: Request): Promise<Response> {
    const claims = readClaims(request)
    const session = claims === null ? null : this.#findSession(claims)
    if (claims === null || session === null) return faultToResponse({ reason: "session_unknown" })
    // First of all the directory: from here on it tells this object of revocations, so that none slips through.
    const [admitted] = await Promise.all([
      directoryStub(this.env, claims).authorizeSocket(claims, session.row.id),
      refreshAgent(this.env, session),
    ])
    if (!admitted.ok) return faultToResponse(admitted.fault)
    // It may have been erased meanwhile.
    return this.#session === session
      ? this.#sockets.acceptSocket(claims)
      : faultToResponse({ reason: "session_unknown" })
  }

  /** The owner's directory says which of their tokens are revoked: their sockets are closed. */
  revoke(owner: Pick<Claims, "tenant" | "user">, revoked: RevocationState): void {
    const row = this.#session?.row
    if (row?.tenant !== owner.tenant || row.user !== owner.user) return
    this.#sockets.closeRevoked(revoked)
    this.#producerIngress.stopRevoked(revoked)
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    const attachment = this.#sockets.verifySocket(socket)
    const session = this.#session
    if (attachment === null || session === null) return
    const parsed = readFrame(data)
    if (!parsed.ok) return this.#sockets.sendFault(socket, parsed.fault)
    if (!attachment.isGreeted && parsed.value.type !== "hello") {
      return this.#sockets.sendFault(socket, { reason: "hello_first" })
    }
    try {
      withSeqRollback(session, () => handleFrame(this.#createFrameContext(session), socket, parsed.value))
    } catch (error) {
      // The client resumes, and asks again.
      log("frame_error", { type: parsed.value.type, message: error instanceof Error ? error.message : "unknown" })
      this.#sockets.sendFault(socket, { reason: "internal" })
    }
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    // Codes below 3000 but 1000 are the platform's own; they may not be sent by us.
    socket.close(code >= 3000 ? code : 1000)
  }

  override async alarm(): Promise<void> {
    const session = this.#session
    if (session === null) return await this.#eraseLateUploads()
    // First of all: whatever goes wrong below is tried again.
    this.#alarm.rescheduleAt(
      Math.min(...[session.turns, session.importer, session.assetService].map((one) => one.nextAlarmAt() ?? Infinity)),
    )
    this.ctx.waitUntil(session.importer.resumeImport())
    this.ctx.waitUntil(session.assetService.sweepPending())
    this.ctx.waitUntil(withSeqRollback(session, () => session.turns.handleAlarm()))
  }

  /** Whoever makes a session here meanwhile waits. */
  async #eraseLateUploads(): Promise<void> {
    this.#alarm.reset()
    const { ctx, env } = this
    const retryAtMs = Date.now() + readTimeLimits(env).assetPendingMs
    this.#eraseInProgress ??= eraseLateUploads(ctx.storage, mutateBucket(env.PLANT, env.MEDIA), retryAtMs).finally(
      () => {
        this.#eraseInProgress = null
      },
    )
    await this.#eraseInProgress
  }

  #cancelExchange(session: LiveSession, exchangeId: string): Result<number> {
    const cancelled = session.turns.cancelExchange(exchangeId)
    this.#advanceTurns()
    return cancelled
  }

  #createFrameContext(session: LiveSession): FrameContext {
    return {
      session,
      sockets: this.#sockets,
      acceptMessage: (request) => this.#acceptMessage(session, request),
      cancelExchange: (exchange) => this.#cancelExchange(session, exchange),
      reportActivity: (words) => this.#reportActivity(words, Date.now()),
      advanceTurns: () => this.#advanceTurns(),
    }
  }

  #acceptMessage(session: LiveSession, request: SendRequest): Result<AcceptedMessage> {
    const now = Date.now()
    const accepted = acceptMessage(session, request, now)
    if (accepted.ok && !accepted.value.duplicate) {
      this.#reportActivity(pickTitleText(session.assets, request), now)
      this.#advanceTurns()
    }
    return accepted
  }

  #reportActivity(text: string, now: number): void {
    if (this.#directorySync !== null) this.ctx.waitUntil(this.#directorySync.reportActivity(text, now))
  }

  async #createSession(owner: SessionOwner, { agent, ...made }: NewSession): Promise<Result<null>> {
    const checkIsOwn = (): Result<null> =>
      this.#findSession(owner) === null ? fail({ reason: "session_unknown" }) : succeed(null)
    await this.#eraseInProgress?.catch(() => {})
    if (this.#session !== null) return checkIsOwn()
    const { tenant, user } = owner
    const view = await tenantStub(this.env, tenant).getAgentView(agent)
    // Another may have made it meanwhile.
    if (this.#session !== null) return checkIsOwn()
    if (view === null) return fail({ reason: "agent_unknown" })
    migrateSession(this.ctx.storage)
    const row = { ...made, tenant, user, agent: view, epoch: nanoid(), created: Date.now() }
    createSessionStore(this.ctx.storage.sql).createSession(row)
    this.#openSession()
    return succeed(null)
  }

  #withSession<T>(claims: Claims, work: (session: LiveSession) => Result<T>): Result<T> {
    const session = this.#findSession(claims)
    return session === null ? fail({ reason: "session_unknown" }) : work(session)
  }

  #findSession(claims: SessionOwner & Pick<Claims, "scope">): LiveSession | null {
    const session = getScope(claims) === "user" ? this.#session : null
    return session !== null && isOwner(session, claims) ? session : null
  }

  #openSession(): void {
    const { storage } = this.ctx
    let directorySync: DirectorySync | null = null
    const session = openLiveSession({
      storage,
      env: this.env,
      sockets: this.#sockets,
      armAlarm: () => (this.#session === null ? undefined : this.#alarm.arm()),
      resume: () => this.#advanceTurns(),
      rename: async (title) => await directorySync?.renameSession(title, Date.now()),
    })
    if (session !== null) directorySync = createDirectorySync(this.env, session)
    this.#session = session
    this.#directorySync = directorySync
  }

  #advanceTurns(): void {
    if (this.#session !== null) this.ctx.waitUntil(advanceAndSync(this.#session, this.#directorySync))
  }
}
