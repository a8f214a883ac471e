/**
 * busy-meter.ts: measures how long a server could not work because the machine was busy with other things.
 *
 * It sends one small request after another. If a request takes longer than usual, it is assumed that no turn made
 * progress during the extra time.
 */

/** Time between two requests, and the duration of a request to an idle server, in milliseconds. */
const EVERY_MS = 50
const USUAL_MS = 25

/** Timeout of a request, in milliseconds. It is needed because a server that is being killed does not respond. */
const TIMEOUT_MS = 5_000

/**
 * The maximum delay that is excused, in milliseconds. Even with this delay, a turn must end before the server's limit
 * for a turn (TURN_MS, here 24,000).
 */
const MAX_BUSY_MS = 12_000

/** Returns how long the server was delayed between two times (milliseconds since 1970), in milliseconds. */
export type CountBusyMs = (from: number, until: number) => number

export interface BusyMeter {
  readonly countBusyMs: CountBusyMs
  stop(): void
}

export function startBusyMeter(url: () => string): BusyMeter {
  const delays: { readonly at: number; readonly ms: number }[] = []
  let isStopped = false
  const measure = async (): Promise<void> => {
    while (!isStopped) {
      const sent = performance.now()
      try {
        await (await fetch(`${url()}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) })).text()
        const ms = performance.now() - sent - USUAL_MS
        if (ms > 0) delays.push({ at: Date.now(), ms })
      } catch {
        // The server is being killed. This time isn't counted, because the limits are measured from the restart.
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  }
  void measure()
  return {
    countBusyMs: (from, until) => {
      const within = delays.filter(({ at, ms }) => at >= from && at - ms <= until)
      return Math.min(
        within.reduce((sum, { ms }) => sum + ms, 0),
        MAX_BUSY_MS,
      )
    },
    stop: () => {
      isStopped = true
    },
  }
}
