/**
 * frame-handlers.ts: handles each type of client frame.
 *
 * The response to a frame with an id is `ack` or `error`.
 */

import { type Result, succeed } from "../../shared/fault.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { readChangesSince } from "../socket/history-pages.ts"
import { type RevisionFrame, reviseMessage } from "../turn/message-versions.ts"
import { describeError, log } from "../platform/log.ts"
import type { AcceptedMessage, SendRequest } from "../platform/rpc/session-types.ts"
import { GENERAL_AGENT_NAME } from "../settings/agent-config.ts"
import { createTraceId } from "../telemetry/trace-id.ts"
import type { LiveSession } from "./live-session.ts"
import type { ActionClick } from "../../shared/protocol/cards/card-action.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { PONG_FRAME } from "../../shared/protocol/server-frame.ts"

type ClickFrame = SendRequest & { readonly action: ActionClick }

export function handleFrame(session: LiveSession, socket: WebSocket, frame: ClientFrame): void {
  const { sockets, turns } = session
  switch (frame.type) {
    case "hello":
      return handleHello(session, socket, frame)
    case "send":
      if (frame.action !== undefined) return void handleClick(session, socket, { ...frame, action: frame.action })
      return whenAdmitted(session, socket, frame.id, (trace) => {
        const accepted = session.acceptMessage(frame, trace)
        sendResult(session, socket, frame.id, accepted.ok ? succeed(accepted.value.seq) : accepted, trace)
      })
    case "seen":
      return sockets.acknowledgeSeen(socket, frame.seq)
    case "ping":
      // The platform answers a ping that equals PING_FRAME byte for byte. Only other pings arrive here.
      return socket.send(PONG_FRAME)
    case "cancel":
      return afterAdmission(session, socket, frame.exchange_id, () =>
        sendResult(session, socket, frame.exchange_id, session.cancelTurn(frame.exchange_id)),
      )
    case "approve":
      sendResult(session, socket, frame.call_id, turns.decideApproval(frame.call_id, frame.decision))
      return session.advance()
    case "withdraw":
      return afterAdmission(session, socket, frame.message, () =>
        sendResult(session, socket, frame.id, turns.withdrawMessage(frame.message)),
      )
    case "retry":
    case "regenerate":
    case "edit":
      return whenAdmitted(session, socket, frame.id, () => handleRevision(session, socket, frame))
    case "switch":
      return handleRevision(session, socket, frame)
  }
}

/** Loads the card of a click. Returns a function that creates the click's message. */
async function loadClick(session: LiveSession, frame: ClickFrame) {
  const click = await import("./actions/card-click.ts")
  return await click.loadClick(session, frame)
}

/** Accepts a click on a card once the card's template is loaded. */
async function handleClick(session: LiveSession, socket: WebSocket, frame: ClickFrame): Promise<void> {
  await handleLater(session, socket, loadClick(session, frame), (makeMessage) =>
    whenAdmitted(session, socket, frame.id, (trace) => {
      const created = makeMessage()
      const accepted = created.ok ? session.acceptMessage(created.value, trace) : created
      sendResult(session, socket, frame.id, accepted.ok ? succeed(accepted.value.seq) : accepted, trace)
    }),
  )
}

/**
 * Accepts a message if the budgets allow it. Errors: `budget_exhausted`, `budget_unchecked`, those of `acceptMessage`.
 */
export async function sendMessage(
  session: LiveSession,
  request: SendRequest,
  trace = createTraceId(),
): Promise<Result<AcceptedMessage>> {
  // Without a socket, nothing else would pick up a changed configuration.
  await session.gate.refreshView()
  const { action } = request
  const makeMessage = action === undefined ? null : await loadClick(session, { ...request, action })
  const admitted = await checkBudget(session, request.id)
  if (admitted.ok) {
    const accepted = session.withSeqRollback(() => {
      const created = makeMessage === null ? succeed(request) : makeMessage()
      return created.ok ? session.acceptMessage(created.value, trace) : created
    })
    await session.gate.giveBack()
    return accepted
  }
  session.log("message_refused", { exchange: request.id, trace, code: admitted.fault.reason })
  return admitted
}

/**
 * Whether the budgets admit a frame that begins a turn. Repeated frames, and messages that will be queued, are always
 * admitted. Returns a promise only if it has to call the directory.
 */
function checkBudget({ turns, store, gate }: LiveSession, id: string): Result<null> | Promise<Result<null>> {
  return gate.canBeginNow() || turns.isActive() || store.findById(id) !== null ? succeed(null) : gate.check()
}

/** Handles a frame that begins a turn, either at once or when the directory has replied. */
function whenAdmitted(session: LiveSession, socket: WebSocket, id: string, handle: (trace: string) => void): void {
  const trace = createTraceId()
  const handleChecked = (admitted: Result<null>): void => {
    if (admitted.ok) {
      handle(trace)
      // If the frame was refused after all, no turn has begun.
      void session.gate.giveBack()
      return
    }
    session.log("message_refused", { exchange: id, trace, code: admitted.fault.reason })
    sendResult(session, socket, id, admitted, trace)
  }
  // A socket may stay open for a long time, so the configuration may have changed since it was opened.
  void session.gate.refreshView()
  const admitted = checkBudget(session, id)
  if (!(admitted instanceof Promise)) return handleChecked(admitted)
  const known = waiting.get(session) ?? new Map<string, Promise<void>>()
  waiting.set(session, known)
  const handled = handleLater(session, socket, admitted, handleChecked).finally(() => known.delete(id))
  known.set(id, handled)
}

/** For each session, the messages that are waiting for the directory's reply, keyed by id. */
const waiting = new WeakMap<LiveSession, Map<string, Promise<void>>>()

/** Handles a frame about a message, either at once or when the message has been handled. */
function afterAdmission(session: LiveSession, socket: WebSocket, id: string, handle: () => void): void {
  const handled = waiting.get(session)?.get(id)
  if (handled === undefined) handle()
  else void handleLater(session, socket, handled, handle)
}

/** Handles a frame when `awaited` has resolved. Never rejects. */
async function handleLater<T>(
  session: LiveSession,
  socket: WebSocket,
  awaited: Promise<T>,
  handle: (value: T) => void,
): Promise<void> {
  try {
    const value = await awaited
    session.withSeqRollback(() => handle(value))
  } catch (error) {
    // The client resumes and sends the frame again.
    log("frame_error", { type: "later", error: describeError(error) })
    session.sockets.sendFault(socket, { reason: "internal" })
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
  const { name } = session.agentView.self
  const agent = name === GENERAL_AGENT_NAME ? undefined : name
  sockets.resumeSocket(socket, { epoch, seq, after, live: frame.live, agent, changesSince })
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
