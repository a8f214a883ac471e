/** frame-access.ts: the access that each client frame needs. Pure. */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { type Claims, isReadOnly } from "../platform/rpc/claims.ts"

/**
 * `read`: allowed for everyone who may open the socket. `write`: allowed for the session's owner, unless their role is
 * `viewer`.
 */
export const FRAME_ACCESS: Readonly<Record<ClientFrame["type"], "read" | "write">> = {
  hello: "read",
  seen: "read",
  ping: "read",
  send: "write",
  cancel: "write",
  approve: "write",
  withdraw: "write",
  retry: "write",
  regenerate: "write",
  edit: "write",
  switch: "write",
}

export function isFrameAllowed({ type }: ClientFrame, claims: Claims): boolean {
  return FRAME_ACCESS[type] === "read" || !isReadOnly(claims)
}

/** Returns the id that the server's response to a frame contains; undefined for frames that get no response. */
export function getFrameId(frame: ClientFrame): string | undefined {
  switch (frame.type) {
    case "hello":
    case "seen":
    case "ping":
      return undefined
    case "cancel":
      return frame.exchange_id
    case "approve":
      return frame.call_id
    case "send":
    case "withdraw":
    case "retry":
    case "regenerate":
    case "edit":
    case "switch":
      return frame.id
  }
}
