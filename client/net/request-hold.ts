/**
 * request-hold.ts: the state of the page's wait while the server refuses more requests. rate-wait.ts begins and ends a wait. The
 * page has one server, so this is a state of the module.
 */

import { type Signal, signal } from "@preact/signals"

/** The text that the page shows while the server refuses more requests; otherwise empty. */
export const holdText: Signal<string> = signal("")

/** `end` resolves when requests may be sent; null: now. */
export const hold: { end: Promise<void> | null } = { end: null }
