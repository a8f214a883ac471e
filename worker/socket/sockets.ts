/**
 * sockets.ts: who is connected, and what each of them has been sent.
 *
 * ops → FRAME → socket
 * Each socket's place (`last`) lives in its attachment, so it survives hibernation. Frames are made once and
 * addressed per socket: only `prev` differs. A socket whose token ran out is closed before anything is sent.
 */

import { type Fault, fail, faultToWire, type Result } from "../../shared/fault.ts"
import { type ClientFrame, type Op, parseClientFrame, type ServerFrame } from "../../shared/protocol/frame.ts"
import {
  MAX_CLIENT_FRAME_BYTES,
  MAX_SERVER_FRAME_BYTES,
  MAX_UNSEEN_BYTES,
  PROTOCOL_VERSION,
  RING_FRAMES,
} from "../../shared/limits.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { utf8Bytes } from "../../shared/truncate.ts"
import type { Claims } from "../auth/verify-token.ts"
import { isRevoked, NOTHING_REVOKED, type Revoked } from "../auth/revocation.ts"
import { piecesOf } from "./frame-split.ts"
import { createRing, type Numbered, opsBody } from "./replay-buffer.ts"
import type { StoredMessage } from "../store/row-codec.ts"

/** What a socket carries through hibernation. */
export interface Attachment {
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
  accept(claims: Claims): Response
  /** A message begins, or changed as a whole. */
  sendMessage(stored: StoredMessage): void
  /** A running message changed; `stored` is what it is now. */
  sendOps(seq: number, ops: readonly Op[], stored: StoredMessage): void
  /** What was missed since `after`, then live. `since` reads it from the store where memory has it no more. */
  resume(socket: WebSocket, hello: Resume): void
  /** Another version is active: every client is told the new epoch, and gets no numbered frame until its next hello. */
  renew(epoch: string, seq: number): void
  see(socket: WebSocket, seq: number): void
  reply(socket: WebSocket, frame: ServerFrame): void
  fault(socket: WebSocket, fault: Fault, id?: string): void
  /** The socket's attachment, or null (and closed) where its token has run out or was revoked. */
  attend(socket: WebSocket): Attachment | null
  /** Closes all sockets with a fault, and forgets what was sent. */
  dismiss(why: Fault): void
  /** Closes the sockets of revoked tokens, and from now on also those that come late. */
  revoke(newest: Revoked): void
}

export interface Resume {
  readonly epoch: string
  readonly seq: number
  readonly after: number | null
  readonly live: boolean
  /** Null where it is too much: the client reads history instead. */
  readonly since: (after: number) => readonly StoredMessage[] | null
}

/** The subprotocol that we speak; the token travels beside it, never in a URL. */
export const SUBPROTOCOL = "cuecard.v1"

export function createSockets(ctx: DurableObjectState, now: () => number): Sockets {
  const ring = createRing()
  /** In memory only: the directory lets no revoked token in, so this is for one that was on its way. */
  let revoked = NOTHING_REVOKED

  const attach = (socket: WebSocket, attachment: Attachment): void => socket.serializeAttachment(attachment)
  // Our own attachment: `attach` wrote it.
  const attachmentOf = (socket: WebSocket): Attachment => socket.deserializeAttachment() as Attachment

  const reply = (socket: WebSocket, frame: ServerFrame): void => put(socket, JSON.stringify(frame))
  const fault = (socket: WebSocket, reason: Fault, id?: string): void => {
    const { code, text, close } = faultToWire(reason)
    reply(socket, { type: "error", code, text, ...(id === undefined ? {} : { id }) })
    if (close !== null) socket.close(close, text)
  }
  /** A client that does not hang up may go on talking, also after this object slept and knows not why it was closed. */
  const expire = (socket: WebSocket): void => {
    const attachment = attachmentOf(socket)
    attach(socket, { ...attachment, claims: { ...attachment.claims, expires: 0 } })
  }
  const attend = (socket: WebSocket): Attachment | null => {
    const attachment = attachmentOf(socket)
    const { claims } = attachment
    const isLate = claims.expires * 1000 <= now()
    if (!isLate && !isRevoked(claims, revoked)) return attachment
    fault(socket, { reason: isLate ? "token_expired" : "token_revoked" })
    expire(socket)
    return null
  }

  /** Sends one numbered frame to one socket and moves its place. */
  const address = (socket: WebSocket, place: Attachment, frame: Numbered): Attachment => {
    if (frame.seq <= (place.last ?? 0)) return place
    let { unseenChars } = place
    for (const text of framesOf(frame, place)) {
      put(socket, text)
      unseenChars += text.length
    }
    const moved = { ...place, last: frame.seq, unseen: place.unseen + 1, unseenChars }
    attach(socket, moved)
    return moved
  }
  const broadcast = (frame: Numbered, whole: () => Numbered): void => {
    ring.push(frame)
    for (const socket of ctx.getWebSockets()) {
      const place = attend(socket)
      if (place === null || place.last === null) continue
      if (isBehind(place)) {
        fault(socket, { reason: "socket_behind" })
        continue
      }
      if (place.live || frame.type === "message") address(socket, place, frame)
      else if (frame.ends) address(socket, place, whole())
    }
  }

  return {
    reply,
    fault,
    attend,
    accept(claims) {
      const { 0: client, 1: server } = new WebSocketPair()
      ctx.acceptWebSocket(server)
      attach(server, { claims, isGreeted: false, last: null, unseen: 0, unseenChars: 0, live: true })
      attend(server)
      return new Response(null, { status: 101, webSocket: client, headers: { "sec-websocket-protocol": SUBPROTOCOL } })
    },
    dismiss(why) {
      ring.clear()
      for (const socket of ctx.getWebSockets()) {
        fault(socket, why)
        expire(socket)
      }
    },
    revoke(newest) {
      if (newest.n >= revoked.n) revoked = newest
      for (const socket of ctx.getWebSockets()) attend(socket)
    },
    sendMessage(stored) {
      const frame = numberedMessage(stored)
      broadcast(frame, () => frame)
    },
    sendOps(seq, ops, stored) {
      const { id, status } = stored.message
      const ends = isEnded(status) || status === "waiting"
      broadcast({ seq, type: "ops", message: id, body: opsBody(id, ops), ends }, () => numberedMessage(stored))
    },
    resume(socket, { epoch, seq, after, live, since }) {
      const from = after ?? seq
      const kept = live ? ring.after(from, seq) : null
      const missed = kept ?? since(from)?.map(numberedMessage) ?? null
      const before = attachmentOf(socket)
      if (isBehind(before)) return fault(socket, { reason: "socket_behind" })
      if (missed === null || sizeOf(missed) > MAX_UNSEEN_BYTES / 2) {
        return fault(socket, { reason: "frame_invalid", field: "after" })
      }
      let place: Attachment = { ...before, isGreeted: true, last: from, live }
      attach(socket, place)
      reply(socket, { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq })
      for (const frame of missed) place = address(socket, place, frame)
      // A client that comes back may have missed as many frames as there are: they count by their size alone.
      attach(socket, { ...place, unseen: before.unseen })
    },
    renew(epoch, seq) {
      ring.clear()
      for (const socket of ctx.getWebSockets()) {
        const place = attend(socket)
        if (place === null || place.last === null) continue
        attach(socket, { ...place, last: null })
        reply(socket, { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq })
      }
    },
    see(socket, seq) {
      const place = attachmentOf(socket)
      const last = place.last ?? 0
      // Seqs have no gaps, so what lies between is at most so many frames.
      // Without live frames most seqs never come, so any word from it is a sign of life.
      const unseen = place.live ? Math.min(place.unseen, last - seq) : 0
      const unseenChars = unseen === 0 ? 0 : Math.ceil((place.unseenChars * unseen) / place.unseen)
      if (seq <= last) attach(socket, { ...place, unseen, unseenChars })
    },
  }
}

/** More is on its way to this socket than it ought to be: it does not read. */
function isBehind({ unseen, unseenChars }: Attachment): boolean {
  return unseen >= RING_FRAMES || unseenChars > MAX_UNSEEN_BYTES
}

function sizeOf(frames: readonly Numbered[]): number {
  return frames.reduce((sum, { body }) => sum + body.length, 0)
}

function numberedMessage(stored: StoredMessage): Numbered {
  const wire = messageToWire(stored.message)
  const body = JSON.stringify(wire).slice(1)
  return { seq: stored.seq, type: "message", message: wire.id, body, ends: isEnded(wire.status) }
}

/** One frame, addressed; a message over the limit as its header and pieces. */
function framesOf(frame: Numbered, { last, live }: Attachment): readonly string[] {
  const text = `{"type":"${frame.type}","seq":${frame.seq},"prev":${last ?? 0},${frame.body}`
  // A client that takes whole messages only gets each of them whole, however long.
  if (!live) return [text]
  // Four bytes are the most a code unit can come to; only what may be too large is measured.
  if (text.length * 4 <= MAX_SERVER_FRAME_BYTES) return [text]
  return piecesOf(text, MAX_SERVER_FRAME_BYTES)
}

/** A socket that is closing takes nothing; its client resumes. */
function put(socket: WebSocket, text: string): void {
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
  const isLong = data.length > MAX_CLIENT_FRAME_BYTES / 4
  if (isLong && utf8Bytes(data) > MAX_CLIENT_FRAME_BYTES) {
    return fail({ reason: "frame_too_large", max: MAX_CLIENT_FRAME_BYTES })
  }
  return parseClientFrame(data)
}
