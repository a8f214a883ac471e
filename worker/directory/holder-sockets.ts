/**
 * holder-sockets.ts: counts and closes the open sockets of a user in all sessions.
 *
 * A session reports its number of open sockets when it opens one, but not when it closes one, so the sum is an upper
 * bound. Before a socket is refused, the sessions are queried for their current numbers.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_USER_SOCKETS, RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import { withTimeout } from "../platform/timeout.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import type { RevocationRows } from "./revocation-rows.ts"

/** Maximum number of concurrent calls to sessions, and how long to wait for their responses, in milliseconds. */
const MAX_PARALLEL_COUNTS = 32
const COUNT_TIMEOUT_MS = 5_000

/** How long to wait for a session's response, in milliseconds. After that, the session is counted as unreached. */
const CLOSE_TIMEOUT_MS = 5_000

/**
 * Minimum time between two counts, in milliseconds. A user at the limit must not wake all their sessions with each
 * attempt.
 */
const RECOUNT_MS = RATE_PERIOD_SECONDS * 1000

export interface HolderSocketsDeps {
  readonly rows: RevocationRows
  /** Queries a session for the number of the user's open sockets. */
  readonly countSockets: (session: string) => Promise<number>
  readonly now: () => number
}

export function createHolderSockets({ env, tenant, user }: DirectoryHost, rows: RevocationRows): HolderSockets {
  const countSockets = async (session: string): Promise<number> =>
    await sessionStub(env, tenant, session).countSockets(user)
  return new HolderSockets({ rows, countSockets, now: Date.now })
}

export class HolderSockets {
  readonly #deps: HolderSocketsDeps
  #recountedAt = Number.NEGATIVE_INFINITY

  constructor(deps: HolderSocketsDeps) {
    this.#deps = deps
  }

  /** Checks whether the user may have this number of open sockets in a session. Errors: `user_sockets_full`. */
  async check(session: string, sockets: number, max = MAX_USER_SOCKETS): Promise<Result<null>> {
    const { rows, now } = this.#deps
    const isFull = (): boolean => rows.sumSockets(session, now() / 1000) + sockets > max
    const elapsedMs = now() - this.#recountedAt
    if (isFull() && (elapsedMs < 0 || elapsedMs >= RECOUNT_MS)) {
      this.#recountedAt = now()
      await this.#recount(session)
    }
    return isFull() ? fail({ reason: "user_sockets_full", max }) : succeed(null)
  }

  /**
   * Updates the numbers of the other sessions that reported open sockets. If a session does not respond, its number is
   * not changed.
   */
  async #recount(session: string): Promise<void> {
    const { rows, countSockets } = this.#deps
    const others = rows.listSocketHolders().filter((other) => other !== session)
    const createTimeout = (): Error => new Error(`no response within ${COUNT_TIMEOUT_MS} ms`)
    const recountOne = async (other: string): Promise<void> => {
      try {
        rows.setSockets(other, await withTimeout(countSockets(other), COUNT_TIMEOUT_MS, createTimeout))
      } catch (error) {
        logError("sockets_not_counted", { error: describeError(error) })
      }
    }
    for (let start = 0; start < others.length; start += MAX_PARALLEL_COUNTS)
      await Promise.all(others.slice(start, start + MAX_PARALLEL_COUNTS).map(recountOne))
  }
}

/** Closes the sockets of these sessions. Returns the number of sessions that could not be reached. */
export async function closeHolderSockets(env: Env, tenant: string, sessions: readonly string[]): Promise<number> {
  let unreached = 0
  for (const session of sessions) {
    try {
      const closing = Promise.resolve(sessionStub(env, tenant, session).closeSockets())
      await withTimeout(closing, CLOSE_TIMEOUT_MS, () => new Error(`no response within ${CLOSE_TIMEOUT_MS} ms`))
    } catch (error) {
      unreached += 1
      logError("sockets_not_closed", { session, error: describeError(error) })
    }
  }
  return unreached
}
