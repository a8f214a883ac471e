/**
 * frame-handlers.ts: what each frame of a client sets in motion, and what the client is told of it.
 *
 * socket → parseClientFrame → OBEY → turns → ack, error
 */

import { type Fault, type Result, succeed } from "../../shared/fault.ts"
import { type ClientFrame, PONG_FRAME } from "../../shared/protocol/frame.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { Accepted, SendRequest } from "../turn/accept-message.ts"
import { changedSince } from "../socket/history-pages.ts"
import { type Revision, revise } from "../turn/message-versions.ts"
import type { Room } from "./live-session.ts"
import type { Sockets } from "../socket/sockets.ts"

/** What a frame needs of the object that it came to. */
export interface Desk {
  readonly room: Room
  readonly sockets: Sockets
  accept(request: SendRequest): Result<Accepted, Fault>
  cancel(exchange: string): Result<number>
  /** Something was said: the list of sessions is to know. */
  touch(words: string): void
  advance(): void
}

export function obeyFrame(desk: Desk, socket: WebSocket, frame: ClientFrame): void {
  const { room, sockets } = desk
  switch (frame.type) {
    case "hello":
      return greet(desk, socket, frame)
    case "send": {
      const accepted = desk.accept(frame)
      if (!accepted.ok) return sockets.fault(socket, accepted.fault, frame.id)
      return sockets.reply(socket, { type: "ack", id: frame.id, seq: accepted.value.seq })
    }
    case "seen":
      return sockets.see(socket, frame.seq)
    case "ping":
      // Only a ping that is not byte for byte the automatic one comes as far as here.
      return socket.send(PONG_FRAME)
    case "cancel":
      return answer(desk, socket, frame.exchange_id, desk.cancel(frame.exchange_id))
    case "approve":
      answer(desk, socket, frame.call_id, room.turns.approve(frame.call_id, frame.decision))
      return desk.advance()
    case "withdraw":
      return answer(desk, socket, frame.id, room.turns.withdraw(frame.message))
    case "retry":
    case "regenerate":
    case "edit":
    case "switch":
      return reviseBy(desk, socket, frame)
  }
}

function reviseBy(desk: Desk, socket: WebSocket, frame: Revision): void {
  const revised = revise(desk.room, frame)
  answer(desk, socket, frame.id, revised.ok ? succeed(revised.value.seq) : revised)
  if (revised.ok && !revised.value.duplicate && frame.type === "edit") desk.touch(frame.content)
  desk.advance()
}

function answer({ sockets }: Desk, socket: WebSocket, id: string, result: Result<number>): void {
  if (result.ok) sockets.reply(socket, { type: "ack", id, seq: result.value })
  else sockets.fault(socket, result.fault, id)
}

function greet({ room, sockets }: Desk, socket: WebSocket, frame: Extract<ClientFrame, { type: "hello" }>): void {
  if (frame.protocol !== PROTOCOL_VERSION && frame.protocol !== PROTOCOL_VERSION - 1) {
    return sockets.fault(socket, { reason: "protocol_unsupported", speaks: PROTOCOL_VERSION })
  }
  const seq = room.lastSeq()
  const epoch = room.epoch()
  if (frame.after !== undefined && frame.after > seq && frame.epoch === epoch) {
    return sockets.fault(socket, { reason: "frame_invalid", field: "after" })
  }
  // A client of another epoch throws its state away and reads history: there is nothing to resume.
  const after = frame.epoch === epoch ? (frame.after ?? null) : null
  const since = (from: number) => changedSince(room.store, from)
  sockets.resume(socket, { epoch, seq, after, live: frame.live, since })
}
