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
import { type ImportAnswer, type ImportProgress, PING_FRAME, PONG_FRAME } from "../../shared/protocol/frame.ts"
import type { Env } from "../env.ts"
import { answerFault } from "../platform/fault-response.ts"
import { directoryOf } from "../auth/user-directory.ts"
import { GENERAL } from "../tenant/agent-config.ts"
import { type Claims, claimsFrom, exportKey, scopeOf } from "../auth/verify-token.ts"
import type { Revoked } from "../auth/revocation.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import { type Accepted, acceptMessage, type SendRequest, titleWords } from "../turn/accept-message.ts"
import { timesFor } from "../platform/time-limits.ts"
import { type Alarm, createAlarm } from "./session-alarm.ts"
import type { Kept } from "../asset/asset-rows.ts"
import type { Place } from "../asset/bucket.ts"
import { eraseLate, eraseStored } from "./erase-session.ts"
import type { AskReply, AskRequest, Callback, Owner } from "../agent/ask-agent.ts"
import { exportLines, exportMarkdown, type Format } from "../transfer/session-export.ts"
import { createDoor, type Door, type Taken } from "./producer-ingress.ts"
import { type PartOf, WHOLE } from "../transfer/session-import.ts"
import { advanceAndTell, type Listing, listingOf } from "./directory-sync.ts"
import { type PageQuery, type PageText, pageText } from "../socket/history-pages.ts"
import { type Desk, obeyFrame } from "./frame-handlers.ts"
import type { ExternalState, ToldWhole, Where } from "./producer-answers.ts"
import { plantBucket, plantSockets } from "./plants.ts"
import { log } from "../platform/log.ts"
import { isAgentOf, isOwner, openRoom, refreshAgent, type Room, sparing } from "./live-session.ts"
import { isCreated, migrate } from "../store/session-schema.ts"
import type { NewSession } from "../store/row-codec.ts"
import { createSockets, readFrame, type Sockets } from "../socket/sockets.ts"
import { createStore } from "../store/session-store.ts"

export class Session extends DurableObject<Env> {
  readonly #sockets: Sockets
  readonly #alarm: Alarm
  readonly #door: Door
  #room: Room | null = null
  #listing: Listing | null = null
  #erasing: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#alarm = createAlarm(ctx, timesFor(env).alarmMs)
    this.#sockets = plantSockets(env.PLANT, createSockets(ctx, Date.now))
    this.#door = createDoor(env)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_FRAME, PONG_FRAME))
    if (isCreated(ctx.storage.sql)) {
      migrate(ctx.storage)
      this.#enter()
      // Before any turn begins: what is coming in holds them.
      this.ctx.waitUntil(this.#room?.importer.wake() ?? Promise.resolve())
      this.#advance()
    }
  }

  /** Makes the session. The same again changes nothing; somebody else's is `session_unknown`. Errors: `agent_unknown`. */
  async create(claims: Claims, id: string, title: string, agent = GENERAL): Promise<Result<null>> {
    return await this.#create(claims, { id, title, agent, family: { session: id, agent } })
  }

  /** Whether it is a session of theirs. */
  check(claims: Claims): Result<null> {
    return this.#in(claims, () => succeed(null))
  }

  /** Announces a file of a user, and tells its id. Errors: `assets_full`. */
  reserveAsset(claims: Claims, size: number): Result<string> {
    return this.#in(claims, ({ files }) => files.reserve("user", size))
  }

  /** Its bytes are in the bucket. Errors: `asset_store_failed`. */
  keepAsset(claims: Claims, asset: Asset, hash: string): Result<Kept> {
    return this.#in(claims, ({ files }) => files.keep(asset, hash))
  }

  /** It does not come, and its bytes are gone. */
  dropAsset(claims: Claims, id: string): Result<null> {
    return this.#in(claims, ({ files }) => succeed(files.drop(id)))
  }

  /** What is kept under these ids; null where nothing is. */
  findAssets(claims: Claims, ids: readonly string[]): Result<readonly (Asset | null)[]> {
    return this.#in(claims, ({ assets }) => succeed(ids.map((id) => assets.find(id))))
  }

  /** Takes the records of a producer outside as they come; tells what came of them when they are over. */
  async external(claims: Claims, where: Where, body: ReadableStream<Uint8Array> | null): Promise<Result<Taken>> {
    return await this.#door.take(this.#room, claims, where, body)
  }

  /** Takes an answer of a producer outside that is told whole. */
  externalMessage(claims: Claims, where: Where, text: string): Result<ToldWhole> {
    return this.#door.tell(this.#room, claims, where, text)
  }

  /** How an answer of a producer outside stands. */
  externalState(claims: Claims, id: string): Result<ExternalState> {
    return this.#door.ask(this.#room, claims, id)
  }

  /** A page of history as JSON text (HistoryPage), and the rows it took. */
  recent(claims: Claims, query: PageQuery): Result<PageText> {
    return this.#in(claims, ({ store, epoch, lastSeq }) => succeed(pageText(store, epoch(), lastSeq(), query)))
  }

  /** Gives the session another title; that is no activity. */
  async retitle(claims: Claims, title: string): Promise<Result<null>> {
    const room = this.#roomOf(claims)
    if (room === null) return fail({ reason: "session_unknown" })
    await this.#listing?.rename(title, 0)
    return succeed(null)
  }

  /**
   * Stops what runs, closes the sockets, and erases all that was ever stored here. What is still under way finds the
   * gate shut. The list of sessions is the caller's to mend, last of all.
   */
  async erase(owner: Owner, withAgents = false): Promise<Result<null>> {
    const room = this.#roomOf(owner)
    if (room === null) return fail({ reason: "session_unknown" })
    this.#room = null
    this.#alarm.forget()
    const { id, family } = room.session
    const isWhole = withAgents || id === family.session
    const agents = isWhole ? room.store.asks.sessionsAsked().filter((one) => one !== family.session) : []
    const lateAt = room.files.nextAlarm() === null ? null : Date.now() + room.host.times.assetPendingMs
    this.ctx.waitUntil(room.answering.giveUp())
    room.gate.shut()
    room.turns.stop()
    this.#sockets.dismiss({ reason: "session_unknown" })
    this.#erasing = this.#eraseAll({ tenant: owner.tenant, session: id }, owner, agents, lateAt)
    await this.#erasing
    return succeed(null)
  }

  /** The agents' sessions that were asked go first: should this end half-way, asking again finds them. */
  async #eraseAll(place: Place, owner: Owner, agents: readonly string[], lateAt: number | null): Promise<void> {
    const erase = (id: string) => this.env.SESSION.getByName(`${owner.tenant}:${id}`).erase(owner, true)
    try {
      await Promise.all(agents.map(erase))
      await eraseStored(this.ctx.storage, plantBucket(this.env.PLANT, this.env.MEDIA), place, lateAt)
    } finally {
      // Where it failed, what is left is there again, to be erased once more.
      if (isCreated(this.ctx.storage.sql)) this.#enter()
      this.#erasing = null
    }
  }

  /** Takes a user's message: the same id again has no second effect. */
  send(claims: Claims, request: SendRequest): Result<Accepted> {
    return this.#in(claims, (room) => sparing(room, () => this.#accept(room, request)))
  }

  /** Stops the answer of an exchange, or (null) the one that runs. Tells which it was. */
  cancel(claims: Claims, exchange: string | null): Result<{ readonly exchange_id: string; readonly seq: number }> {
    return this.#in(claims, (room) => {
      const exchange_id = exchange ?? room.turns.exchange()
      if (exchange_id === null) return fail({ reason: "turn_ended" })
      const cancelled = sparing(room, () => this.#cancel(room, exchange_id))
      return cancelled.ok ? succeed({ exchange_id, seq: cancelled.value }) : cancelled
    })
  }

  /** The transcript as JSONL, or its active path as Markdown, from the beginning or after a position. */
  async export(
    claims: Claims,
    after: number | null,
    format: Format = "jsonl",
  ): Promise<Result<{ readonly lines: ReadableStream }>> {
    const room = this.#roomOf(claims)
    if (room === null) return fail({ reason: "session_unknown" })
    const key = await exportKey(this.env.JWT_SECRET ?? "", room.session.tenant)
    const asked = format === "jsonl" ? exportLines(room, key, after) : exportMarkdown(room.store, after)
    this.ctx.waitUntil(asked.done)
    return succeed({ lines: asked.lines })
  }

  /** Takes a file of records, or a part of one; what of it cannot be folded at once is folded later. */
  async import(claims: Claims, body: ReadableStream<Uint8Array>, place: PartOf = WHOLE): Promise<Result<ImportAnswer>> {
    const room = this.#roomOf(claims)
    if (room === null) return fail({ reason: "session_unknown" })
    const taken = room.importer.take(place, body)
    // It goes on when nobody waits for its answer any more.
    this.ctx.waitUntil(taken.catch(() => {}))
    return await taken
  }

  /** How far an import is; it is told while it runs. */
  importProgress(claims: Claims): Result<ImportProgress> {
    return this.#in(claims, ({ importer }) => succeed(importer.progress()))
  }

  /** Another agent's session asks this one, which is made if it is not there yet. */
  async ask(request: AskRequest): Promise<Result<null, TurnFault>> {
    const { owner, agent, family, from } = request
    const isNew = this.#room === null
    const made = await this.#create(owner, { id: request.to, title: agent, agent, family })
    const room = this.#roomOf(owner)
    if (!made.ok || room === null || !isAgentOf(room, agent, family)) return fail("agent_unknown")
    // Whoever asks may be erased by now, with all that it had asked: then this one has no business either.
    const asker = this.env.SESSION.getByName(`${owner.tenant}:${from.session}`)
    if (isNew && !(await asker.isAsking(owner, request.id))) {
      await this.erase(owner, true)
      return fail("agent_failed")
    }
    if (!(await refreshAgent(this.env, room))) return fail("agent_unknown")
    const taken = await room.answering.take(request).catch((error: unknown) => {
      room.host.resetSeq()
      throw error
    })
    this.#advance()
    return taken
  }

  /** Whether a question of this session is still open. */
  isAsking(owner: Owner, id: string): boolean {
    return this.#roomOf(owner)?.asking.isOpen(id) ?? false
  }

  /** The answer to what was asked, once it is there. */
  async reply(owner: Owner, id: string): Promise<AskReply> {
    const room = this.#roomOf(owner)
    if (room === null) throw new Error("nobody was asked here")
    return await room.answering.reply(id)
  }

  /** Whoever asked waits no more: the turn is stopped, or does not begin. */
  unask(owner: Owner, id: string): void {
    const room = this.#roomOf(owner)
    if (room !== null) sparing(room, () => this.#cancel(room, id))
  }

  /** An agent that was asked answers late. The same again changes nothing. */
  callback(owner: Owner, callback: Callback): void {
    const room = this.#roomOf(owner)
    if (room === null) return
    sparing(room, () => room.asking.callback(callback))
    this.#advance()
  }

  /** Sessions for whose answer the turn that runs here waits. */
  waitsFor(owner: Owner): string[] {
    return this.#roomOf(owner)?.asking.waitsFor() ?? []
  }

  /** A WebSocket. The Worker verified the token; whose session it is is checked again here. */
  override async fetch(request: Request): Promise<Response> {
    const claims = claimsFrom(request)
    const room = claims === null ? null : this.#roomOf(claims)
    if (claims === null || room === null) return answerFault({ reason: "session_unknown" })
    // First of all the directory: from here on it tells this object of revocations, so that none slips through.
    const [admitted] = await Promise.all([
      directoryOf(this.env, claims).admit(claims, room.session.id),
      refreshAgent(this.env, room),
    ])
    if (!admitted.ok) return answerFault(admitted.fault)
    // It may have been erased meanwhile.
    return this.#room === room ? this.#sockets.accept(claims) : answerFault({ reason: "session_unknown" })
  }

  /** The owner's directory says which of their tokens are revoked: their sockets are closed. */
  revoke(owner: Pick<Claims, "tenant" | "user">, revoked: Revoked): void {
    const session = this.#room?.session
    if (session?.tenant !== owner.tenant || session.user !== owner.user) return
    this.#sockets.revoke(revoked)
    this.#door.revoke(revoked)
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    const place = this.#sockets.attend(socket)
    const room = this.#room
    if (place === null || room === null) return
    const parsed = readFrame(data)
    if (!parsed.ok) return this.#sockets.fault(socket, parsed.fault)
    if (!place.isGreeted && parsed.value.type !== "hello") {
      return this.#sockets.fault(socket, { reason: "hello_first" })
    }
    try {
      sparing(room, () => obeyFrame(this.#deskOf(room), socket, parsed.value))
    } catch (error) {
      // The client resumes, and asks again.
      log("frame_error", { type: parsed.value.type, message: error instanceof Error ? error.message : "unknown" })
      this.#sockets.fault(socket, { reason: "internal" })
    }
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    // Codes below 3000 but 1000 are the platform's own; they may not be sent by us.
    socket.close(code >= 3000 ? code : 1000)
  }

  override async alarm(): Promise<void> {
    const room = this.#room
    if (room === null) return await this.#eraseLate()
    // First of all: whatever goes wrong below is tried again.
    this.#alarm.again(Math.min(...[room.turns, room.importer, room.files].map((one) => one.nextAlarm() ?? Infinity)))
    this.ctx.waitUntil(room.importer.wake())
    this.ctx.waitUntil(room.files.sweep())
    this.ctx.waitUntil(sparing(room, () => room.turns.wake()))
  }

  /** Whoever makes a session here meanwhile waits. */
  async #eraseLate(): Promise<void> {
    this.#alarm.forget()
    const { ctx, env } = this
    const againAt = Date.now() + timesFor(env).assetPendingMs
    this.#erasing ??= eraseLate(ctx.storage, plantBucket(env.PLANT, env.MEDIA), againAt).finally(() => {
      this.#erasing = null
    })
    await this.#erasing
  }

  #cancel(room: Room, exchange: string): Result<number> {
    const cancelled = room.turns.cancel(exchange)
    this.#advance()
    return cancelled
  }

  #deskOf(room: Room): Desk {
    return {
      ...{ room, sockets: this.#sockets },
      accept: (request) => this.#accept(room, request),
      cancel: (exchange) => this.#cancel(room, exchange),
      touch: (words) => this.#touch(words, Date.now()),
      advance: () => this.#advance(),
    }
  }

  #accept(room: Room, request: SendRequest): Result<Accepted> {
    const now = Date.now()
    const accepted = acceptMessage(room, request, now)
    if (accepted.ok && !accepted.value.duplicate) {
      this.#touch(titleWords(room.assets, request), now)
      this.#advance()
    }
    return accepted
  }

  #touch(words: string, now: number): void {
    if (this.#listing !== null) this.ctx.waitUntil(this.#listing.touch(words, now))
  }

  async #create(owner: Owner, { agent, ...made }: NewSession): Promise<Result<null>> {
    const isOwn = (): Result<null> =>
      this.#roomOf(owner) === null ? fail({ reason: "session_unknown" }) : succeed(null)
    await this.#erasing?.catch(() => {})
    if (this.#room !== null) return isOwn()
    const { tenant, user } = owner
    const view = await tenantOf(this.env, tenant).view(agent)
    // Another may have made it meanwhile.
    if (this.#room !== null) return isOwn()
    if (view === null) return fail({ reason: "agent_unknown" })
    migrate(this.ctx.storage)
    const row = { ...made, tenant, user, agent: view, epoch: nanoid(), created: Date.now() }
    createStore(this.ctx.storage.sql).createSession(row)
    this.#enter()
    return succeed(null)
  }

  #in<T>(claims: Claims, work: (room: Room) => Result<T>): Result<T> {
    const room = this.#roomOf(claims)
    return room === null ? fail({ reason: "session_unknown" }) : work(room)
  }

  #roomOf(claims: Owner & Pick<Claims, "scope">): Room | null {
    const room = scopeOf(claims) === "user" ? this.#room : null
    return room !== null && isOwner(room, claims) ? room : null
  }

  #enter(): void {
    const { storage } = this.ctx
    let listing: Listing | null = null
    const room = openRoom({
      ...{
        storage,
        env: this.env,
        sockets: this.#sockets,
        armAlarm: () => (this.#room === null ? undefined : this.#alarm.arm()),
      },
      goOn: () => this.#advance(),
      rename: async (title) => await listing?.rename(title, Date.now()),
    })
    if (room !== null) listing = listingOf(this.env, room)
    this.#room = room
    this.#listing = listing
  }

  #advance(): void {
    if (this.#room !== null) this.ctx.waitUntil(advanceAndTell(this.#room, this.#listing))
  }
}
