/**
 * frame-handlers.ts: what each frame of a client sets in motion, and what the client is told of it.
 *
 * socket → parseClientFrame → OBEY → turns → ack, error
 */

import { type Fault, type Result, succeed } from "../../shared/fault.ts"
import { type ClientFrame, PONG_FRAME } from "../../shared/protocol/client-frame.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { AcceptedMessage, SendRequest } from "../turn/accept-message.ts"
import { readChangesSince } from "../socket/history-pages.ts"
import { type RevisionFrame, reviseMessage } from "../turn/message-versions.ts"
import type { LiveSession } from "./live-session.ts"
import type { Sockets } from "../socket/sockets.ts"

/** What a frame needs of the object that it came to. */
export interface FrameContext {
  readonly session: LiveSession
  readonly sockets: Sockets
  acceptMessage(request: SendRequest): Result<AcceptedMessage, Fault>
  cancelExchange(exchangeId: string): Result<number>
  /** Something was said: the list of sessions is to know. */
  reportActivity(text: string): void
  advanceTurns(): void
}

export function handleFrame(context: FrameContext, socket: WebSocket, frame: ClientFrame): void {
  const { session, sockets } = context
  switch (frame.type) {
    case "hello":
      return handleHello(context, socket, frame)
    case "send": {
      const accepted = context.acceptMessage(frame)
      if (!accepted.ok) return sockets.sendFault(socket, accepted.fault, frame.id)
      return sockets.sendFrame(socket, { type: "ack", id: frame.id, seq: accepted.value.seq })
    }
    case "seen":
      return sockets.acknowledgeSeen(socket, frame.seq)
    case "ping":
      // Only a ping that is not byte for byte the automatic one comes as far as here.
      return socket.send(PONG_FRAME)
    case "cancel":
      return sendResult(context, socket, frame.exchange_id, context.cancelExchange(frame.exchange_id))
    case "approve":
      sendResult(context, socket, frame.call_id, session.turns.decideApproval(frame.call_id, frame.decision))
      return context.advanceTurns()
    case "withdraw":
      return sendResult(context, socket, frame.id, session.turns.withdrawMessage(frame.message))
    case "retry":
    case "regenerate":
    case "edit":
    case "switch":
      return handleRevision(context, socket, frame)
  }
}

function handleRevision(context: FrameContext, socket: WebSocket, frame: RevisionFrame): void {
  const revised = reviseMessage(context.session, frame)
  sendResult(context, socket, frame.id, revised.ok ? succeed(revised.value.seq) : revised)
  if (revised.ok && !revised.value.duplicate && frame.type === "edit") context.reportActivity(frame.content)
  context.advanceTurns()
}

function sendResult({ sockets }: FrameContext, socket: WebSocket, id: string, result: Result<number>): void {
  if (result.ok) sockets.sendFrame(socket, { type: "ack", id, seq: result.value })
  else sockets.sendFault(socket, result.fault, id)
}

function handleHello(
  { session, sockets }: FrameContext,
  socket: WebSocket,
  frame: Extract<ClientFrame, { type: "hello" }>,
): void {
  if (frame.protocol !== PROTOCOL_VERSION && frame.protocol !== PROTOCOL_VERSION - 1) {
    return sockets.sendFault(socket, { reason: "protocol_unsupported", supported: PROTOCOL_VERSION })
  }
  const seq = session.lastSeq()
  const epoch = session.currentEpoch()
  if (frame.after !== undefined && frame.after > seq && frame.epoch === epoch) {
    return sockets.sendFault(socket, { reason: "frame_invalid", field: "after" })
  }
  // A client of another epoch throws its state away and reads history: there is nothing to resume.
  const after = frame.epoch === epoch ? (frame.after ?? null) : null
  const changesSince = (from: number) => readChangesSince(session.store, from)
  sockets.resumeSocket(socket, { epoch, seq, after, live: frame.live, changesSince })
}
