/**
 * socket-link.ts: a WebSocket that is there again: opened, tried again, renewed, and given up when it is dead.
 *
 * token → connect → LINK → open, text → socket
 * A newer token comes on a second socket, which takes over once it is open. Whatever is asked has to be answered by
 * something; what says nothing is given up. Time, chance, timers and the socket itself come in. Source: SPEC SO1, SO5, SO9, SO10.
 */

import { PING_FRAME, PONG_FRAME } from "../../shared/protocol/client-frame.ts"
import { DEAD_SOCKET_MS, PING_MS } from "../../shared/limits.ts"

/** What a reader may be told about the connection. `live` needs no words. */
export type LinkState = "connecting" | "live" | "waiting" | "outdated" | "gone"

/** The part of a WebSocket that is used here. */
export interface WebSocketLike {
  send(text: string): void
  close(code?: number): void
}

export interface WebSocketEvents {
  onOpen(): void
  onMessage(data: unknown): void
  onClose(code: number): void
}

export interface SocketLinkDeps {
  connect(protocols: string[], events: WebSocketEvents): WebSocketLike
  /** A token that is still good; asks for a new one when needed. */
  getToken(): Promise<{ readonly token: string; readonly renewAt: number }>
  /** The token at hand was refused. */
  forgetToken(): void
  now(): number
  random(): number
  /** Calls back after so many milliseconds; returns what cancels it. */
  setTimer(ms: number, callback: () => void): () => void
}

export interface SocketLinkHandlers {
  /** A socket is open: say hello on it, even where another was open before. */
  onOpen(): void
  onText(text: string): void
  /** No socket is open any more. */
  onLost(): void
  onStateChange(state: LinkState): void
  /** The server answered just now what was asked just before. */
  onReachable(): void
}

const FIRST_RETRY_MS = 300
const MAX_RETRY_MS = 10_000
/** So long a token and an open socket may take together, in milliseconds. */
const CONNECT_TIMEOUT_MS = 15_000
/** A connection that is being made for so long is made anew when the machine says that it is back, in milliseconds. */
const STALE_CONNECT_AFTER_MS = 2_000
/** So long the first word after something asked may take, in milliseconds, beyond what sending it takes. */
const PROBE_TIMEOUT_MS = 8_000
/** Slowest way up that is waited for, in UTF-16 code units per millisecond: a poor mobile line. */
const SLOWEST_CHARS_PER_MS = 4
/** Pings without their own answer, however much else is heard: the way up is dead. */
const MAX_UNANSWERED_PINGS = 3
/** Two renewals are so far apart at least, and one that failed is tried again after so long, in milliseconds. */
const MIN_RENEW_INTERVAL_MS = 20_000
/** Longest single timer, in milliseconds: beyond 24 days the browser's count overflows. */
const MAX_TIMER_MS = 24 * 60 * 60_000
/** A connection that was well for so long has nothing to do with the failures before it, in milliseconds. */
const STABLE_CONNECTION_MS = 5_000
/** After so many failures in a row the token is suspected. */
const TOKEN_SUSPECT_FAILURES = 2
const CLOSE_TOKEN_REFUSED = 4401
const CLOSE_GONE = 4404
const CLOSE_OUTDATED = 4406
const CLOSE_TOO_SLOW = 4408
const CLOSE_NORMAL = 1000

/** Milliseconds before try number `failures` (from 1), with half of it left to chance. SPEC SO5. */
export function retryDelayMs(failures: number, random: number): number {
  const full = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (0.5 + random / 2))
}

export class SocketLink {
  readonly #deps: SocketLinkDeps
  readonly #handlers: SocketLinkHandlers
  #socket: WebSocketLike | null = null
  #isOpen = false
  /** The server answered on this socket as it should. */
  #isConfirmed = false
  #isStopped = false
  #confirmedAt = Number.POSITIVE_INFINITY
  #failures = 0
  #connectingSince = 0
  #unansweredPings = 0
  /** Opens beside the live socket with a newer token, to take its place. */
  #replacement: WebSocketLike | null = null
  /** The socket is given up then, unless something is heard. */
  #deadline: { readonly at: number; readonly cancel: () => void } | null = null
  #cancelRetry: (() => void) | null = null
  #cancelOpening: (() => void) | null = null
  #cancelPing: (() => void) | null = null
  #cancelRenew: (() => void) | null = null

  constructor(deps: SocketLinkDeps, handlers: SocketLinkHandlers) {
    this.#deps = deps
    this.#handlers = handlers
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The server is well. */
  confirmLive(): void {
    this.#isConfirmed = true
    this.#confirmedAt = Math.min(this.#confirmedAt, this.#deps.now())
    this.#handlers.onStateChange("live")
    this.#handlers.onReachable()
  }

  /** On the open socket; with `isAnswered` silence after it gives the socket up. */
  send(text: string, expectsAnswer: boolean): void {
    this.#socket?.send(text)
    if (expectsAnswer) this.#expectTraffic(PROBE_TIMEOUT_MS + text.length / SLOWEST_CHARS_PER_MS)
  }

  /** The machine is back: try at once, and ask an open socket if it still lives. */
  checkConnection(): void {
    if (this.#isStopped) return
    if (this.#isOpen) return this.send(PING_FRAME, true)
    if (this.#socket !== null && this.#deps.now() - this.#connectingSince < STALE_CONNECT_AFTER_MS) return
    this.#closeSocket()
    this.connect()
  }

  close(): void {
    this.#isStopped = true
    this.#closeSocket(CLOSE_NORMAL)
  }

  connect(): void {
    if (this.#isStopped || this.#socket !== null) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    this.#handlers.onStateChange("connecting")
    const placeholder = createPlaceholderSocket()
    this.#socket = placeholder
    this.#connectingSince = this.#deps.now()
    this.#cancelOpening = this.#deps.setTimer(CONNECT_TIMEOUT_MS, () => this.#abandonSocket())
    this.#deps.getToken().then(
      ({ token, renewAt }) => {
        if (this.#socket === placeholder) this.#socket = this.#openSocket(token, renewAt)
      },
      () => {
        if (this.#socket === placeholder) this.#abandonSocket()
      },
    )
  }

  #openSocket(token: string, renewAt: number): WebSocketLike {
    const socket = this.#deps.connect(["cuecard.v1", `token.${token}`], {
      onOpen: () => this.#handleOpen(socket, renewAt),
      onMessage: (data) => {
        if (this.#socket === socket && typeof data === "string") this.#handleText(data)
      },
      onClose: (code) => {
        if (this.#socket === socket) this.#handleClose(code)
        else if (this.#replacement === socket) this.#forgetReplacement()
      },
    })
    return socket
  }

  #handleOpen(socket: WebSocketLike, renewAt: number): void {
    if (socket === this.#replacement) {
      this.#replacement = null
      this.#socket?.close(CLOSE_NORMAL)
      this.#socket = socket
    }
    if (socket !== this.#socket) return
    this.#cancelOpening?.()
    this.#isOpen = true
    this.#isConfirmed = false
    this.#unansweredPings = 0
    this.#clearDeadline()
    this.#schedulePing()
    this.#scheduleRenewal(renewAt - this.#deps.now())
    this.#handlers.onOpen()
  }

  #handleText(text: string): void {
    this.#clearDeadline()
    if (text !== PONG_FRAME) return this.#handlers.onText(text)
    this.#unansweredPings = 0
    this.#handlers.onReachable()
  }

  #handleClose(code: number): void {
    const wasConfirmed = this.#isConfirmed
    this.#closeSocket()
    this.#resetFailuresIfStable()
    switch (code) {
      case CLOSE_OUTDATED:
        this.#isStopped = true
        return this.#handlers.onStateChange("outdated")
      case CLOSE_GONE:
        this.#isStopped = true
        return this.#handlers.onStateChange("gone")
      case CLOSE_TOKEN_REFUSED:
        this.#deps.forgetToken()
        return this.#reconnectNow(wasConfirmed)
      case CLOSE_TOO_SLOW:
        return this.#reconnectNow(wasConfirmed)
      default:
        return this.#scheduleRetry()
    }
  }

  /** The failures before a steady connection count no more. */
  #resetFailuresIfStable(): void {
    if (this.#deps.now() - this.#confirmedAt >= STABLE_CONNECTION_MS) this.#failures = 0
    this.#confirmedAt = Number.POSITIVE_INFINITY
  }

  /** The server asked for it: at once, unless it does nothing else. */
  #reconnectNow(wasConfirmed: boolean): void {
    if (!wasConfirmed || this.#failures > 0) return this.#scheduleRetry()
    this.#failures++
    this.connect()
  }

  #scheduleRetry(): void {
    if (this.#isStopped) return
    this.#failures++
    if (this.#failures >= TOKEN_SUSPECT_FAILURES) this.#deps.forgetToken()
    this.#handlers.onStateChange("waiting")
    const delay = retryDelayMs(this.#failures, this.#deps.random())
    this.#cancelRetry = this.#deps.setTimer(delay, () => this.connect())
  }

  #abandonSocket(): void {
    this.#closeSocket()
    this.#resetFailuresIfStable()
    this.#scheduleRetry()
  }

  #scheduleRenewal(ms: number): void {
    this.#cancelRenew?.()
    this.#cancelRenew = this.#deps.setTimer(Math.min(Math.max(MIN_RENEW_INTERVAL_MS, ms), MAX_TIMER_MS), () =>
      this.#openReplacement(),
    )
  }

  /** A second socket with a newer token takes over once it is open; until then the first goes on. */
  #openReplacement(): void {
    const previous = this.#socket
    this.#scheduleRenewal(MIN_RENEW_INTERVAL_MS)
    this.#deps.getToken().then(
      ({ token, renewAt }) => {
        if (this.#socket !== previous || !this.#isOpen) return
        this.#replacement?.close(CLOSE_NORMAL)
        this.#replacement = this.#openSocket(token, renewAt)
      },
      () => {},
    )
  }

  /** It could not be opened: perhaps for its token. The next try stands already. */
  #forgetReplacement(): void {
    this.#replacement = null
    this.#deps.forgetToken()
  }

  /** Something was asked: a socket that says nothing at all for so long is given up. */
  #expectTraffic(ms: number): void {
    const at = this.#deps.now() + ms
    if (this.#deadline !== null && this.#deadline.at <= at) return
    this.#clearDeadline()
    const cancel = this.#deps.setTimer(ms, () => {
      this.#deadline = null
      this.#abandonSocket()
    })
    this.#deadline = { at, cancel }
  }

  #clearDeadline(): void {
    this.#deadline?.cancel()
    this.#deadline = null
  }

  /** A socket that died right after an answer is found one ping and this wait later: DEAD_SOCKET_MS in all. */
  #schedulePing(): void {
    this.#cancelPing?.()
    this.#cancelPing = this.#deps.setTimer(PING_MS, () => {
      if (++this.#unansweredPings > MAX_UNANSWERED_PINGS) return this.#abandonSocket()
      this.#socket?.send(PING_FRAME)
      this.#schedulePing()
      this.#expectTraffic(DEAD_SOCKET_MS - PING_MS)
    })
  }

  /** Lets go of the socket and of every timer; nothing it still says is heard. */
  #closeSocket(code?: number): void {
    for (const cancel of [this.#cancelRetry, this.#cancelOpening, this.#cancelPing, this.#cancelRenew]) cancel?.()
    this.#cancelRetry = null
    this.#cancelOpening = null
    this.#cancelPing = null
    this.#cancelRenew = null
    this.#clearDeadline()
    const [socket, replacement] = [this.#socket, this.#replacement]
    this.#socket = null
    this.#replacement = null
    this.#isOpen = false
    this.#isConfirmed = false
    socket?.close(code)
    replacement?.close(CLOSE_NORMAL)
    this.#handlers.onLost()
  }
}

/** Stands for the socket while its token is fetched, so that two connects cannot overlap. */
function createPlaceholderSocket(): WebSocketLike {
  return { send() {}, close() {} }
}
