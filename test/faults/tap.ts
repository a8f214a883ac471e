/**
 * tap.ts: listens to one socket and checks what law 6 says of it.
 *
 * Every numbered frame names the seq before it on this very socket, seqs only grow, and frames that come live have no gap.
 */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseServerFrame, type ServerFrame } from "../../shared/protocol/server-frame.ts"
import type { Rule } from "./violation.ts"

type Numbered = Extract<ServerFrame, { type: "message" | "ops" }>
type Welcome = Extract<ServerFrame, { type: "hello" }>
/** What a frame that asks for something is answered with. */
export type Answered = Extract<ServerFrame, { type: "ack" | "error" }>

export interface Tap {
  /** A frame that the client said. */
  sent(text: string): void
  /** A frame that it heard, as text; the parsed frame where it is one. */
  heard(text: string): ServerFrame | null
}

export interface TapDeps {
  readonly report: (rule: Rule, detail: string) => void
  /** An acknowledgement or a refusal came, and this is what it answers. */
  readonly onAnswer?: (asked: ClientFrame, answer: Answered) => void
}

/**
 * A server obeys the frames of one socket in their order and answers each before the next, so the answer to the n-th comes
 * n-th. A hello that nobody asked for tells of a new epoch; it comes only to a socket that was welcomed, and only once.
 */
export function createTap({ report, onAnswer = () => {} }: TapDeps): Tap {
  /** What was asked and not yet answered, oldest first. */
  const asked: ClientFrame[] = []
  /** The seq that this socket was last sent; null before a welcome, and between the word of a new epoch and the next one. */
  let last: number | null = null
  let epoch = ""
  /** The seq of the session when this socket was welcomed: up to here it catches up, from here on it is live. */
  let welcomed = 0
  /** Pieces of the present seq that have come. */
  let pieces = 0

  const welcome = (frame: Welcome): void => {
    const isTold = last !== null && frame.epoch !== epoch
    if (isTold) last = null
    else {
      const [hello] = asked
      if (hello?.type !== "hello") return report("answers_in_order", `a welcome, and ${hello?.type} was asked first`)
      asked.shift()
      last = hello.epoch === frame.epoch ? (hello.after ?? frame.seq) : frame.seq
    }
    epoch = frame.epoch
    welcomed = frame.seq
    pieces = 0
  }

  const answer = (frame: Answered): void => {
    const [first] = asked
    if (frame.id === undefined) {
      if (frame.type === "error" && frame.code === "internal") report("answered", "a frame met an internal error")
      if (first?.type === "hello" || (frame.type === "error" && frame.code === "internal")) asked.shift()
      return
    }
    const at = asked.findIndex((one) => idOf(one) === frame.id)
    if (at !== 0) report("answers_in_order", `${frame.id} is answered, and ${idOf(first)} was asked first`)
    const [own] = at < 0 ? [] : asked.splice(0, at + 1).slice(-1)
    if (own !== undefined) onAnswer(own, frame)
  }

  const checkNumbered = (frame: Numbered): void => {
    if (last === null) return report("seq_in_order", `a frame before the welcome: ${frame.seq}`)
    const isPiece = frame.pieces !== undefined && frame.pieces > 0
    if (frame.prev !== last) report("seq_in_order", `seq ${frame.seq} says prev ${frame.prev}, and ${last} was last`)
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
      if (frame.type === "hello" || idOf(frame) !== null) asked.push(frame)
    },
    heard(text) {
      const frame = parseServerFrame(text)
      if (frame?.type === "hello") welcome(frame)
      if (frame?.type === "ack" || frame?.type === "error") answer(frame)
      if (frame?.type === "message" || frame?.type === "ops") checkNumbered(frame)
      return frame
    },
  }
}

/** By which id a frame is answered; null: by none. */
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
