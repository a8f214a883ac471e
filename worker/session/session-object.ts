/**
 * session-object.ts: the Durable Object of one session, named `tenant:session`.
 *
 * The class only routes: each method finds the caller's live session and passes the call on to it. `SessionRpc`
 * describes the methods.
 */

import { fail, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { Env } from "../env.ts"
import { GENERAL_AGENT_NAME } from "../settings/agent-config.ts"
import { WHOLE_FILE } from "../transfer/import-state.ts"
import { acceptAsk, acceptCallback, cancelAsk, claimQuestion, waitForAnswer } from "./agent-rpc.ts"
import { sendMessage } from "./frame-handlers.ts"
import type { CancelledTurn, LiveSession } from "./live-session.ts"
import { StreamedSession } from "./producers/streamed-session.ts"
import { NO_HOOKS } from "./session-hooks.ts"
import { SessionLifecycle } from "./session-lifecycle.ts"
import { addViewer, removeViewer } from "./session-sharing.ts"
import { handleSocketMessage, openSocket } from "./socket-events.ts"
import type { ImportAnswer, ImportProgress, SessionViewer, SharedSession } from "../../shared/protocol/http-body.ts"
import { PING_FRAME, PONG_FRAME } from "../../shared/protocol/server-frame.ts"
import type * as Types from "../platform/rpc/session-types.ts"
import type { Claims, OwnerClaims, SessionOwner } from "../platform/rpc/claims.ts"
import type { SessionRpc } from "../platform/rpc/session-rpc.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"

export class Session extends StreamedSession implements SessionRpc {
  readonly #lifecycle: SessionLifecycle

  constructor(ctx: DurableObjectState, env: Env, hooks = NO_HOOKS) {
    super(ctx, env)
    this.#lifecycle = new SessionLifecycle(ctx, env, hooks)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_FRAME, PONG_FRAME))
    this.#lifecycle.wake()
  }

  protected override getLifecycle(): SessionLifecycle {
    return this.#lifecycle
  }

  async create(
    claims: Claims,
    id: string,
    title: string,
    agent = GENERAL_AGENT_NAME,
    isTemporary = false,
  ): Promise<Result<null>> {
    return await this.#lifecycle.create(claims, { id, title, agent, family: { session: id, agent }, isTemporary })
  }

  async erase(owner: SessionOwner, withAgents = false): Promise<Result<null>> {
    return await this.#lifecycle.erase(owner, withAgents)
  }

  checkOwner(claims: OwnerClaims): Result<null> {
    return this.#lifecycle.findOwn(claims) === null ? fail({ reason: "session_unknown" }) : succeed(null)
  }

  checkReader(claims: OwnerClaims): Result<null> {
    return this.#withReadable(claims, () => succeed(null))
  }

  addViewer(claims: OwnerClaims, viewer: string): Result<SharedSession> {
    return this.#withSession(claims, (session) => addViewer(session, viewer))
  }

  removeViewer(claims: OwnerClaims, viewer: string): Result<null> {
    return this.#withSession(claims, (session) => removeViewer(session, viewer))
  }

  listViewers(claims: OwnerClaims): Result<readonly SessionViewer[]> {
    return this.#withSession(claims, ({ store }) => succeed(store.viewers.list()))
  }

  async renameSession(claims: Claims, title: string): Promise<Result<null>> {
    return await this.#withSession(claims, (session) => session.rename(title))
  }

  async send(claims: Claims, request: Types.SendRequest, trace?: string): Promise<Result<Types.AcceptedMessage>> {
    return await this.#withSession(claims, (session) => sendMessage(session, request, trace))
  }

  cancel(claims: Claims, exchangeId: string | null): Result<CancelledTurn> {
    return this.#withSession(claims, (session) => session.withSeqRollback(() => session.cancelActiveTurn(exchangeId)))
  }

  async reserveAsset(claims: Claims, size: number): Promise<Result<string>> {
    return await this.#withSession(claims, ({ assetService }) => assetService.reserve("user", size))
  }

  commitAsset(claims: Claims, asset: Asset, hash: string): Result<Types.StoredAsset> {
    return this.#withSession(claims, ({ assetService }) => assetService.commit(asset, hash))
  }

  discardAsset(claims: Claims, id: string): Result<null> {
    return this.#withSession(claims, ({ assetService }) => succeed(assetService.discard(id)))
  }

  findAssets(claims: Claims, ids: readonly string[]): Result<readonly (Asset | null)[]> {
    return this.#withReadable(claims, ({ assets }) => succeed(ids.map((id) => assets.find(id))))
  }

  async export(
    claims: Claims,
    after: number | null,
    format: Types.ExportFormat = "jsonl",
  ): Promise<Result<{ readonly lines: ReadableStream }>> {
    return await this.#withReadable(claims, async (session) => succeed(await session.export(after, format)))
  }

  async import(
    claims: Claims,
    body: ReadableStream<Uint8Array>,
    importPart: Types.ImportPart = WHOLE_FILE,
  ): Promise<Result<ImportAnswer>> {
    return await this.#withSession(claims, (session) => session.importPart(importPart, body))
  }

  async importProgress(claims: Claims): Promise<Result<ImportProgress>> {
    return await this.#withReadable(claims, async ({ importer }) => succeed(await importer.readProgress()))
  }

  claimQuestion(owner: SessionOwner, id: string): Result<Types.ClaimedQuestion> {
    return claimQuestion(this.#lifecycle, owner, id)
  }

  async acceptAsk(request: Types.AskRequest): Promise<Result<null, TurnFault>> {
    return await acceptAsk(this.#lifecycle, this.env, request)
  }

  isAskOpen(owner: SessionOwner, id: string): boolean {
    return this.#lifecycle.findOwn(owner)?.outboundAsks.isAskOpen(id) ?? false
  }

  async waitForAnswer(owner: SessionOwner, id: string): Promise<Types.AskAnswer> {
    return await waitForAnswer(this.#lifecycle, owner, id)
  }

  cancelAsk(owner: SessionOwner, id: string): void {
    cancelAsk(this.#lifecycle, owner, id)
  }

  acceptCallback(owner: SessionOwner, callback: Types.AskCallback): void {
    acceptCallback(this.#lifecycle, owner, callback)
  }

  listAwaitedSessions(owner: SessionOwner): string[] {
    return this.#lifecycle.findOwn(owner)?.outboundAsks.listAwaitedSessions() ?? []
  }

  revoke(owner: SessionOwner, revoked: RevocationState): void {
    this.#lifecycle.sockets.closeRevoked(owner.user, revoked)
    if (this.#lifecycle.current()?.isOwner(owner) === true) this.stopProducers(revoked)
  }

  override fetch(request: Request): Response {
    return openSocket(this.#lifecycle, request)
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    handleSocketMessage(this.#lifecycle, socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#lifecycle.closeSocket(socket, code)
  }

  override async alarm(): Promise<void> {
    await this.#lifecycle.handleAlarm()
  }

  #withSession<T>(claims: OwnerClaims, run: (session: LiveSession) => T): T | Result<never> {
    const session = this.#lifecycle.find(claims)
    return session === null ? fail({ reason: "session_unknown" }) : run(session)
  }

  #withReadable<T>(claims: OwnerClaims, run: (session: LiveSession) => T): T | Result<never> {
    const session = this.#lifecycle.findReadable(claims)
    return session === null ? fail({ reason: "session_unknown" }) : run(session)
  }
}
