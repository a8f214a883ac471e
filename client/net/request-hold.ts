/**
 * request-hold.ts: whether the page is waiting because the server is rate limiting it. rate-wait.ts starts and ends the
 * wait. The state is global, because the page has only one server.
 */

import { type Signal, signal } from "@preact/signals"

/** The text that the page shows while it waits; otherwise empty. */
export const holdText: Signal<string> = signal("")

/** `end` resolves when requests may be sent. If it is null, they may be sent now. */
export const hold: { end: Promise<void> | null } = { end: null }
