/**
 * replay-buffer.ts: keeps the newest frames of a session in memory, for clients that reconnect.
 *
 * The buffer is bounded by count and size. Clients that missed more frames receive whole messages from the store (SPEC
 * WS7).
 */

import { REPLAY_BYTES, REPLAY_FRAMES } from "../../shared/limits.ts"
import type { NumberedFrame } from "./numbered-frame.ts"

export interface ReplayBuffer {
  push(frame: NumberedFrame): void
  clear(): void
  /**
   * Returns all frames after `seq`, oldest first; null if some are no longer buffered. `newestSeq` is the session's
   * newest seq.
   */
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
