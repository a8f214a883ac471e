/**
 * socket.ts: the connection of one open session, from the page's side.
 *
 * token → connect → hello {epoch, after} → frames → store
 * Numbered frames are applied exactly once and in order (law 6): seq ≤ last is dropped, prev ≠ last is a gap.
 * Time, chance, timers and the socket itself come in, so tests hold them all. Source: SPEC SO1–SO9.
 */

import {
  apply,
  type ClientFrame,
  type MessageFrame,
  type OpsFrame,
  PING_FRAME,
  parseServerFrame,
  type ServerFrame,
} from "../shared/frame.ts"
import { DEAD_SOCKET_MS, PING_MS, PROTOCOL_VERSION, SEEN_EVERY_FRAMES } from "../shared/limits.ts"

/** What a reader may be told about the connection. `live` needs no words. */
export type LinkState = "connecting" | "live" | "waiting" | "outdated" | "gone"

/** Where a session was left: what the next hello names. */
export interface Place {
  readonly epoch: string
  readonly seq: number
}

/** The part of a WebSocket that is used here. */
export interface Wire {
  send(text: string): void
  close(code?: number): void
}

export interface WireEvents {
  open(): void
  message(data: unknown): void
  close(code: number): void
}

export interface SocketDeps {
  connect(protocols: string[], events: WireEvents): Wire
  /** A token that is still good; asks for a new one when needed. */
  token(): Promise<{ readonly token: string; readonly renewAt: number }>
  /** The token at hand was refused. */
  forgetToken(): void
  now(): number
  random(): number
  /** Calls back after so many milliseconds; returns what cancels it. */
  after(ms: number, call: () => void): () => void
}

export interface SocketHandlers {
  /** Applies one numbered frame; throws RangeError when it does not fit. */
  frame(frame: MessageFrame | OpsFrame): void
  ack(id: string, seq: number): void
  error(text: string, id: string | undefined): void
  /** The server said hello: what was not acknowledged goes out again. */
  live(): void
  /** State and server no longer fit together: load the page again, then `start`. */
  reset(why: "epoch" | "step"): void
  link(state: LinkState): void
}

const FIRST_RETRY_MS = 300
const MAX_RETRY_MS = 10_000
/** So long an answer to something asked may take before the socket is given up, in milliseconds. */
const PROBE_MS = 8_000
/** After so many failures in a row the token is suspected. */
const SUSPECT_FAILURES = 2
/** Resumes without any progress, before the page is loaded again. */
const MAX_RESUMES = 3

const CLOSE_TOKEN = 4401
const CLOSE_GONE = 4404
const CLOSE_OUTDATED = 4406
const CLOSE_BEHIND = 4408
const CLOSE_LEAVING = 1000

/** Milliseconds before try number `failures` (from 1), with half of it left to chance. SPEC SO5. */
export function retryDelayMs(failures: number, random: number): number {
  const full = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (0.5 + random / 2))
}

export class SessionSocket {
  readonly #deps: SocketDeps
  readonly #handlers: SocketHandlers
  #place: Place | null = null
  #wire: Wire | null = null
  #open = false
  /** The server answered our hello; before that, numbered frames are of an older resume. */
  #ready = false
  #stopped = false
  #failures = 0
  #resumes = 0
  #unseen = 0
  #gathered: MessageFrame | OpsFrame | null = null
  #heardAt = 0
  #cancelRetry: (() => void) | null = null
  #cancelPing: (() => void) | null = null
  #cancelRenew: (() => void) | null = null
  #cancelProbe: (() => void) | null = null

  constructor(deps: SocketDeps, handlers: SocketHandlers) {
    this.#deps = deps
    this.#handlers = handlers
  }

  /** The newest numbered frame that was taken. */
  get seq(): number {
    return this.#place?.seq ?? 0
  }

  /** Goes on from a place: says hello on the open socket, or opens one. */
  start(place: Place): void {
    this.#place = place
    if (this.#open) this.#sayHello()
    else this.#connect()
  }

  /** Sends now if the session is live; false if it has to wait for `live`. */
  send(frame: ClientFrame): boolean {
    if (!this.#ready || this.#wire === null) return false
    this.#wire.send(JSON.stringify(frame))
    this.#probeLater()
    return true
  }

  /** The machine is back (online, visible): try at once, and ask an open socket if it still lives. */
  wake(): void {
    if (this.#stopped || this.#place === null) return
    if (this.#open) {
      this.#wire?.send(PING_FRAME)
      this.#probeLater()
    } else if (this.#wire === null) this.#connect()
  }

  stop(): void {
    this.#stopped = true
    this.#drop(CLOSE_LEAVING)
  }

  #connect(): void {
    if (this.#stopped || this.#wire !== null) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    this.#handlers.link("connecting")
    const blank = createPlaceholder()
    this.#wire = blank
    this.#deps.token().then(
      ({ token, renewAt }) => {
        if (this.#wire === blank) this.#attach(token, renewAt)
      },
      () => {
        if (this.#wire !== blank) return
        this.#wire = null
        this.#retry()
      },
    )
  }

  #attach(token: string, renewAt: number): void {
    const wire = this.#deps.connect(["cuecard.v1", `token.${token}`], {
      open: () => {
        if (this.#wire === wire) this.#opened(renewAt)
      },
      message: (data) => {
        if (this.#wire === wire && typeof data === "string") this.#hear(data)
      },
      close: (code) => {
        if (this.#wire === wire) this.#closed(code)
      },
    })
    this.#wire = wire
  }

  #opened(renewAt: number): void {
    this.#open = true
    this.#heardAt = this.#deps.now()
    this.#sayHello()
    this.#pingLater()
    this.#cancelRenew = this.#deps.after(Math.max(0, renewAt - this.#deps.now()), () => this.#reconnect())
  }

  #sayHello(): void {
    if (this.#place === null) return
    this.#ready = false
    this.#gathered = null
    const { epoch, seq } = this.#place
    const hello: ClientFrame = { type: "hello", protocol: PROTOCOL_VERSION, epoch, after: seq, live: true }
    this.#wire?.send(JSON.stringify(hello))
  }

  #hear(text: string): void {
    this.#heardAt = this.#deps.now()
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
        if (!this.#ready && frame.code === "frame_invalid") return this.#reset("epoch")
        return this.#handlers.error(frame.text, frame.id)
    }
  }

  #welcome(hello: Place): void {
    if (this.#place === null) return
    if (hello.epoch !== this.#place.epoch || hello.seq < this.#place.seq) return this.#reset("epoch")
    this.#ready = true
    this.#failures = 0
    this.#handlers.link("live")
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
    if (++this.#unseen < SEEN_EVERY_FRAMES) return
    this.#unseen = 0
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

  #closed(code: number): void {
    const wasReady = this.#ready
    this.#drop()
    switch (code) {
      case CLOSE_OUTDATED:
        this.#stopped = true
        return this.#handlers.link("outdated")
      case CLOSE_GONE:
        this.#stopped = true
        return this.#handlers.link("gone")
      case CLOSE_TOKEN:
        this.#deps.forgetToken()
        return wasReady ? this.#connect() : this.#retry()
      case CLOSE_BEHIND:
        return wasReady ? this.#connect() : this.#retry()
      default:
        return this.#retry()
    }
  }

  #retry(): void {
    if (this.#stopped) return
    this.#failures++
    if (this.#failures >= SUSPECT_FAILURES) this.#deps.forgetToken()
    this.#handlers.link("waiting")
    const delay = retryDelayMs(this.#failures, this.#deps.random())
    this.#cancelRetry = this.#deps.after(delay, () => this.#connect())
  }

  #reconnect(): void {
    this.#drop(CLOSE_LEAVING)
    this.#connect()
  }

  /** Something was asked: a socket that says nothing at all for a while is given up, long before it counts as dead. */
  #probeLater(): void {
    if (this.#cancelProbe !== null) return
    const asked = this.#deps.now()
    this.#cancelProbe = this.#deps.after(PROBE_MS, () => {
      this.#cancelProbe = null
      if (this.#heardAt >= asked) return
      this.#drop()
      this.#retry()
    })
  }

  #pingLater(): void {
    this.#cancelPing?.()
    this.#cancelPing = this.#deps.after(PING_MS, () => {
      if (this.#deps.now() - this.#heardAt > DEAD_SOCKET_MS) {
        this.#drop()
        return this.#retry()
      }
      this.#wire?.send(PING_FRAME)
      this.#pingLater()
    })
  }

  /** Lets go of the socket and of every timer; nothing it still says is heard. */
  #drop(code?: number): void {
    for (const cancel of [this.#cancelRetry, this.#cancelPing, this.#cancelRenew, this.#cancelProbe]) cancel?.()
    this.#cancelRetry = null
    this.#cancelProbe = null
    this.#cancelPing = null
    this.#cancelRenew = null
    const wire = this.#wire
    this.#wire = null
    this.#open = false
    this.#ready = false
    wire?.close(code)
  }
}

/** Stands for the socket while its token is fetched, so that two connects cannot overlap. */
function createPlaceholder(): Wire {
  return { send() {}, close() {} }
}
