/** focus.ts: lets other parts of the page focus the composer, which focuses its field when `focusRequests` changes. */

import { signal } from "@preact/signals"

/** Incremented to focus the composer. */
export const focusRequests = signal(0)
