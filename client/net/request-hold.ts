/**
 * request-hold.ts: the state of a page that waits, because the server refuses more requests. What begins a wait is loaded with
 * the first refusal (rate-wait.ts).
 */

import type { Signal } from "@preact/signals"

export interface RequestHold {
  /** What the page says while it waits; null if it doesn't wait. */
  readonly text: Signal<string | null>
  /** Resolves when requests may be sent; null: now. */
  end: Promise<void> | null
  /** What sends refused frames again after the wait. */
  readonly resends: Set<() => void>
  random(): number
  /** Calls back after `ms` milliseconds. */
  setTimer(ms: number, callback: () => void): unknown
}

export const loadRateWait = () => import("./rate-wait.ts")
