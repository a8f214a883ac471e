/** numbered-frame.ts: numbered changes, each serialised once for all sockets. Only `prev` differs between sockets. */

import { MAX_SERVER_FRAME_BYTES } from "../../shared/limits.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { splitFrame } from "./frame-split.ts"
import type { Op } from "../../shared/protocol/segment.ts"

export interface NumberedFrame {
  readonly seq: number
  readonly type: "message" | "ops"
  /** The frame's JSON after `"prev":n,`. */
  readonly body: string
  /**
   * Whether the frame's message has ended or is waiting for the user. Clients with `live: false` receive only settled
   * messages.
   */
  readonly isSettled: boolean
}

export function messageToFrame(stored: StoredMessage): NumberedFrame {
  const wire = messageToWire(stored.message)
  return {
    seq: stored.seq,
    type: "message",
    body: JSON.stringify(wire).slice(1),
    isSettled: isEnded(wire.status),
  }
}

/** Serialises ops. The third parameter is the message after the ops. */
export function opsToFrame(seq: number, ops: readonly Op[], { message: { id, status } }: StoredMessage): NumberedFrame {
  return {
    seq,
    type: "ops",
    body: `"message":${JSON.stringify(id)},"ops":${JSON.stringify(ops)}}`,
    isSettled: isEnded(status) || status === "waiting",
  }
}

export function sumBodyChars(frames: readonly NumberedFrame[]): number {
  return frames.reduce((sum, { body }) => sum + body.length, 0)
}

/** Returns the frame as JSON for one socket, as several fragments if it is over the limit (SPEC WS5). */
export function frameToTexts(frame: NumberedFrame, prev: number, live: boolean): readonly string[] {
  const text = `{"type":"${frame.type}","seq":${frame.seq},"prev":${prev},${frame.body}`
  // A client that accepts only whole messages gets each message in one frame, regardless of its size.
  if (!live) return [text]
  // A code unit has at most four bytes, so short text need not be measured.
  if (text.length * 4 <= MAX_SERVER_FRAME_BYTES) return [text]
  return splitFrame(text, MAX_SERVER_FRAME_BYTES)
}
