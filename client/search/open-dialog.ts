/** open-dialog.ts: which search dialog is open, and whether the find bar is open. */

import { type Signal, signal } from "@preact/signals"

/** The open dialog; null if none is open. */
export const openSearchDialog: Signal<"palette" | "shortcuts" | "move" | null> = signal(null)

/** Whether the find bar of the open conversation is shown. */
export const isFindBarOpen: Signal<boolean> = signal(false)
