/**
 * greet.ts: what a client's hello is answered with: what it missed, or why it cannot go on.
 */

import type { ClientFrame } from "../../shared/frame.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { changedSince } from "./history.ts"
import type { Room } from "./room.ts"
import type { Sockets } from "./sockets.ts"

export function greet(
  room: Room,
  sockets: Sockets,
  socket: WebSocket,
  frame: Extract<ClientFrame, { type: "hello" }>,
): void {
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
