/**
 * session-socket.ts: the connection of one open session, from the page's side.
 *
 * link → hello {epoch, after} → frames → store
 * Numbered frames are applied exactly once and in order (law 6): seq ≤ last is dropped, prev ≠ last is a gap.
 * Source: SPEC SO1–SO4, SO8.
 */

import {
  apply,
  type ClientFrame,
  type MessageFrame,
  type OpsFrame,
  parseServerFrame,
  type ServerFrame,
} from "../../shared/protocol/frame.ts"
import { PROTOCOL_VERSION, SEEN_EVERY_BYTES, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import { Link, type LinkState, type SocketDeps } from "./socket-link.ts"

/** Where a session was left: what the next hello names. */
export interface Place {
  readonly epoch: string
  readonly seq: number
}

export type ErrorFrame = Extract<ServerFrame, { type: "error" }>

export interface SocketHandlers {
  /** Applies one numbered frame; throws RangeError when it does not fit. */
  frame(frame: MessageFrame | OpsFrame): void
  ack(id: string, seq: number): void
  error(error: ErrorFrame): void
  /** The server said hello: what was not acknowledged goes out again. */
  live(): void
  /** State and server no longer fit together: load the page again, then `start`. */
  reset(why: "epoch" | "step"): void
  link(state: LinkState): void
  /** The net is there, whatever the browser says. */
  reached(): void
}

/** Resumes without any progress, before the page is loaded again. */
const MAX_RESUMES = 3

export class SessionSocket {
  readonly #handlers: SocketHandlers
  readonly #link: Link
  #place: Place | null = null
  /** The server answered our hello; before that, numbered frames are of an older resume. */
  #ready = false
  #resumes = 0
  #unseen = 0
  #unseenChars = 0
  #gathered: MessageFrame | OpsFrame | null = null

  constructor(deps: SocketDeps, handlers: SocketHandlers) {
    this.#handlers = handlers
    this.#link = new Link(deps, {
      open: () => this.#sayHello(),
      text: (text) => this.#hear(text),
      lost: () => {
        this.#ready = false
      },
      link: (state) => handlers.link(state),
      reached: () => handlers.reached(),
    })
  }

  /** The newest numbered frame that was taken. */
  get seq(): number {
    return this.#place?.seq ?? 0
  }

  /** Goes on from a place: says hello on the open socket, or opens one. */
  start(place: Place): void {
    this.#place = place
    if (this.#link.isOpen) this.#sayHello()
    else this.#link.connect()
  }

  /** Sends now if the session is live; false if it has to wait for `live`. */
  send(frame: ClientFrame): boolean {
    if (!this.#ready) return false
    // `seen` is the one frame that nobody answers.
    this.#link.send(JSON.stringify(frame), frame.type !== "seen")
    return true
  }

  /** The machine is back (online, visible). */
  wake(): void {
    if (this.#place !== null) this.#link.wake()
  }

  stop(): void {
    this.#link.stop()
  }

  #sayHello(): void {
    if (this.#place === null) return
    this.#ready = false
    this.#gathered = null
    const { epoch, seq } = this.#place
    const hello: ClientFrame = { type: "hello", protocol: PROTOCOL_VERSION, epoch, after: seq, live: true }
    this.#link.send(JSON.stringify(hello), true)
  }

  #hear(text: string): void {
    this.#unseenChars += text.length
    const frame = parseServerFrame(text)
    if (frame !== null) this.#take(frame)
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#welcome(frame)
      case "message":
      case "ops":
        return this.#takeNumbered(frame)
      case "ack":
        return this.#handlers.ack(frame.id, frame.seq)
      case "error":
        // A hello that is refused names a place that the server no longer knows.
        if (!this.#ready && frame.code === "frame_invalid" && frame.id === undefined) return this.#reset("epoch")
        return this.#handlers.error(frame)
    }
  }

  #welcome(hello: Place): void {
    if (this.#place === null) return
    if (hello.epoch !== this.#place.epoch || hello.seq < this.#place.seq) return this.#reset("epoch")
    this.#ready = true
    this.#link.prove()
    this.#handlers.live()
  }

  #takeNumbered(piece: MessageFrame | OpsFrame): void {
    const place = this.#place
    if (place === null || !this.#ready || piece.seq <= place.seq) return
    if (piece.prev !== place.seq) return this.#resume()
    try {
      const frame = this.#gather(piece)
      if (frame === null) return
      this.#handlers.frame(frame)
    } catch (error) {
      if (error instanceof RangeError) return this.#reset("step")
      throw error
    }
    this.#place = { epoch: place.epoch, seq: piece.seq }
    this.#resumes = 0
    if (++this.#unseen < SEEN_EVERY_FRAMES && this.#unseenChars < SEEN_EVERY_BYTES) return
    this.#unseen = 0
    this.#unseenChars = 0
    this.send({ type: "seen", seq: piece.seq })
  }

  /** A frame that came in pieces is shown when the last has come: all or nothing. Null while some are missing. */
  #gather(piece: MessageFrame | OpsFrame): MessageFrame | OpsFrame | null {
    if (piece.pieces === undefined || piece.pieces === 0) return piece
    const known = this.#gathered
    if (piece.type === "message") {
      this.#gathered = { ...piece, pieces: piece.pieces }
      return null
    }
    if (known === null || known.seq !== piece.seq) this.#gathered = { ...piece }
    else if (known.type === "ops") this.#gathered = { ...known, ops: [...known.ops, ...piece.ops] }
    else this.#gathered = { ...known, segments: apply(known.segments, piece.ops) }
    if (piece.piece !== piece.pieces) return null
    const whole = this.#gathered
    this.#gathered = null
    return whole
  }

  #resume(): void {
    if (++this.#resumes > MAX_RESUMES) this.#reset("step")
    else this.#sayHello()
  }

  #reset(why: "epoch" | "step"): void {
    this.#place = null
    this.#ready = false
    this.#resumes = 0
    this.#handlers.reset(why)
  }
}
