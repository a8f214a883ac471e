/**
 * replay-buffer.ts: the last frames of a session, kept in memory for clients that come back.
 *
 * Bounded by count and bytes. What it no longer holds is read from the store, whole messages then (DESIGN §6).
 */

import type { Op } from "../../shared/protocol/frame.ts"
import { RING_BYTES, RING_FRAMES } from "../../shared/limits.ts"

/** A numbered change before it is addressed to a socket. `body` is the frame's JSON after `"prev":n,`. */
export interface Numbered {
  readonly seq: number
  readonly type: "message" | "ops"
  /** Id of the message it is about. */
  readonly message: string
  readonly body: string
  /** Whether its message is over or waits for a person: what a client with `live: false` wants to know. */
  readonly ends: boolean
}

export interface Ring {
  push(frame: Numbered): void
  clear(): void
  /** All frames after `seq`, oldest first; null where some are gone. `now` is the newest seq of the session. */
  after(seq: number, now: number): readonly Numbered[] | null
}

export function createRing(maxFrames = RING_FRAMES, maxBytes = RING_BYTES): Ring {
  const frames: Numbered[] = []
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
    after(seq, now) {
      if (seq === now) return []
      const missed = frames.filter((frame) => frame.seq > seq)
      return missed[0]?.seq === seq + 1 ? missed : null
    },
  }
}

/** The part of an ops frame that is the same for every socket. */
export function opsBody(message: string, ops: readonly Op[]): string {
  return `"message":${JSON.stringify(message)},"ops":${JSON.stringify(ops)}}`
}
