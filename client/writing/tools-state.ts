/** tools-state.ts: records what the composer's tools have opened. Menus and dialogs are outside the composer's form. */

import { type Signal, signal } from "@preact/signals"

/** The button whose menu is open. */
export const menuAnchor: Signal<HTMLElement | null> = signal(null)

/** Whether the menu lists the agents. */
export const isChoosingAgent = signal(false)

export const openDialog: Signal<"prompts" | "allowed" | null> = signal(null)

/** A message below the composer. */
export const notice = signal("")

export interface Dictation {
  readonly stop: () => void
}

/** The running dictation; null unless the browser is listening. */
export const dictation: Signal<Dictation | null> = signal(null)
