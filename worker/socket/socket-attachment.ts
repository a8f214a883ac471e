/**
 * socket-attachment.ts: the state of one socket. It is stored as the socket's attachment, which survives hibernation.
 */

import { MAX_UNSEEN_BYTES, REPLAY_FRAMES } from "../../shared/limits.ts"
import type { Claims } from "../platform/rpc/claims.ts"

export interface SocketAttachment {
  readonly claims: Claims
  /** Whether the client has sent `hello`. */
  readonly isGreeted: boolean
  /** Whether the user's directory knows of the socket (SPEC AU18). */
  readonly isRegistered: boolean
  /** The seq last sent on, or resumed by, this socket; null before its `hello` and after a change of epoch. */
  readonly last: number | null
  /** How many numbered frames were sent since the client last acknowledged one. */
  readonly unseen: number
  /** Size of these frames, in UTF-16 code units. */
  readonly unseenChars: number
  /** False if the client receives only whole messages. */
  readonly live: boolean
}

export function createAttachment(claims: Claims): SocketAttachment {
  return { claims, isGreeted: false, isRegistered: false, last: null, unseen: 0, unseenChars: 0, live: true }
}

export function setAttachment(socket: WebSocket, attachment: SocketAttachment): void {
  socket.serializeAttachment(attachment)
}

export function getAttachment(socket: WebSocket): SocketAttachment {
  // Only `setAttachment` writes attachments.
  return socket.deserializeAttachment() as SocketAttachment
}

/**
 * Marks the socket's token as expired. A client may keep sending on a closed socket, and after hibernation only the
 * attachment shows why the socket was closed.
 */
export function expireSocket(socket: WebSocket): void {
  const attachment = getAttachment(socket)
  setAttachment(socket, { ...attachment, claims: { ...attachment.claims, expires: 0 } })
}

/** Whether the client has too much left to acknowledge (SPEC WS12). */
export function isSocketBehind({ unseen, unseenChars }: SocketAttachment): boolean {
  return unseen >= REPLAY_FRAMES || unseenChars > MAX_UNSEEN_BYTES
}

/** Returns the attachment after the client has seen everything up to `seq`. */
export function acknowledgeUpTo(attachment: SocketAttachment, seq: number): SocketAttachment {
  const last = attachment.last ?? 0
  if (seq > last) return attachment
  // Seqs have no gaps, so at most `last - seq` frames are unseen. A client without live frames never receives most
  // seqs, so any acknowledgement from it counts for all frames.
  const unseen = attachment.live ? Math.min(attachment.unseen, last - seq) : 0
  const unseenChars = unseen === 0 ? 0 : Math.ceil((attachment.unseenChars * unseen) / attachment.unseen)
  return { ...attachment, unseen, unseenChars }
}
