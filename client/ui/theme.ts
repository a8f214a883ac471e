/** theme.ts: dark, light, or the system's theme. Stored per browser; CSS reads `data-theme`. */

import { type Signal, signal } from "@preact/signals"

export type Theme = "system" | "dark" | "light"

const STORAGE_KEY = "cuecard.theme"
const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: "dark", dark: "light", light: "system" }

export const theme: Signal<Theme> = signal("system")

function applyTheme(next: Theme): void {
  theme.value = next
  if (next === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = next
}

export function restoreTheme(): void {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    applyTheme(stored === "dark" || stored === "light" ? stored : "system")
  } catch {
    applyTheme("system")
  }
}

export function cycleTheme(): void {
  applyTheme(NEXT_THEME[theme.peek()])
  try {
    localStorage.setItem(STORAGE_KEY, theme.peek())
  } catch {
    // Storage is forbidden: the choice lasts until the page is closed.
  }
}
