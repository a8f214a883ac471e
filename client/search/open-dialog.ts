/** open-dialog.ts: which dialog of the search is open. */

import { type Signal, signal } from "@preact/signals"

/** Null if there is none. */
export const openSearchDialog: Signal<"palette" | "shortcuts" | null> = signal(null)
