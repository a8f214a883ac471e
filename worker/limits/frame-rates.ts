/**
 * frame-rates.ts: limits the frames that a socket may send, and the changes that its user may make with them.
 *
 * A frame must be handled at once and in order, so nothing is awaited, and the binding counts a frame only after the
 * frame has been admitted. If the frame exceeded the limit, later frames are refused for RATE_PERIOD_SECONDS.
 */

import type { Fault } from "../../shared/fault.ts"
import { MAX_SESSION_VIEWERS } from "../../shared/limits.ts"
import { MAX_SOCKET_FRAMES, RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import type { RateBindings } from "../env.ts"
import { BoundedMap } from "../platform/bounded-map.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { createRateFault, isUserWithinRate } from "./rate-limits.ts"

const PERIOD_MS = RATE_PERIOD_SECONDS * 1000

interface FrameCount {
  readonly since: number
  frames: number
}

export class FrameRates {
  readonly #env: RateBindings
  readonly #now: () => number
  readonly #countBySocket = new WeakMap<WebSocket, FrameCount>()
  /** For each user, when changes are accepted again, in milliseconds since 1970. In memory only. */
  readonly #refusedUntil = new BoundedMap<string, number>(MAX_SESSION_VIEWERS + 1)

  constructor(env: RateBindings, now: () => number = Date.now) {
    this.#env = env
    this.#now = now
  }

  /** Counts a frame that has not been parsed yet. Returns a fault if the frame is refused. */
  countFrame(socket: WebSocket): Fault | null {
    const now = this.#now()
    const known = this.#countBySocket.get(socket)
    const isCurrent = known !== undefined && now >= known.since && now < known.since + PERIOD_MS
    const count = isCurrent ? known : { since: now, frames: 0 }
    count.frames += 1
    this.#countBySocket.set(socket, count)
    return count.frames > MAX_SOCKET_FRAMES ? createRateFault("socket", "user") : null
  }

  /** Counts a change that a user makes. Returns a fault if the change is refused. */
  countChange(claims: SessionOwner): Fault | null {
    const now = this.#now()
    const until = this.#refusedUntil.get(claims.user) ?? 0
    // If the clock was set back, the refusal ends.
    if (until > now && until <= now + PERIOD_MS) return createRateFault("write", "user")
    void this.#reportChange(claims)
    return null
  }

  async #reportChange(claims: SessionOwner): Promise<void> {
    if (await isUserWithinRate(this.#env, "write", claims)) return
    this.#refusedUntil.set(claims.user, this.#now() + PERIOD_MS)
  }
}
