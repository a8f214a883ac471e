/**
 * sockets.ts: who is connected, and what each of them has been sent.
 *
 * ops → FRAME → socket
 * Each socket's place (`last`) lives in its attachment, so it survives hibernation. Frames are made once and
 * addressed per socket: only `prev` differs. A socket whose token ran out is closed before anything is sent.
 */

import { type Fault, fail, faultToWire, type Result } from "../../shared/fault.ts"
import { type ClientFrame, parseClientFrame } from "../../shared/protocol/client-frame.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import type { ServerFrame } from "../../shared/protocol/server-frame.ts"
import {
  MAX_CLIENT_FRAME_BYTES,
  MAX_SERVER_FRAME_BYTES,
  MAX_UNSEEN_BYTES,
  PROTOCOL_VERSION,
  REPLAY_FRAMES,
} from "../../shared/limits.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { isRevoked, NO_REVOCATIONS } from "../auth/revocation.ts"
import { splitFrame } from "./frame-split.ts"
import { createReplayBuffer, type NumberedFrame, opsToFrameBody } from "./replay-buffer.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"

/** What a socket carries through hibernation. */
export interface SocketAttachment {
  readonly claims: Claims
  /** It said hello at least once. */
  readonly isGreeted: boolean
  /** The seq last sent on, or resumed by, this socket; null before its hello, and again when the epoch changed. */
  readonly last: number | null
  /** Numbered frames it was sent since it last said what it has seen. */
  readonly unseen: number
  /** What these came to, in UTF-16 code units. */
  readonly unseenChars: number
  /** false: whole messages only. */
  readonly live: boolean
}

export interface Sockets {
  acceptSocket(claims: Claims): Response
  /** A message begins, or changed as a whole. */
  sendMessage(stored: StoredMessage): void
  /** A running message changed; `stored` is what it is now. */
  sendOps(seq: number, ops: readonly Op[], stored: StoredMessage): void
  /** What was missed since `after`, then live. `since` reads it from the store where memory has it no more. */
  resumeSocket(socket: WebSocket, request: ResumeRequest): void
  /** Another version is active: every client is told the new epoch, and gets no numbered frame until its next hello. */
  announceEpoch(epoch: string, seq: number): void
  acknowledgeSeen(socket: WebSocket, seq: number): void
  sendFrame(socket: WebSocket, frame: ServerFrame): void
  sendFault(socket: WebSocket, fault: Fault, id?: string): void
  /** The socket's attachment, or null (and closed) where its token has run out or was revoked. */
  verifySocket(socket: WebSocket): SocketAttachment | null
  /** Closes all sockets with a fault, and forgets what was sent. */
  closeAll(fault: Fault): void
  /** Closes the sockets of revoked tokens, and from now on also those that come late. */
  closeRevoked(newest: RevocationState): void
}

export interface ResumeRequest {
  readonly epoch: string
  readonly seq: number
  readonly after: number | null
  readonly live: boolean
  /** Null where it is too much: the client reads history instead. */
  readonly changesSince: (after: number) => readonly StoredMessage[] | null
}

/** The subprotocol that we speak; the token travels beside it, never in a URL. */
export const SUBPROTOCOL = "cuecard.v1"

export function createSockets(ctx: DurableObjectState, now: () => number): Sockets {
  const replayBuffer = createReplayBuffer()
  /** In memory only: the directory lets no revoked token in, so this is for one that was on its way. */
  let revoked = NO_REVOCATIONS

  const setAttachment = (socket: WebSocket, attachment: SocketAttachment): void =>
    socket.serializeAttachment(attachment)
  // Our own attachment: `attach` wrote it.
  const getAttachment = (socket: WebSocket): SocketAttachment => socket.deserializeAttachment() as SocketAttachment

  const sendFrame = (socket: WebSocket, frame: ServerFrame): void => sendText(socket, JSON.stringify(frame))
  const sendFault = (socket: WebSocket, fault: Fault, id?: string): void => {
    const { code, text, close } = faultToWire(fault)
    sendFrame(socket, { type: "error", code, text, ...(id === undefined ? {} : { id }) })
    if (close !== null) socket.close(close, text)
  }
  /** A client that does not hang up may go on talking, also after this object slept and knows not why it was closed. */
  const expireSocket = (socket: WebSocket): void => {
    const attachment = getAttachment(socket)
    setAttachment(socket, { ...attachment, claims: { ...attachment.claims, expires: 0 } })
  }
  const verifySocket = (socket: WebSocket): SocketAttachment | null => {
    const attachment = getAttachment(socket)
    const { claims } = attachment
    const isExpired = claims.expires * 1000 <= now()
    if (!isExpired && !isRevoked(claims, revoked)) return attachment
    sendFault(socket, { reason: isExpired ? "token_expired" : "token_revoked" })
    expireSocket(socket)
    return null
  }

  /** Sends one numbered frame to one socket and moves its place. */
  const sendNumbered = (socket: WebSocket, attachment: SocketAttachment, frame: NumberedFrame): SocketAttachment => {
    if (frame.seq <= (attachment.last ?? 0)) return attachment
    let { unseenChars } = attachment
    for (const text of frameToTexts(frame, attachment)) {
      sendText(socket, text)
      unseenChars += text.length
    }
    const updated = { ...attachment, last: frame.seq, unseen: attachment.unseen + 1, unseenChars }
    setAttachment(socket, updated)
    return updated
  }
  const broadcastFrame = (frame: NumberedFrame, toWholeMessage: () => NumberedFrame): void => {
    replayBuffer.push(frame)
    for (const socket of ctx.getWebSockets()) {
      const attachment = verifySocket(socket)
      if (attachment === null || attachment.last === null) continue
      if (isSocketBehind(attachment)) {
        sendFault(socket, { reason: "socket_behind" })
        continue
      }
      if (attachment.live || frame.type === "message") sendNumbered(socket, attachment, frame)
      else if (frame.isSettled) sendNumbered(socket, attachment, toWholeMessage())
    }
  }

  return {
    sendFrame,
    sendFault,
    verifySocket,
    acceptSocket(claims) {
      const { 0: client, 1: server } = new WebSocketPair()
      ctx.acceptWebSocket(server)
      setAttachment(server, { claims, isGreeted: false, last: null, unseen: 0, unseenChars: 0, live: true })
      verifySocket(server)
      return new Response(null, { status: 101, webSocket: client, headers: { "sec-websocket-protocol": SUBPROTOCOL } })
    },
    closeAll(fault) {
      replayBuffer.clear()
      for (const socket of ctx.getWebSockets()) {
        sendFault(socket, fault)
        expireSocket(socket)
      }
    },
    closeRevoked(newest) {
      if (newest.n >= revoked.n) revoked = newest
      for (const socket of ctx.getWebSockets()) verifySocket(socket)
    },
    sendMessage(stored) {
      const frame = messageToFrame(stored)
      broadcastFrame(frame, () => frame)
    },
    sendOps(seq, ops, stored) {
      const { id, status } = stored.message
      const isSettled = isEnded(status) || status === "waiting"
      broadcastFrame({ seq, type: "ops", messageId: id, body: opsToFrameBody(id, ops), isSettled }, () =>
        messageToFrame(stored),
      )
    },
    resumeSocket(socket, { epoch, seq, after, live, changesSince: since }) {
      const from = after ?? seq
      const buffered = live ? replayBuffer.framesAfter(from, seq) : null
      const missed = buffered ?? since(from)?.map(messageToFrame) ?? null
      const before = getAttachment(socket)
      if (isSocketBehind(before)) return sendFault(socket, { reason: "socket_behind" })
      if (missed === null || sumBodyChars(missed) > MAX_UNSEEN_BYTES / 2) {
        return sendFault(socket, { reason: "frame_invalid", field: "after" })
      }
      let attachment: SocketAttachment = { ...before, isGreeted: true, last: from, live }
      setAttachment(socket, attachment)
      sendFrame(socket, { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq })
      for (const frame of missed) attachment = sendNumbered(socket, attachment, frame)
      // A client that comes back may have missed as many frames as there are: they count by their size alone.
      setAttachment(socket, { ...attachment, unseen: before.unseen })
    },
    announceEpoch(epoch, seq) {
      replayBuffer.clear()
      for (const socket of ctx.getWebSockets()) {
        const attachment = verifySocket(socket)
        if (attachment === null || attachment.last === null) continue
        setAttachment(socket, { ...attachment, last: null })
        sendFrame(socket, { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq })
      }
    },
    acknowledgeSeen(socket, seq) {
      const attachment = getAttachment(socket)
      const last = attachment.last ?? 0
      // Seqs have no gaps, so what lies between is at most so many frames.
      // Without live frames most seqs never come, so any word from it is a sign of life.
      const unseen = attachment.live ? Math.min(attachment.unseen, last - seq) : 0
      const unseenChars = unseen === 0 ? 0 : Math.ceil((attachment.unseenChars * unseen) / attachment.unseen)
      if (seq <= last) setAttachment(socket, { ...attachment, unseen, unseenChars })
    },
  }
}

/** More is on its way to this socket than it ought to be: it does not read. */
function isSocketBehind({ unseen, unseenChars }: SocketAttachment): boolean {
  return unseen >= REPLAY_FRAMES || unseenChars > MAX_UNSEEN_BYTES
}

function sumBodyChars(frames: readonly NumberedFrame[]): number {
  return frames.reduce((sum, { body }) => sum + body.length, 0)
}

function messageToFrame(stored: StoredMessage): NumberedFrame {
  const wire = messageToWire(stored.message)
  const body = JSON.stringify(wire).slice(1)
  return { seq: stored.seq, type: "message", messageId: wire.id, body, isSettled: isEnded(wire.status) }
}

/** One frame, addressed; a message over the limit as its header and pieces. */
function frameToTexts(frame: NumberedFrame, { last, live }: SocketAttachment): readonly string[] {
  const text = `{"type":"${frame.type}","seq":${frame.seq},"prev":${last ?? 0},${frame.body}`
  // A client that takes whole messages only gets each of them whole, however long.
  if (!live) return [text]
  // Four bytes are the most a code unit can come to; only what may be too large is measured.
  if (text.length * 4 <= MAX_SERVER_FRAME_BYTES) return [text]
  return splitFrame(text, MAX_SERVER_FRAME_BYTES)
}

/** A socket that is closing takes nothing; its client resumes. */
function sendText(socket: WebSocket, text: string): void {
  if (socket.readyState !== WebSocket.OPEN) return
  socket.send(text)
}

/**
 * A frame as it came in.
 *
 * Errors  `frame_malformed` (a binary one too), `frame_too_large`, and those of `parseClientFrame`.
 */
export function readFrame(data: string | ArrayBuffer): Result<ClientFrame, Fault> {
  if (typeof data !== "string") return fail({ reason: "frame_malformed" })
  const mayBeTooLarge = data.length > MAX_CLIENT_FRAME_BYTES / 4
  if (mayBeTooLarge && countUtf8Bytes(data) > MAX_CLIENT_FRAME_BYTES) {
    return fail({ reason: "frame_too_large", max: MAX_CLIENT_FRAME_BYTES })
  }
  return parseClientFrame(data)
}
