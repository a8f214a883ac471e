/**
 * theme.ts: dark, light, or as the machine says. Kept per browser; CSS does the rest by `data-theme`.
 */

import { type Signal, signal } from "@preact/signals"

export type Theme = "system" | "dark" | "light"

const KEY = "cuecard.theme"
const NEXT: Readonly<Record<Theme, Theme>> = { system: "dark", dark: "light", light: "system" }

export const theme: Signal<Theme> = signal("system")

function show(next: Theme): void {
  theme.value = next
  if (next === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = next
}

export function restoreTheme(): void {
  try {
    const kept = localStorage.getItem(KEY)
    show(kept === "dark" || kept === "light" ? kept : "system")
  } catch {
    show("system")
  }
}

export function turnTheme(): void {
  show(NEXT[theme.peek()])
  try {
    localStorage.setItem(KEY, theme.peek())
  } catch {
    // Only this visit, then.
  }
}
