/**
 * session-socket.ts: the protocol of one open session over its socket.
 *
 * link → hello {epoch, after} → frames → store
 * Numbered frames are applied exactly once and in order: a frame with seq ≤ last is dropped, and prev ≠ last means that
 * there is a gap. Source: SPEC SO1–SO4, SO8.
 */

import { apply } from "../../shared/protocol/apply-ops.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import {
  type HelloFrame,
  type MessageFrame,
  type OpsFrame,
  parseServerFrame,
  type ServerFrame,
} from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION, SEEN_EVERY_BYTES, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import { SocketLink, type LinkState, type SocketLinkDeps } from "./socket-link.ts"

/** How much of a session the client has received. The next hello contains this point. */
export interface ResumePoint {
  readonly epoch: string
  readonly seq: number
}

export type ErrorFrame = Extract<ServerFrame, { type: "error" }>

export interface SessionSocketHandlers {
  /** Applies one numbered frame. Throws RangeError if it doesn't fit the current state. */
  onFrame(frame: MessageFrame | OpsFrame): void
  onAck(id: string, seq: number): void
  onError(error: ErrorFrame): void
  /** Called after the server's hello, to resend what has not been acknowledged. `agent`: see `HelloFrame`. */
  onLive(agent: string | undefined): void
  /**
   * Called when the client's state doesn't match the server's. The caller must load the newest page and then call
   * `resumeFrom`.
   */
  onReset(reason: "epoch" | "step"): void
  onStateChange(state: LinkState): void
  /** Called when the server has responded, which is possible even if the browser reports that it is offline. */
  onReachable(): void
}

/** Number of resumes without progress after which the newest history is loaded again. */
const MAX_FRUITLESS_RESUMES = 3

export class SessionSocket {
  readonly #handlers: SessionSocketHandlers
  readonly #link: SocketLink
  #resumePoint: ResumePoint | null = null
  /** Whether the server has answered the hello. Numbered frames that arrive before that belong to an earlier resume. */
  #isReady = false
  #fruitlessResumes = 0
  #unseenFrames = 0
  #unseenChars = 0
  #partialFrame: MessageFrame | OpsFrame | null = null

  constructor(deps: SocketLinkDeps, handlers: SessionSocketHandlers) {
    this.#handlers = handlers
    this.#link = new SocketLink(deps, {
      onOpen: () => this.#sendHello(),
      onText: (text) => this.#handleText(text),
      onLost: () => {
        this.#isReady = false
      },
      onStateChange: (state) => handlers.onStateChange(state),
      onReachable: () => handlers.onReachable(),
    })
  }

  /** The seq of the newest applied frame. */
  get seq(): number {
    return this.#resumePoint?.seq ?? 0
  }

  /** Resumes from a point: sends hello on the open socket, or opens one. */
  resumeFrom(point: ResumePoint): void {
    this.#resumePoint = point
    if (this.#link.isOpen) this.#sendHello()
    else this.#link.connect()
  }

  /** Sends the frame if the session is live. Returns false if the frame must wait for `onLive`. */
  send(frame: ClientFrame): boolean {
    if (!this.#isReady) return false
    // `seen` is the only frame without a response.
    this.#link.send(JSON.stringify(frame), frame.type !== "seen")
    return true
  }

  /** Called when the device is online again or the page is visible again. */
  checkConnection(): void {
    if (this.#resumePoint !== null) this.#link.checkConnection()
  }

  close(): void {
    this.#link.close()
  }

  #sendHello(): void {
    if (this.#resumePoint === null) return
    this.#isReady = false
    this.#partialFrame = null
    const { epoch, seq } = this.#resumePoint
    const hello: ClientFrame = { type: "hello", protocol: PROTOCOL_VERSION, epoch, after: seq, live: true }
    this.#link.send(JSON.stringify(hello), true)
  }

  #handleText(text: string): void {
    this.#unseenChars += text.length
    const frame = parseServerFrame(text)
    if (frame !== null) this.#handleFrame(frame)
  }

  #handleFrame(frame: ServerFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#handleHello(frame)
      case "message":
      case "ops":
        return this.#applyNumbered(frame)
      case "ack":
        return this.#handlers.onAck(frame.id, frame.seq)
      case "error":
        // The server refused the hello, because it no longer has this epoch or seq.
        if (!this.#isReady && frame.code === "frame_invalid" && frame.id === undefined)
          return this.#requestReset("epoch")
        return this.#handlers.onError(frame)
    }
  }

  #handleHello(hello: HelloFrame): void {
    if (this.#resumePoint === null) return
    if (hello.epoch !== this.#resumePoint.epoch || hello.seq < this.#resumePoint.seq) return this.#requestReset("epoch")
    this.#isReady = true
    this.#link.confirmLive()
    this.#handlers.onLive(hello.agent)
  }

  #applyNumbered(fragment: MessageFrame | OpsFrame): void {
    const resumePoint = this.#resumePoint
    if (resumePoint === null || !this.#isReady || fragment.seq <= resumePoint.seq) return
    if (fragment.prev !== resumePoint.seq) return this.#requestResume()
    try {
      const frame = this.#assembleFragments(fragment)
      if (frame === null) return
      this.#handlers.onFrame(frame)
    } catch (error) {
      if (error instanceof RangeError) return this.#requestReset("step")
      throw error
    }
    this.#resumePoint = { epoch: resumePoint.epoch, seq: fragment.seq }
    this.#fruitlessResumes = 0
    if (++this.#unseenFrames < SEEN_EVERY_FRAMES && this.#unseenChars < SEEN_EVERY_BYTES) return
    this.#unseenFrames = 0
    this.#unseenChars = 0
    this.send({ type: "seen", seq: fragment.seq })
  }

  /**
   * Joins a frame's fragments. Returns null until the last fragment has arrived, so that a frame is shown whole or not
   * at all.
   */
  #assembleFragments(fragment: MessageFrame | OpsFrame): MessageFrame | OpsFrame | null {
    if (fragment.pieces === undefined || fragment.pieces === 0) return fragment
    const partial = this.#partialFrame
    if (fragment.type === "message") {
      this.#partialFrame = { ...fragment, pieces: fragment.pieces }
      return null
    }
    if (partial === null || partial.seq !== fragment.seq) this.#partialFrame = { ...fragment }
    else if (partial.type === "ops") this.#partialFrame = { ...partial, ops: [...partial.ops, ...fragment.ops] }
    else this.#partialFrame = { ...partial, segments: apply(partial.segments, fragment.ops) }
    if (fragment.piece !== fragment.pieces) return null
    const whole = this.#partialFrame
    this.#partialFrame = null
    return whole
  }

  #requestResume(): void {
    if (++this.#fruitlessResumes > MAX_FRUITLESS_RESUMES) this.#requestReset("step")
    else this.#sendHello()
  }

  #requestReset(reason: "epoch" | "step"): void {
    this.#resumePoint = null
    this.#isReady = false
    this.#fruitlessResumes = 0
    this.#handlers.onReset(reason)
  }
}
