/**
 * replay-buffer.ts: the last frames of a session, kept in memory for clients that come back.
 *
 * Bounded by count and bytes. What it no longer holds is read from the store, whole messages then (DESIGN §6).
 */

import type { Op } from "../../shared/protocol/segment.ts"
import { REPLAY_BYTES, REPLAY_FRAMES } from "../../shared/limits.ts"

/** A numbered change before it is addressed to a socket. `body` is the frame's JSON after `"prev":n,`. */
export interface NumberedFrame {
  readonly seq: number
  readonly type: "message" | "ops"
  /** Id of the message it is about. */
  readonly messageId: string
  readonly body: string
  /** Whether its message is over or waits for a person: what a client with `live: false` wants to know. */
  readonly isSettled: boolean
}

export interface ReplayBuffer {
  push(frame: NumberedFrame): void
  clear(): void
  /** All frames after `seq`, oldest first; null where some are gone. `now` is the newest seq of the session. */
  framesAfter(seq: number, newestSeq: number): readonly NumberedFrame[] | null
}

export function createReplayBuffer(maxFrames = REPLAY_FRAMES, maxBytes = REPLAY_BYTES): ReplayBuffer {
  const frames: NumberedFrame[] = []
  let bytes = 0
  return {
    push(frame) {
      frames.push(frame)
      bytes += frame.body.length
      while (frames.length > maxFrames || bytes > maxBytes) bytes -= frames.shift()?.body.length ?? bytes
    },
    clear() {
      frames.length = 0
      bytes = 0
    },
    framesAfter(seq, newestSeq) {
      if (seq === newestSeq) return []
      const missed = frames.filter((frame) => frame.seq > seq)
      return missed[0]?.seq === seq + 1 ? missed : null
    },
  }
}

/** The part of an ops frame that is the same for every socket. */
export function opsToFrameBody(messageId: string, ops: readonly Op[]): string {
  return `"message":${JSON.stringify(messageId)},"ops":${JSON.stringify(ops)}}`
}
