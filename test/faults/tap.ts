/**
 * tap.ts: listens to one socket and checks what law 6 says of it.
 *
 * Every numbered frame names the seq before it on this very socket, seqs only grow, and frames that come live have no gap.
 */

import { type ClientFrame, parseServerFrame, type ServerFrame } from "../../shared/frame.ts"
import type { Rule } from "./violation.ts"

type Numbered = Extract<ServerFrame, { type: "message" | "ops" }>
type Welcome = Extract<ServerFrame, { type: "hello" }>
type Hello = Extract<ClientFrame, { type: "hello" }>

export interface Tap {
  /** A frame that the client said. */
  sent(text: string): void
  /** A frame that it heard, as text; the parsed frame where it is one. */
  heard(text: string): ServerFrame | null
}

export function createTap(report: (rule: Rule, detail: string) => void): Tap {
  const hellos: Hello[] = []
  /** The seq that this socket was last sent; null before its first welcome. */
  let last: number | null = null
  /** The seq of the session when this socket was welcomed: up to here it catches up, from here on it is live. */
  let welcomed = 0
  /** Pieces of the present seq that have come. */
  let pieces = 0
  /** A new epoch crossed a hello: which of them is answered cannot be told, so the next frame's word is taken for it. */
  let isCrossed = false

  const welcome = ({ epoch, seq }: Welcome): void => {
    const [asked] = hellos
    if (asked === undefined) {
      // Told of a new epoch: nothing numbered comes before the next hello.
      last = null
    } else if (asked.epoch === epoch && !isCrossed) {
      hellos.shift()
      last = asked.after ?? seq
    } else {
      isCrossed = true
      last = null
    }
    welcomed = seq
    pieces = 0
  }

  const checkNumbered = (frame: Numbered): void => {
    if (last === null && !isCrossed) return report("seq_in_order", `a frame before the welcome: ${frame.seq}`)
    last ??= frame.prev
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
      if (frame.type === "hello") hellos.push(frame)
    },
    heard(text) {
      const frame = parseServerFrame(text)
      if (frame?.type === "hello") welcome(frame)
      if (frame?.type === "message" || frame?.type === "ops") checkNumbered(frame)
      return frame
    },
  }
}
