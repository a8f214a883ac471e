/**
 * socket-registration.ts: registers sockets with their user's directory, which then reports revocations to the session.
 *
 * Like a plain request, a socket is accepted based on what the Worker's isolate knows about its token. It is registered
 * right afterwards (SPEC AU18, AU19). A failed registration is retried for a short time; if it still fails, the socket
 * is closed.
 */

import type { Fault, Result } from "../../shared/fault.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import { withTimeout } from "../platform/timeout.ts"
import { getAttachment, setAttachment } from "./socket-attachment.ts"

/** Delay before the first retry, in milliseconds. It doubles with each further retry. */
const FIRST_RETRY_MS = 100

export interface SocketRegistrationHost {
  readonly now: () => number
  /** Maximum time until a socket is registered, in milliseconds. */
  readonly registerMs: number
  /**
   * Checks a token with the user's directory, and registers the session there, with the number of sockets that the user
   * has open in the session.
   */
  readonly authorizeSocket: (claims: Claims, sockets: number) => Promise<Result<null>>
  /** Keeps the object in memory until the work is done. */
  readonly waitUntil: (work: Promise<void>) => void
}

/** The sockets of the session. */
export interface RegisteredSockets {
  /** Returns the number of open sockets of a user. */
  countOpen(user: string): number
  /** Closes a socket with an error. */
  end(socket: WebSocket, fault: Fault): void
}

export class SocketRegistration {
  readonly #host: SocketRegistrationHost
  readonly #sockets: RegisteredSockets

  constructor(host: SocketRegistrationHost, sockets: RegisteredSockets) {
    this.#host = host
    this.#sockets = sockets
  }

  /**
   * Registers the socket in the background, unless it is already registered. The request to the directory is sent at
   * once.
   */
  begin(socket: WebSocket): void {
    if (!getAttachment(socket).isRegistered) this.#host.waitUntil(this.#register(socket))
  }

  async #register(socket: WebSocket): Promise<void> {
    const deadline = this.#host.now() + this.#host.registerMs
    for (let delayMs = FIRST_RETRY_MS; socket.readyState === WebSocket.OPEN; delayMs *= 2) {
      const answer = await this.#askDirectory(socket, deadline - this.#host.now())
      if (socket.readyState !== WebSocket.OPEN) return
      if (answer !== null && !answer.ok) return this.#sockets.end(socket, answer.fault)
      if (answer !== null) return setAttachment(socket, { ...getAttachment(socket), isRegistered: true })
      if (this.#host.now() + delayMs >= deadline) return this.#sockets.end(socket, { reason: "internal" })
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }

  /** Calls the directory; null if it could not be reached. */
  async #askDirectory(socket: WebSocket, ms: number): Promise<Result<null> | null> {
    try {
      const { claims } = getAttachment(socket)
      const asked = this.#host.authorizeSocket(claims, this.#sockets.countOpen(claims.user))
      return await withTimeout(asked, ms, () => new Error(`no response within ${ms} ms`))
    } catch (error) {
      logError("socket_not_registered", { error: describeError(error) })
      return null
    }
  }
}
