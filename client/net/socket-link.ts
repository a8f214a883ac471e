/**
 * socket-link.ts: keeps a WebSocket connected: opens it, retries, replaces the socket before its token expires, and
 * closes a dead socket.
 *
 * token → connect → LINK → open, text → session-socket
 * A renewed token needs a new socket, which replaces the old one once the new socket is open. If nothing arrives on a
 * socket after a request, the socket is closed. Time, randomness, timers and the socket are passed in. Source: SPEC
 * SO1, SO5, SO9, SO10.
 */

import { PING_FRAME, PONG_FRAME } from "../../shared/protocol/server-frame.ts"
import { DEAD_SOCKET_MS, PING_MS } from "../../shared/limits.ts"
import { retryDelayMs } from "./retry-delay.ts"

/** The state of the connection, as the page shows it. */
export type LinkState = "connecting" | "live" | "waiting" | "outdated" | "gone"

/** The subset of WebSocket that is used here. */
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
  /** Returns a valid token, requesting one from the server if necessary. */
  getToken(): Promise<{ readonly token: string; readonly renewAt: number }>
  /** Called when the server has refused the current token, or when the token may be the cause of failures. */
  forgetToken(): void
  now(): number
  random(): number
  /** Calls `callback` after `ms` milliseconds. Returns a function that cancels the call. */
  setTimer(ms: number, callback: () => void): () => void
}

export interface SocketLinkHandlers {
  /** Called when a socket has opened. Every socket needs a hello, even if another one was open before. */
  onOpen(): void
  onText(text: string): void
  /** Called when no socket is open any more. */
  onLost(): void
  onStateChange(state: LinkState): void
  /** Called when the server has just responded. */
  onReachable(): void
}

/** Timeout for getting a token and opening a socket, in milliseconds. */
const CONNECT_TIMEOUT_MS = 15_000
/** A connection attempt older than this, in milliseconds, is restarted when the device is back online. */
const STALE_CONNECT_AFTER_MS = 2_000
/**
 * How long the socket may receive nothing after sending a frame that expects a response, in milliseconds, in addition
 * to the time for sending.
 */
const PROBE_TIMEOUT_MS = 8_000
/** The same timeout for the ping that checks a socket when the device is back online or the page is visible again. */
const RETURN_PROBE_TIMEOUT_MS = 3_000
/** Lowest expected upload speed, in UTF-16 code units per millisecond: a poor mobile connection. */
const SLOWEST_CHARS_PER_MS = 4
/** After more unanswered pings than this, the upstream direction is considered dead, even if frames still arrive. */
const MAX_UNANSWERED_PINGS = 3
/** Minimum time between two token renewals, and the delay before a failed renewal is retried, in milliseconds. */
const MIN_RENEW_INTERVAL_MS = 20_000
/** Maximum duration of a timer, in milliseconds. Browsers' timers overflow at 2³¹ ms, about 24.9 days. */
const MAX_TIMER_MS = 24 * 60 * 60_000
/** After a connection has been live for this long, in milliseconds, the count of failures is reset. */
const STABLE_CONNECTION_MS = 5_000
/** After this many consecutive failures, the token is discarded in case it is the cause. */
const TOKEN_SUSPECT_FAILURES = 2
const CLOSE_TOKEN_REFUSED = 4401
const CLOSE_GONE = 4404
const CLOSE_OUTDATED = 4406
const CLOSE_TOO_SLOW = 4408
const CLOSE_NORMAL = 1000

export class SocketLink {
  readonly #deps: SocketLinkDeps
  readonly #handlers: SocketLinkHandlers
  #socket: WebSocketLike | null = null
  #isOpen = false
  /** Whether the server has answered the hello on this socket. */
  #isConfirmed = false
  #isStopped = false
  #confirmedAt = Number.POSITIVE_INFINITY
  #failures = 0
  #connectingSince = 0
  #unansweredPings = 0
  /** A second socket with a newer token, which replaces the live one once it is open. */
  #replacement: WebSocketLike | null = null
  /** The time at which the socket is closed unless something arrives before then. */
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

  /** Records that the server has answered the hello. */
  confirmLive(): void {
    this.#isConfirmed = true
    this.#confirmedAt = Math.min(this.#confirmedAt, this.#deps.now())
    this.#handlers.onStateChange("live")
    this.#handlers.onReachable()
  }

  /** Sends on the open socket. If `expectsAnswer` is true, the socket is closed if nothing arrives in time. */
  send(text: string, expectsAnswer: boolean): void {
    this.#socket?.send(text)
    if (expectsAnswer) this.#expectTraffic(PROBE_TIMEOUT_MS + text.length / SLOWEST_CHARS_PER_MS)
  }

  /**
   * Reconnects at once, or pings an open socket to check that it is alive. Called when the device is back online or the
   * page is visible again.
   */
  checkConnection(): void {
    if (this.#isStopped) return
    if (this.#isOpen) {
      this.#socket?.send(PING_FRAME)
      return this.#expectTraffic(RETURN_PROBE_TIMEOUT_MS)
    }
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

  /** Resets the failure count once the connection has been stable. */
  #resetFailuresIfStable(): void {
    if (this.#deps.now() - this.#confirmedAt >= STABLE_CONNECTION_MS) this.#failures = 0
    this.#confirmedAt = Number.POSITIVE_INFINITY
  }

  /** Handles the server's request to reconnect. Reconnects at once unless attempts are failing. */
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

  /** Opens a second socket with a newer token. The first socket remains in use until the second is open. */
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

  /** Called if the replacement can't be opened, perhaps because of its token. The next attempt is already scheduled. */
  #forgetReplacement(): void {
    this.#replacement = null
    this.#deps.forgetToken()
  }

  /** Closes the socket if nothing arrives within `ms`. */
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

  /**
   * Schedules the next ping. A socket that dies right after a response is detected after one ping interval and one
   * timeout, DEAD_SOCKET_MS in total.
   */
  #schedulePing(): void {
    this.#cancelPing?.()
    this.#cancelPing = this.#deps.setTimer(PING_MS, () => {
      if (++this.#unansweredPings > MAX_UNANSWERED_PINGS) return this.#abandonSocket()
      this.#socket?.send(PING_FRAME)
      this.#schedulePing()
      this.#expectTraffic(DEAD_SOCKET_MS - PING_MS)
    })
  }

  /** Closes the socket and cancels all timers. Later events from that socket are ignored. */
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

/**
 * Creates a placeholder that stands for the socket while its token is being requested, so that connection attempts
 * can't overlap.
 */
function createPlaceholderSocket(): WebSocketLike {
  return { send() {}, close() {} }
}
