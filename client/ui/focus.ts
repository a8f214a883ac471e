/** focus.ts: requests to move the focus to the composer, which focuses its field when the count changes. */

import { signal } from "@preact/signals"

/** Incremented to focus the composer. */
export const focusRequests = signal(0)
