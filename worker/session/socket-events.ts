/**
 * socket-events.ts: opens sockets, and passes their frames to the live session.
 */

import { readClaims } from "../auth/verify-token.ts"
import type { Env } from "../env.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { describeError, log } from "../platform/log.ts"
import { getFrameId, isFrameAllowed } from "../socket/frame-access.ts"
import { readFrame } from "../socket/read-frame.ts"
import { handleFrame } from "./frame-handlers.ts"
import type { SessionLifecycle } from "./session-lifecycle.ts"
import { isReadOnly } from "../platform/rpc/claims.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"

/** Answers a WebSocket request. The Worker has verified the token; the owner or viewer is checked here. */
export async function openSocket(lifecycle: SessionLifecycle, env: Env, request: Request): Promise<Response> {
  const claims = readClaims(request)
  const session = claims === null ? null : lifecycle.findReadable(claims)
  if (claims === null || session === null) return faultToResponse({ reason: "session_unknown" })
  const [admitted] = await Promise.all([
    // Before the socket is accepted: from this call on the directory reports revocations to this object (SPEC AU8).
    directoryStub(env, claims).authorizeSocket(claims, session.row.id),
    // Writes a changed configuration, so a socket that only reads leaves it to the next turn's owner.
    isReadOnly(claims) ? null : session.refreshAgent(),
  ])
  if (!admitted.ok) return faultToResponse(admitted.fault)
  // The session may have been erased in the meantime, or is no longer shared.
  if (lifecycle.findReadable(claims) !== session) return faultToResponse({ reason: "session_unknown" })
  return lifecycle.sockets.acceptSocket(claims)
}

export function handleSocketMessage(lifecycle: SessionLifecycle, socket: WebSocket, data: string | ArrayBuffer): void {
  const { sockets } = lifecycle
  const attachment = sockets.verifySocket(socket)
  const session = lifecycle.current()
  if (attachment === null || session === null) return
  const parsed = readFrame(data)
  if (!parsed.ok) return sockets.sendFault(socket, parsed.fault)
  const frame = parsed.value
  if (!attachment.isGreeted && frame.type !== "hello") return sockets.sendFault(socket, { reason: "hello_first" })
  if (!isFrameAllowed(frame, attachment.claims)) {
    return sockets.sendFault(socket, { reason: "scope_denied" }, getFrameId(frame))
  }
  try {
    session.withSeqRollback(() => handleFrame(session, socket, frame))
  } catch (error) {
    // The client resumes and sends again.
    log("frame_error", { type: frame.type, error: describeError(error) })
    sockets.sendFault(socket, { reason: "internal" })
  }
}
