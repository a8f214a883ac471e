/**
 * socket-link.ts: a WebSocket that is there again: opened, tried again, renewed, and given up when it is dead.
 *
 * token → connect → LINK → open, text → socket
 * A newer token comes on a second socket, which takes over once it is open. Whatever is asked has to be answered by
 * something; what says nothing is given up. Time, chance, timers and the socket itself come in. Source: SPEC SO1, SO5, SO9, SO10.
 */

import { PING_FRAME, PONG_FRAME } from "../../shared/protocol/frame.ts"
import { DEAD_SOCKET_MS, PING_MS } from "../../shared/limits.ts"

/** What a reader may be told about the connection. `live` needs no words. */
export type LinkState = "connecting" | "live" | "waiting" | "outdated" | "gone"

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

export interface LinkHandlers {
  /** A socket is open: say hello on it, even where another was open before. */
  open(): void
  text(text: string): void
  /** No socket is open any more. */
  lost(): void
  link(state: LinkState): void
  /** The server answered just now what was asked just before. */
  reached(): void
}

const FIRST_RETRY_MS = 300
const MAX_RETRY_MS = 10_000
/** So long a token and an open socket may take together, in milliseconds. */
const CONNECT_MS = 15_000
/** A connection that is being made for so long is made anew when the machine says that it is back, in milliseconds. */
const STALE_CONNECT_MS = 2_000
/** So long the first word after something asked may take, in milliseconds, beyond what sending it takes. */
const PROBE_MS = 8_000
/** Slowest way up that is waited for, in UTF-16 code units per millisecond: a poor mobile line. */
const SLOWEST_CHARS_PER_MS = 4
/** Pings without their own answer, however much else is heard: the way up is dead. */
const MAX_UNANSWERED = 3
/** Two renewals are so far apart at least, and one that failed is tried again after so long, in milliseconds. */
const RENEW_AGAIN_MS = 20_000
/** Longest single timer, in milliseconds: beyond 24 days the browser's count overflows. */
const MAX_TIMER_MS = 24 * 60 * 60_000
/** A connection that was well for so long has nothing to do with the failures before it, in milliseconds. */
const STEADY_MS = 5_000
/** After so many failures in a row the token is suspected. */
const SUSPECT_FAILURES = 2
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

export class Link {
  readonly #deps: SocketDeps
  readonly #handlers: LinkHandlers
  #wire: Wire | null = null
  #open = false
  /** The server answered on this socket as it should. */
  #proven = false
  #stopped = false
  #provenAt = Number.POSITIVE_INFINITY
  #failures = 0
  #connectingSince = 0
  #unanswered = 0
  /** Opens beside the live socket with a newer token, to take its place. */
  #heir: Wire | null = null
  /** The socket is given up then, unless something is heard. */
  #deadline: { readonly at: number; readonly cancel: () => void } | null = null
  #cancelRetry: (() => void) | null = null
  #cancelOpening: (() => void) | null = null
  #cancelPing: (() => void) | null = null
  #cancelRenew: (() => void) | null = null

  constructor(deps: SocketDeps, handlers: LinkHandlers) {
    this.#deps = deps
    this.#handlers = handlers
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** The server is well. */
  prove(): void {
    this.#proven = true
    this.#provenAt = Math.min(this.#provenAt, this.#deps.now())
    this.#handlers.link("live")
    this.#handlers.reached()
  }

  /** On the open socket; with `isAnswered` silence after it gives the socket up. */
  send(text: string, isAnswered: boolean): void {
    this.#wire?.send(text)
    if (isAnswered) this.#expect(PROBE_MS + text.length / SLOWEST_CHARS_PER_MS)
  }

  /** The machine is back: try at once, and ask an open socket if it still lives. */
  wake(): void {
    if (this.#stopped) return
    if (this.#open) return this.send(PING_FRAME, true)
    if (this.#wire !== null && this.#deps.now() - this.#connectingSince < STALE_CONNECT_MS) return
    this.#drop()
    this.connect()
  }

  stop(): void {
    this.#stopped = true
    this.#drop(CLOSE_LEAVING)
  }

  connect(): void {
    if (this.#stopped || this.#wire !== null) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    this.#handlers.link("connecting")
    const blank = createPlaceholder()
    this.#wire = blank
    this.#connectingSince = this.#deps.now()
    this.#cancelOpening = this.#deps.after(CONNECT_MS, () => this.#giveUp())
    this.#deps.token().then(
      ({ token, renewAt }) => {
        if (this.#wire === blank) this.#wire = this.#attach(token, renewAt)
      },
      () => {
        if (this.#wire === blank) this.#giveUp()
      },
    )
  }

  #attach(token: string, renewAt: number): Wire {
    const wire = this.#deps.connect(["cuecard.v1", `token.${token}`], {
      open: () => this.#opened(wire, renewAt),
      message: (data) => {
        if (this.#wire === wire && typeof data === "string") this.#hear(data)
      },
      close: (code) => {
        if (this.#wire === wire) this.#closed(code)
        else if (this.#heir === wire) this.#disown()
      },
    })
    return wire
  }

  #opened(wire: Wire, renewAt: number): void {
    if (wire === this.#heir) {
      this.#heir = null
      this.#wire?.close(CLOSE_LEAVING)
      this.#wire = wire
    }
    if (wire !== this.#wire) return
    this.#cancelOpening?.()
    this.#open = true
    this.#proven = false
    this.#unanswered = 0
    this.#relax()
    this.#pingLater()
    this.#renewLater(renewAt - this.#deps.now())
    this.#handlers.open()
  }

  #hear(text: string): void {
    this.#relax()
    if (text !== PONG_FRAME) return this.#handlers.text(text)
    this.#unanswered = 0
    this.#handlers.reached()
  }

  #closed(code: number): void {
    const wasProven = this.#proven
    this.#drop()
    this.#forgive()
    switch (code) {
      case CLOSE_OUTDATED:
        this.#stopped = true
        return this.#handlers.link("outdated")
      case CLOSE_GONE:
        this.#stopped = true
        return this.#handlers.link("gone")
      case CLOSE_TOKEN:
        this.#deps.forgetToken()
        return this.#again(wasProven)
      case CLOSE_BEHIND:
        return this.#again(wasProven)
      default:
        return this.#retry()
    }
  }

  /** The failures before a steady connection count no more. */
  #forgive(): void {
    if (this.#deps.now() - this.#provenAt >= STEADY_MS) this.#failures = 0
    this.#provenAt = Number.POSITIVE_INFINITY
  }

  /** The server asked for it: at once, unless it does nothing else. */
  #again(wasProven: boolean): void {
    if (!wasProven || this.#failures > 0) return this.#retry()
    this.#failures++
    this.connect()
  }

  #retry(): void {
    if (this.#stopped) return
    this.#failures++
    if (this.#failures >= SUSPECT_FAILURES) this.#deps.forgetToken()
    this.#handlers.link("waiting")
    const delay = retryDelayMs(this.#failures, this.#deps.random())
    this.#cancelRetry = this.#deps.after(delay, () => this.connect())
  }

  #giveUp(): void {
    this.#drop()
    this.#forgive()
    this.#retry()
  }

  #renewLater(ms: number): void {
    this.#cancelRenew?.()
    this.#cancelRenew = this.#deps.after(Math.min(Math.max(RENEW_AGAIN_MS, ms), MAX_TIMER_MS), () => this.#renew())
  }

  /** A second socket with a newer token takes over once it is open; until then the first goes on. */
  #renew(): void {
    const old = this.#wire
    this.#renewLater(RENEW_AGAIN_MS)
    this.#deps.token().then(
      ({ token, renewAt }) => {
        if (this.#wire !== old || !this.#open) return
        this.#heir?.close(CLOSE_LEAVING)
        this.#heir = this.#attach(token, renewAt)
      },
      () => {},
    )
  }

  /** It could not be opened: perhaps for its token. The next try stands already. */
  #disown(): void {
    this.#heir = null
    this.#deps.forgetToken()
  }

  /** Something was asked: a socket that says nothing at all for so long is given up. */
  #expect(ms: number): void {
    const at = this.#deps.now() + ms
    if (this.#deadline !== null && this.#deadline.at <= at) return
    this.#relax()
    const cancel = this.#deps.after(ms, () => {
      this.#deadline = null
      this.#giveUp()
    })
    this.#deadline = { at, cancel }
  }

  #relax(): void {
    this.#deadline?.cancel()
    this.#deadline = null
  }

  /** A socket that died right after an answer is found one ping and this wait later: DEAD_SOCKET_MS in all. */
  #pingLater(): void {
    this.#cancelPing?.()
    this.#cancelPing = this.#deps.after(PING_MS, () => {
      if (++this.#unanswered > MAX_UNANSWERED) return this.#giveUp()
      this.#wire?.send(PING_FRAME)
      this.#pingLater()
      this.#expect(DEAD_SOCKET_MS - PING_MS)
    })
  }

  /** Lets go of the socket and of every timer; nothing it still says is heard. */
  #drop(code?: number): void {
    for (const cancel of [this.#cancelRetry, this.#cancelOpening, this.#cancelPing, this.#cancelRenew]) cancel?.()
    this.#cancelRetry = null
    this.#cancelOpening = null
    this.#cancelPing = null
    this.#cancelRenew = null
    this.#relax()
    const [wire, heir] = [this.#wire, this.#heir]
    this.#wire = null
    this.#heir = null
    this.#open = false
    this.#proven = false
    wire?.close(code)
    heir?.close(CLOSE_LEAVING)
    this.#handlers.lost()
  }
}

/** Stands for the socket while its token is fetched, so that two connects cannot overlap. */
function createPlaceholder(): Wire {
  return { send() {}, close() {} }
}
