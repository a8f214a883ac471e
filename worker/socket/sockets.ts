/**
 * sockets.ts: the WebSockets of one session.
 *
 * message, ops ▶ numbered frame ▶ each socket
 * A frame is serialised once and addressed to each socket. Before anything is sent, a socket whose token has expired or
 * was revoked is closed.
 */

import { type Fault, faultToWire } from "../../shared/fault.ts"
import { MAX_SESSION_VIEWERS, MAX_UNSEEN_BYTES, PROTOCOL_VERSION } from "../../shared/limits.ts"
import { MAX_SESSION_SOCKETS } from "../../shared/user-limits.ts"
import { isRevoked, NO_REVOCATIONS } from "../auth/revocation.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { BoundedMap } from "../platform/bounded-map.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { frameToTexts, messageToFrame, type NumberedFrame, opsToFrame, sumBodyChars } from "./numbered-frame.ts"
import { createReplayBuffer } from "./replay-buffer.ts"
import { SocketRegistration, type SocketRegistrationHost } from "./socket-registration.ts"
import {
  acknowledgeUpTo,
  createAttachment,
  expireSocket,
  getAttachment,
  isSocketBehind,
  setAttachment,
  type SocketAttachment,
} from "./socket-attachment.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import type { ServerFrame } from "../../shared/protocol/server-frame.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"

export interface ResumeRequest {
  readonly epoch: string
  readonly seq: number
  /** The newest seq that the client has; null if the client starts at the session's newest seq. */
  readonly after: number | null
  readonly live: boolean
  /** See `HelloFrame`. */
  readonly agent?: string | undefined
  /** Reads missed messages from the store; null if there are too many. The client must then read history. */
  readonly changesSince: (after: number) => readonly StoredMessage[] | null
}

/**
 * The session is woken for token expiries at most this far ahead, in milliseconds, because no connection lasts longer.
 * SPEC AU16.
 */
const MAX_SOCKET_MS = 30 * 24 * 60 * 60_000

/** The subprotocol of the sockets. The token is a second subprotocol, never part of a URL. */
export const SUBPROTOCOL = "cuecard.v1"

/** The parts of the session object that its sockets use. */
export interface SocketsHost extends SocketRegistrationHost {
  /** Maximum wait for a socket's `hello`, in milliseconds. */
  readonly helloMs: number
  /** Makes sure that the object's alarm fires by the given time. */
  readonly armBy: (atMs: number) => void
}

export class Sockets {
  readonly #ctx: DurableObjectState
  readonly #host: SocketsHost
  readonly #registration: SocketRegistration
  readonly #replayBuffer = createReplayBuffer()
  /**
   * Revocations by user, for the owner and the viewers. They are kept only in memory. The directory registers no
   * sockets of revoked tokens, so these revocations cover only sockets that were being opened when their token was
   * revoked.
   */
  readonly #revokedByUser = new BoundedMap<string, RevocationState>(MAX_SESSION_VIEWERS + 1)

  /** Timers of the sockets without a `hello`. They keep the object in memory, but for at most `helloMs`. */
  readonly #helloTimers = new Map<WebSocket, ReturnType<typeof setTimeout>>()

  constructor(ctx: DurableObjectState, host: SocketsHost) {
    this.#ctx = ctx
    this.#host = host
    this.#registration = new SocketRegistration(host, {
      countOpen: (user) => this.countOpen(user),
      end: (socket, fault) => this.#end(socket, fault),
    })
    for (const socket of ctx.getWebSockets()) if (!getAttachment(socket).isGreeted) this.#awaitHello(socket)
  }

  acceptSocket(claims: Claims): Response {
    if (this.countOpen() >= MAX_SESSION_SOCKETS)
      return faultToResponse({ reason: "sockets_full", max: MAX_SESSION_SOCKETS })
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server, [claims.user])
    setAttachment(server, createAttachment(claims))
    if (this.verifySocket(server) !== null) {
      this.#registration.begin(server)
      this.#awaitHello(server)
      const expiresMs = claims.expires * 1000
      if (expiresMs <= this.#host.now() + MAX_SOCKET_MS) this.#host.armBy(expiresMs)
    }
    return new Response(null, { status: 101, webSocket: client, headers: { "sec-websocket-protocol": SUBPROTOCOL } })
  }

  /** Continues the registrations that were in progress when the object was evicted. */
  resumeRegistrations(): void {
    for (const socket of this.#ctx.getWebSockets()) {
      if (socket.readyState === WebSocket.OPEN) this.#registration.begin(socket)
    }
  }

  /** Returns the number of open sockets of one user, or of all users. */
  countOpen(user?: string): number {
    return this.#ctx.getWebSockets(user).filter(({ readyState }) => readyState === WebSocket.OPEN).length
  }

  /** Sends a message that is new, or that changed as a whole. */
  sendMessage(stored: StoredMessage): void {
    const frame = messageToFrame(stored)
    this.#broadcast(frame, () => frame)
  }

  /** Sends changes to a running message; `stored` is the message after these changes. */
  sendOps(seq: number, ops: readonly Op[], stored: StoredMessage): void {
    this.#broadcast(opsToFrame(seq, ops, stored), () => messageToFrame(stored))
  }

  /** Sends what the client missed. After that, the client receives new frames. */
  resumeSocket(socket: WebSocket, { epoch, seq, after, live, agent, changesSince }: ResumeRequest): void {
    const from = after ?? seq
    const buffered = live ? this.#replayBuffer.framesAfter(from, seq) : null
    const missed = buffered ?? changesSince(from)?.map(messageToFrame) ?? null
    const before = getAttachment(socket)
    if (isSocketBehind(before)) return this.sendFault(socket, { reason: "socket_behind" })
    if (missed === null || sumBodyChars(missed) > MAX_UNSEEN_BYTES / 2) {
      return this.sendFault(socket, { reason: "frame_invalid", field: "after" })
    }
    this.#stopWaiting(socket)
    let attachment: SocketAttachment = { ...before, isGreeted: true, last: from, live }
    setAttachment(socket, attachment)
    this.#sendHello(socket, epoch, seq, agent)
    for (const frame of missed) attachment = sendNumbered(socket, attachment, frame)
    // A client may have missed more than REPLAY_FRAMES frames, so replayed frames count only by size.
    setAttachment(socket, { ...attachment, unseen: before.unseen })
  }

  /**
   * Sends a new epoch to every client. After that, a client receives no numbered frames until it has sent another
   * `hello`.
   */
  announceEpoch(epoch: string, seq: number): void {
    this.#replayBuffer.clear()
    for (const socket of this.#ctx.getWebSockets()) {
      const attachment = this.verifySocket(socket)
      if (attachment === null || attachment.last === null) continue
      setAttachment(socket, { ...attachment, last: null })
      this.#sendHello(socket, epoch, seq)
    }
  }

  acknowledgeSeen(socket: WebSocket, seq: number): void {
    setAttachment(socket, acknowledgeUpTo(getAttachment(socket), seq))
  }

  sendFrame(socket: WebSocket, frame: ServerFrame): void {
    sendText(socket, JSON.stringify(frame))
  }

  /**
   * Sends an error, and closes the socket if the fault requires it. `id` names the frame that caused the error, and
   * `trace` names the log line about a refused message.
   */
  sendFault(socket: WebSocket, fault: Fault, id?: string, trace?: string): void {
    const { code, text, fields, close } = faultToWire(fault)
    const optional = { ...(id === undefined ? {} : { id }), ...(trace === undefined ? {} : { trace }) }
    this.sendFrame(socket, { type: "error", code, text, fields, ...optional, ...describeBudget(fault) })
    if (close !== null) socket.close(close, text)
  }

  /** Returns the socket's attachment; null if its token has expired or was revoked, in which case it is closed. */
  verifySocket(socket: WebSocket): SocketAttachment | null {
    const attachment = getAttachment(socket)
    const { claims } = attachment
    const isExpired = claims.expires * 1000 <= this.#host.now()
    const revoked = this.#revokedByUser.get(claims.user) ?? NO_REVOCATIONS
    if (!isExpired && !isRevoked(claims, revoked)) return attachment
    const endedBy = revoked.suspended === true ? "user_suspended" : "token_revoked"
    this.#end(socket, { reason: isExpired ? "token_expired" : endedBy })
    return null
  }

  /** Returns when the next token expires, in milliseconds since 1970; null if none expires within MAX_SOCKET_MS. */
  nextAlarmAt(): number | null {
    const expiries = this.#ctx
      .getWebSockets()
      .map((socket) => getAttachment(socket).claims.expires * 1000)
      // A closing socket has the expiry 0.
      .filter((at) => at > this.#host.now() && at <= this.#host.now() + MAX_SOCKET_MS)
    return expiries.length === 0 ? null : Math.min(...expiries)
  }

  /** Closes the sockets whose token has expired. */
  closeExpired(): void {
    for (const socket of this.#ctx.getWebSockets()) if (socket.readyState === WebSocket.OPEN) this.verifySocket(socket)
  }

  /** Closes all sockets with a fault and clears the replay buffer. */
  closeAll(fault: Fault): void {
    this.#replayBuffer.clear()
    for (const socket of this.#ctx.getWebSockets()) this.#end(socket, fault)
  }

  /** Closes the sockets of a user's revoked tokens, and any sockets that are opened with these tokens later. */
  closeRevoked(user: string, newest: RevocationState): void {
    const known = this.#revokedByUser.get(user) ?? NO_REVOCATIONS
    if (newest.n >= known.n) this.#revokedByUser.set(user, newest)
    for (const socket of this.#ctx.getWebSockets()) this.verifySocket(socket)
  }

  /** Closes the sockets of a user with whom the session is no longer shared. */
  closeViewer(user: string, fault: Fault): void {
    for (const socket of this.#ctx.getWebSockets()) {
      const { claims } = getAttachment(socket)
      if (claims.sharedBy !== undefined && claims.user === user) this.#end(socket, fault)
    }
  }

  /** Completes a close that the client began, with the client's code, and stops waiting for a `hello`. */
  closeSocket(socket: WebSocket, code: number): void {
    this.#stopWaiting(socket)
    // An application may send only 1000 and codes from 3000 on.
    socket.close(code >= 3000 ? code : 1000)
  }

  /** Closes a socket with an error. Anything that its client still sends is ignored. */
  #end(socket: WebSocket, fault: Fault): void {
    this.sendFault(socket, fault)
    expireSocket(socket)
  }

  #awaitHello(socket: WebSocket): void {
    const timer = setTimeout(() => {
      this.#helloTimers.delete(socket)
      if (socket.readyState === WebSocket.OPEN) this.sendFault(socket, { reason: "hello_timeout" })
    }, this.#host.helloMs)
    this.#helloTimers.set(socket, timer)
  }

  #stopWaiting(socket: WebSocket): void {
    const timer = this.#helloTimers.get(socket)
    if (timer !== undefined) clearTimeout(timer)
    this.#helloTimers.delete(socket)
  }

  #sendHello(socket: WebSocket, epoch: string, seq: number, agent?: string): void {
    this.sendFrame(socket, { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq, agent })
  }

  #broadcast(frame: NumberedFrame, toWholeMessage: () => NumberedFrame): void {
    this.#replayBuffer.push(frame)
    for (const socket of this.#ctx.getWebSockets()) {
      const attachment = this.verifySocket(socket)
      if (attachment === null || attachment.last === null) continue
      if (isSocketBehind(attachment)) this.sendFault(socket, { reason: "socket_behind" })
      else if (attachment.live || frame.type === "message") sendNumbered(socket, attachment, frame)
      else if (frame.isSettled) sendNumbered(socket, attachment, toWholeMessage())
    }
  }
}

/** Sends a numbered frame that the socket does not have yet. Returns the socket's new attachment. */
function sendNumbered(socket: WebSocket, attachment: SocketAttachment, frame: NumberedFrame): SocketAttachment {
  if (frame.seq <= (attachment.last ?? 0)) return attachment
  let { unseenChars } = attachment
  for (const text of frameToTexts(frame, attachment.last ?? 0, attachment.live)) {
    sendText(socket, text)
    unseenChars += text.length
  }
  const updated = { ...attachment, last: frame.seq, unseen: attachment.unseen + 1, unseenChars }
  setAttachment(socket, updated)
  return updated
}

/** Sends text, or drops it if the socket is closing. The client resumes later. */
function sendText(socket: WebSocket, text: string): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(text)
}

/** Returns the fields from which a page displays, in the user's local time, when a budget resets. */
function describeBudget(fault: Fault): Pick<Extract<ServerFrame, { type: "error" }>, "budget" | "scope" | "resets"> {
  if (fault.reason !== "budget_exhausted") return {}
  const { budget, scope, resets } = fault
  return { budget, scope, ...(resets === null ? {} : { resets }) }
}
