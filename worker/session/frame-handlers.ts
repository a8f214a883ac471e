/**
 * frame-handlers.ts: handles each type of client frame.
 *
 * Frames with an id are answered with `ack` or `error`.
 */

import { type Result, succeed } from "../../shared/fault.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { readChangesSince } from "../socket/history-pages.ts"
import { type RevisionFrame, reviseMessage } from "../turn/message-versions.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import type { LiveSession } from "./live-session.ts"
import { type ClientFrame, PONG_FRAME } from "../../shared/protocol/client-frame.ts"

export function handleFrame(session: LiveSession, socket: WebSocket, frame: ClientFrame): void {
  const { sockets, turns } = session
  switch (frame.type) {
    case "hello":
      return handleHello(session, socket, frame)
    case "send": {
      const trace = createTraceId()
      const accepted = session.acceptMessage(frame, trace)
      return sendResult(session, socket, frame.id, accepted.ok ? succeed(accepted.value.seq) : accepted, trace)
    }
    case "seen":
      return sockets.acknowledgeSeen(socket, frame.seq)
    case "ping":
      // The platform answers a ping that equals PING_FRAME byte for byte. Only other pings arrive here.
      return socket.send(PONG_FRAME)
    case "cancel":
      return sendResult(session, socket, frame.exchange_id, session.cancelTurn(frame.exchange_id))
    case "approve":
      sendResult(session, socket, frame.call_id, turns.decideApproval(frame.call_id, frame.decision))
      return session.advance()
    case "withdraw":
      return sendResult(session, socket, frame.id, turns.withdrawMessage(frame.message))
    case "retry":
    case "regenerate":
    case "edit":
    case "switch":
      return handleRevision(session, socket, frame)
  }
}

function handleHello(session: LiveSession, socket: WebSocket, frame: Extract<ClientFrame, { type: "hello" }>): void {
  const { sockets, store, epoch, lastSeq: seq } = session
  if (frame.protocol !== PROTOCOL_VERSION && frame.protocol !== PROTOCOL_VERSION - 1) {
    return sockets.sendFault(socket, { reason: "protocol_unsupported", supported: PROTOCOL_VERSION })
  }
  if (frame.after !== undefined && frame.after > seq && frame.epoch === epoch) {
    return sockets.sendFault(socket, { reason: "frame_invalid", field: "after" })
  }
  // A client with another epoch discards its state and reads history, so there is nothing to resume.
  const after = frame.epoch === epoch ? (frame.after ?? null) : null
  const changesSince = (from: number) => readChangesSince(store, from)
  sockets.resumeSocket(socket, { epoch, seq, after, live: frame.live, changesSince })
}

function handleRevision(session: LiveSession, socket: WebSocket, frame: RevisionFrame): void {
  const revised = reviseMessage(session, frame)
  sendResult(session, socket, frame.id, revised.ok ? succeed(revised.value.seq) : revised)
  if (revised.ok && !revised.value.duplicate && frame.type === "edit") {
    session.reportActivity(frame.content, Date.now())
  }
  session.advance()
}

function sendResult(
  { sockets }: LiveSession,
  socket: WebSocket,
  id: string,
  result: Result<number>,
  trace?: string,
): void {
  if (result.ok) sockets.sendFrame(socket, { type: "ack", id, seq: result.value })
  else sockets.sendFault(socket, result.fault, id, trace)
}
