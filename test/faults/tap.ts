/**
 * tap.ts: observes one socket and checks the order of its frames.
 *
 * Every numbered frame must name the previous seq of this socket, seqs must only increase, and live frames must have no
 * gaps.
 */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseServerFrame, type ServerFrame } from "../../shared/protocol/server-frame.ts"
import type { Rule } from "./violation.ts"

type Numbered = Extract<ServerFrame, { type: "message" | "ops" }>
type Welcome = Extract<ServerFrame, { type: "hello" }>
/** The answer to a client frame. */
export type Answered = Extract<ServerFrame, { type: "ack" | "error" }>

export interface Tap {
  /** Handles a frame from the client. */
  sent(text: string): void
  /** Handles a frame from the server, given as text. Returns the parsed frame, or null if the frame is invalid. */
  received(text: string): ServerFrame | null
}

export interface TapDeps {
  readonly report: (rule: Rule, detail: string) => void
  /** Called for an acknowledgement or a refusal, with the frame to which it responds. */
  readonly onAnswer?: (unanswered: ClientFrame, answer: Answered) => void
}

/**
 * Creates a tap. A server must handle the frames of one socket in order and answer each frame before the next, so the
 * n-th answer belongs to the n-th frame. An unsolicited hello announces a new epoch. The server may send it only once,
 * and only to a socket that has already had a hello.
 */
export function createTap({ report, onAnswer = () => {} }: TapDeps): Tap {
  /** Frames that have not been answered yet, oldest first. */
  const unanswered: ClientFrame[] = []
  /**
   * The last seq on this socket; null before the first hello, and from the announcement of a new epoch until the next
   * hello.
   */
  let last: number | null = null
  let epoch = ""
  /**
   * The session's seq when this socket's hello was answered. Frames up to this seq are a replay; later frames are live.
   */
  let welcomed = 0
  /** Number of received fragments of the current seq. */
  let pieces = 0

  const welcome = (frame: Welcome): void => {
    const isNewEpoch = last !== null && frame.epoch !== epoch
    if (isNewEpoch) last = null
    else {
      const [hello] = unanswered
      if (hello?.type !== "hello")
        return report("answers_in_order", `a hello is answered before an earlier ${hello?.type}`)
      unanswered.shift()
      last = hello.epoch === frame.epoch ? (hello.after ?? frame.seq) : frame.seq
    }
    epoch = frame.epoch
    welcomed = frame.seq
    pieces = 0
  }

  const answer = (frame: Answered): void => {
    const [first] = unanswered
    if (frame.id === undefined) {
      if (frame.type === "error" && frame.code === "internal") report("answered", "a frame caused an internal error")
      if (first?.type === "hello" || (frame.type === "error" && frame.code === "internal")) unanswered.shift()
      return
    }
    const at = unanswered.findIndex((sent) => idOf(sent) === frame.id)
    if (at !== 0) report("answers_in_order", `${frame.id} is answered before ${idOf(first)}`)
    const [own] = at < 0 ? [] : unanswered.splice(0, at + 1).slice(-1)
    if (own !== undefined) onAnswer(own, frame)
  }

  const checkNumbered = (frame: Numbered): void => {
    if (last === null) return report("seq_in_order", `a frame before the server's hello: ${frame.seq}`)
    const isPiece = frame.pieces !== undefined && frame.pieces > 0
    if (frame.prev !== last)
      report("seq_in_order", `seq ${frame.seq} has prev ${frame.prev}, but the last seq was ${last}`)
    if (frame.seq <= last) report("seq_in_order", `seq ${frame.seq} after ${last}`)
    const isLive = frame.seq > welcomed
    if (isLive && frame.seq !== Math.max(last, welcomed) + 1) {
      report("seq_in_order", `live seq ${frame.seq} after ${last}, welcomed at ${welcomed}`)
    }
    if (isPiece && frame.type === "ops") {
      pieces += 1
      if (frame.piece !== pieces) report("seq_in_order", `piece ${frame.piece} of seq ${frame.seq}, want ${pieces}`)
    }
    if (isPiece && (frame.type === "message" || frame.piece !== frame.pieces)) return
    pieces = 0
    last = frame.seq
  }
  return {
    sent(text) {
      const frame = JSON.parse(text) as ClientFrame
      if (frame.type === "hello" || idOf(frame) !== null) unanswered.push(frame)
    },
    received(text) {
      const frame = parseServerFrame(text)
      if (frame?.type === "hello") welcome(frame)
      if (frame?.type === "ack" || frame?.type === "error") answer(frame)
      if (frame?.type === "message" || frame?.type === "ops") checkNumbered(frame)
      return frame
    },
  }
}

/** Returns the id that the answer to a frame must carry, or null if that answer carries none. */
function idOf(frame: ClientFrame | undefined): string | null {
  switch (frame?.type) {
    case "send":
    case "withdraw":
    case "retry":
    case "regenerate":
    case "edit":
    case "switch":
      return frame.id
    case "cancel":
      return frame.exchange_id
    case "approve":
      return frame.call_id
    default:
      return null
  }
}
