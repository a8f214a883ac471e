/**
 * object.ts: the Durable Object of one session, named `tenant:session`.
 *
 * Thin: it checks who asks, hands the work on, and answers. All its fields are rebuilt from storage on waking.
 * Before `create` it stores nothing, whatever it is asked (law 12).
 */

import { DurableObject } from "cloudflare:workers"
import { nanoid } from "nanoid"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { type ClientFrame, parseClientFrame, PING_FRAME, PONG_FRAME } from "../../shared/frame.ts"
import {
  ALARM_MS,
  MAX_CLIENT_FRAME_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_TITLE_CHARS,
  PROTOCOL_VERSION,
} from "../../shared/limits.ts"
import { utf8Bytes } from "../../shared/truncate.ts"
import type { Env } from "../env.ts"
import { systemPrompt } from "../model/prompt.ts"
import { modelFor } from "../model/registry.ts"
import { claimsFrom, type Claims } from "../tenant/keys.ts"
import { toolsFor } from "../tool/registry.ts"
import { changedSince, type PageQuery, pageJson } from "./history.ts"
import { isCreated, migrate } from "./schema.ts"
import { createSockets, type Sockets } from "./sockets.ts"
import { createStore, type SessionRow, type Store } from "./store.ts"
import { createTurns, type Turns, userMessage } from "./turn.ts"

export interface SendRequest {
  readonly id: string
  readonly content: string
  readonly reply_to?: string | undefined
}

export interface Accepted {
  readonly id: string
  readonly seq: number
  readonly duplicate: boolean
}

export interface PageText {
  readonly json: string
  readonly rowsRead: number
}

/** What exists only once the session does. */
interface Room {
  readonly session: SessionRow
  readonly store: Store
  readonly turns: Turns
  readonly lastSeq: () => number
}

export class Session extends DurableObject<Env> {
  readonly #sockets: Sockets
  #room: Room | null = null
  #alarmMs = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sockets = createSockets(ctx, Date.now)
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_FRAME, PONG_FRAME))
    if (isCreated(ctx.storage.sql)) {
      migrate(ctx.storage)
      this.#enter()
      this.#advance()
    }
  }

  /** Makes the session. The same again changes nothing; somebody else's is `session_unknown`. */
  create(claims: Claims, id: string, title: string): Result<null> {
    if (this.#room !== null) return this.#roomOf(claims) === null ? fail({ reason: "session_unknown" }) : succeed(null)
    migrate(this.ctx.storage)
    const { tenant, user } = claims
    createStore(this.ctx.storage.sql).createSession({ id, tenant, user, title, epoch: nanoid(), created: Date.now() })
    this.#enter()
    return succeed(null)
  }

  /** A page of history as JSON text (HistoryPage), and the rows it took. */
  recent(claims: Claims, query: PageQuery): Result<PageText> {
    const room = this.#roomOf(claims)
    if (room === null) return fail({ reason: "session_unknown" })
    const before = room.store.rows().read
    const json = pageJson(room.store, room.session.epoch, room.lastSeq(), query)
    return succeed({ json, rowsRead: room.store.rows().read - before })
  }

  /** Takes a user's message: the same id again has no second effect. */
  send(claims: Claims, request: SendRequest): Result<Accepted> {
    const room = this.#roomOf(claims)
    return room === null ? fail({ reason: "session_unknown" }) : this.#accept(room, request)
  }

  /** A WebSocket. The Worker verified the token; whose session it is is checked again here. */
  override fetch(request: Request): Response {
    const claims = claimsFrom(request)
    if (claims === null || this.#roomOf(claims) === null) {
      const { code, text, status } = faultToWire({ reason: "session_unknown" })
      return Response.json({ code, text }, { status })
    }
    return this.#sockets.accept(claims)
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    const place = this.#sockets.attend(socket)
    const room = this.#room
    if (place === null || room === null) return
    const parsed = readFrame(data)
    if (!parsed.ok) return this.#sockets.fault(socket, parsed.fault)
    if (place.last === null && parsed.value.type !== "hello") {
      return this.#sockets.fault(socket, { reason: "hello_first" })
    }
    this.#obey(room, socket, parsed.value)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    // Codes below 3000 but 1000 are the platform's own; they may not be sent by us.
    socket.close(code >= 3000 ? code : 1000)
  }

  override alarm(): void {
    this.#alarmMs = 0
    if (this.#room?.turns.isRunning() === true) this.#armAlarm()
    this.#advance()
  }

  #obey(room: Room, socket: WebSocket, frame: ClientFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#hello(room, socket, frame)
      case "send": {
        if ((frame.attachments ?? []).length > 0) {
          return this.#sockets.fault(socket, { reason: "not_supported", type: "attachments" }, frame.id)
        }
        const accepted = this.#accept(room, frame)
        if (!accepted.ok) return this.#sockets.fault(socket, accepted.fault, frame.id)
        return this.#sockets.reply(socket, { type: "ack", id: frame.id, seq: accepted.value.seq })
      }
      case "seen":
        return this.#sockets.see(socket, frame.seq)
      case "ping":
        // Only a ping that is not byte for byte the automatic one comes as far as here.
        return socket.send(PONG_FRAME)
      case "cancel":
      case "approve":
      case "withdraw":
      case "retry":
      case "regenerate":
      case "edit":
      case "switch":
        return this.#sockets.fault(socket, { reason: "not_supported", type: frame.type })
    }
  }

  #hello(room: Room, socket: WebSocket, frame: Extract<ClientFrame, { type: "hello" }>): void {
    if (frame.protocol !== PROTOCOL_VERSION && frame.protocol !== PROTOCOL_VERSION - 1) {
      return this.#sockets.fault(socket, { reason: "protocol_unsupported", speaks: PROTOCOL_VERSION })
    }
    const seq = room.lastSeq()
    const { epoch } = room.session
    if (frame.after !== undefined && frame.after > seq && frame.epoch === epoch) {
      return this.#sockets.fault(socket, { reason: "frame_invalid", field: "after" })
    }
    // A client of another epoch throws its state away and reads history: there is nothing to resume.
    const after = frame.epoch === epoch ? (frame.after ?? null) : null
    const since = (from: number) => changedSince(room.store, from)
    this.#sockets.resume(socket, { epoch, seq, after, live: frame.live, since })
  }

  #accept(room: Room, request: SendRequest): Result<Accepted> {
    const known = room.store.find(request.id)
    if (known !== null) return succeed({ id: request.id, seq: known.seq, duplicate: true })
    const fault = messageFault(request.content)
    if (fault !== null) return fail(fault)
    if (request.reply_to !== undefined && room.store.find(request.reply_to) === null) {
      return fail({ reason: "frame_invalid", field: "reply_to" })
    }
    const now = Date.now()
    const message = userMessage(request.id, request.content, now, request.reply_to ?? null)
    const seq = room.turns.accept(message)
    this.#touch(room, message.words, now)
    this.#advance()
    return succeed({ id: request.id, seq, duplicate: false })
  }

  /** Lets the directory know that something was said here, and what the session is about. */
  #touch(room: Room, words: string, now: number): void {
    const { tenant, user, id } = room.session
    let title = room.store.session()?.title ?? ""
    if (title === "") {
      title = titleFrom(words)
      room.store.setTitle(title)
    }
    const directory = this.env.DIRECTORY.getByName(`${tenant}:${user}`)
    // A missed touch costs an old date in a list; the next message mends it.
    this.ctx.waitUntil(Promise.resolve(directory.touch(id, now, title)).catch(() => log("touch_failed", { id })))
  }

  #roomOf(claims: Claims): Room | null {
    const room = this.#room
    if (room === null) return null
    const { tenant, user } = room.session
    return tenant === claims.tenant && user === claims.user ? room : null
  }

  #enter(): void {
    const store = createStore(this.ctx.storage.sql)
    const session = store.session()
    if (session === null) return
    let seq = store.lastSeq()
    const turns = createTurns({
      ...{ store, sockets: this.#sockets, model: modelFor(this.env), tools: toolsFor(this.env) },
      ...{ system: systemPrompt(), now: Date.now, nextId: nanoid, log },
      nextSeq: () => {
        seq += 1
        return seq
      },
      armAlarm: () => this.#armAlarm(),
    })
    this.#room = { session, store, turns, lastSeq: () => seq }
  }

  #advance(): void {
    if (this.#room !== null) this.ctx.waitUntil(this.#room.turns.advance())
  }

  /** One alarm while turns run: it wakes a process that took over from a killed one. */
  #armAlarm(): void {
    const now = Date.now()
    if (this.#alarmMs > now) return
    this.#alarmMs = now + ALARM_MS
    this.ctx.waitUntil(this.ctx.storage.setAlarm(this.#alarmMs))
  }
}

function readFrame(data: string | ArrayBuffer): Result<ClientFrame, Fault> {
  if (typeof data !== "string") return fail({ reason: "frame_malformed" })
  const isLong = data.length > MAX_CLIENT_FRAME_BYTES / 4
  if (isLong && utf8Bytes(data) > MAX_CLIENT_FRAME_BYTES) {
    return fail({ reason: "frame_too_large", max: MAX_CLIENT_FRAME_BYTES })
  }
  return parseClientFrame(data)
}

function messageFault(content: string): Fault | null {
  if (content.trim() === "") return { reason: "message_empty" }
  return utf8Bytes(content) > MAX_MESSAGE_BYTES ? { reason: "message_too_large", max: MAX_MESSAGE_BYTES } : null
}

/** The first words of a session, on one line. */
function titleFrom(words: string): string {
  const line = words.trim().replace(/\s+/g, " ")
  return line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…`
}

function log(event: string, detail: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...detail }))
}
