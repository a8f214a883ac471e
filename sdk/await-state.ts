/** await-state.ts: promises that wait until an open session reaches a given state. */

import { effect } from "@preact/signals"
import { CuecardError, toCuecardError } from "./client-error.ts"
import type { OpenSessions } from "./open-sessions.ts"

/** The result of a check that has to run again. */
export const NOT_YET = Symbol("not yet")

/**
 * Resolves with the first result of `check` other than NOT_YET. `check` runs again when a signal that it reads changes.
 * Rejects if `check` throws, and when the client is closed. An unhandled rejection is not reported.
 */
export function awaitState<T>(
  { isClosed }: Pick<OpenSessions, "isClosed">,
  check: () => T | typeof NOT_YET,
): Promise<T> {
  const promise = new Promise<T>((resolve, reject) => {
    const dispose = effect(() => {
      try {
        const result = check()
        if (result === NOT_YET && isClosed.value) throw new CuecardError("closed")
        if (result === NOT_YET) return
        resolve(result)
      } catch (error) {
        reject(toCuecardError(error))
      }
      // During the first run, `dispose` isn't assigned yet.
      queueMicrotask(() => dispose())
    })
  })
  promise.catch(() => {})
  return promise
}
