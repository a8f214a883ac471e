/**
 * socket-events.ts: opens sockets, and passes their frames to the live session.
 */

import { readClaims } from "../auth/verify-token.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { describeError, log } from "../platform/log.ts"
import { FRAME_ACCESS, getFrameId, isFrameAllowed } from "../socket/frame-access.ts"
import { readFrame } from "../socket/read-frame.ts"
import { handleFrame } from "./frame-handlers.ts"
import type { SessionLifecycle } from "./session-lifecycle.ts"
import { isReadOnly } from "../platform/rpc/claims.ts"

/**
 * Answers a WebSocket request. The Worker has already checked the token, as it does for any request; the owner or
 * viewer is checked here. The call doesn't wait for any other object (SPEC AU18).
 */
export function openSocket(lifecycle: SessionLifecycle, request: Request): Response {
  const claims = readClaims(request)
  const session = claims === null ? null : lifecycle.findReadable(claims)
  if (claims === null || session === null) return faultToResponse({ reason: "session_unknown" })
  const response = lifecycle.sockets.acceptSocket(claims)
  // The refresh stores a changed configuration, so for a read-only socket it is left to the owner's next turn.
  if (!isReadOnly(claims)) session.refreshAgentLater()
  return response
}

export function handleSocketMessage(lifecycle: SessionLifecycle, socket: WebSocket, data: string | ArrayBuffer): void {
  const { sockets } = lifecycle
  const attachment = sockets.verifySocket(socket)
  const session = lifecycle.current()
  if (attachment === null || session === null) return
  const flood = lifecycle.frameRates.countFrame(socket)
  if (flood !== null) return sockets.sendFault(socket, flood)
  const parsed = readFrame(data)
  if (!parsed.ok) return sockets.sendFault(socket, parsed.fault)
  const frame = parsed.value
  if (!attachment.isGreeted && frame.type !== "hello") return sockets.sendFault(socket, { reason: "hello_first" })
  if (!isFrameAllowed(frame, attachment.claims)) {
    return sockets.sendFault(socket, { reason: "scope_denied" }, getFrameId(frame))
  }
  const isWrite = FRAME_ACCESS[frame.type] === "write"
  if (isWrite && lifecycle.isHidden())
    return sockets.sendFault(socket, { reason: "session_unknown" }, getFrameId(frame))
  const limit = isWrite ? lifecycle.frameRates.countChange(attachment.claims) : null
  if (limit !== null) return sockets.sendFault(socket, limit, getFrameId(frame))
  try {
    session.withSeqRollback(() => handleFrame(session, socket, frame))
  } catch (error) {
    // The client resumes and sends the frame again.
    log("frame_error", { type: frame.type, error: describeError(error) })
    sockets.sendFault(socket, { reason: "internal" })
  }
}
