/** open-dialog.ts: which search dialog is open, and whether the search bar is. */

import { type Signal, signal } from "@preact/signals"

/** Null if no dialog is open. */
export const openSearchDialog: Signal<"palette" | "shortcuts" | "move" | null> = signal(null)

/** Whether the search bar of the open conversation is shown. */
export const isFindBarOpen: Signal<boolean> = signal(false)
