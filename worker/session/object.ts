/**
 * object.ts: the Durable Object of one session, named `tenant:session`.
 *
 * Thin: it checks who asks, hands the work on, and answers. All its fields are rebuilt from storage on waking.
 * Before `create` it stores nothing, whatever it is asked (law 12).
 */

import { DurableObject } from "cloudflare:workers"
import { nanoid } from "nanoid"
import { fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { type ClientFrame, PING_FRAME, PONG_FRAME } from "../../shared/frame.ts"
import { ALARM_MS, PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { type Claims, claimsFrom } from "../tenant/keys.ts"
import { type Accepted, acceptMessage, type SendRequest, titleSession } from "./accept.ts"
import { changedSince, type PageQuery, pageJson } from "./history.ts"
import { isOwner, log, openRoom, type Room } from "./room.ts"
import { isCreated, migrate } from "./schema.ts"
import { createSockets, readFrame, type Sockets } from "./sockets.ts"
import { createStore } from "./store.ts"

export interface PageText {
  readonly json: string
  readonly rowsRead: number
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
    const now = Date.now()
    const accepted = acceptMessage(room.store, room.turns, request, now)
    if (accepted.ok && !accepted.value.duplicate) {
      this.#touch(room, request.content, now)
      this.#advance()
    }
    return accepted
  }

  /** Lets the directory know that something was said here, and what the session is about. */
  #touch(room: Room, words: string, now: number): void {
    const { tenant, user, id } = room.session
    const title = titleSession(room.store, words)
    const directory = this.env.DIRECTORY.getByName(`${tenant}:${user}`)
    // A missed touch costs an old date in a list; the next message mends it.
    this.ctx.waitUntil(Promise.resolve(directory.touch(id, now, title)).catch(() => log("touch_failed", { id })))
  }

  #roomOf(claims: Claims): Room | null {
    return this.#room !== null && isOwner(this.#room, claims) ? this.#room : null
  }

  #enter(): void {
    this.#room = openRoom(this.ctx.storage, this.env, this.#sockets, () => this.#armAlarm())
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
