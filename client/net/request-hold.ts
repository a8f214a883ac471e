/**
 * request-hold.ts: records whether a client is waiting because the server is rate limiting it. rate-wait.ts starts and
 * ends the wait.
 *
 * Each client has a hold of its own, so that one user's limit does not delay another user in the same process.
 */

import { type Signal, signal } from "@preact/signals"

export class RequestHold {
  /** The text to show while the client is waiting; otherwise empty. */
  readonly text: Signal<string> = signal("")
  /** Resolves when requests may be sent. Null if they may be sent now. */
  end: Promise<void> | null = null
  /** Functions that send refused frames again after the wait. */
  readonly resends = new Set<() => void>()
}
