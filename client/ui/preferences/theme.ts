/**
 * theme.ts: the chosen theme, which is dark, light or the system's. Stored per browser; CSS reads `data-theme`.
 *
 * public/theme.js applies the stored theme before the first paint. This script is a separate file, because the page's
 * content security policy forbids inline scripts, and modules run after the first paint. The script also sets the
 * scheme in which the browser paints the page before the style sheet has loaded, and the colour of the browser's own
 * bars. Source: SPEC PG80.
 */

import { type Signal, signal } from "@preact/signals"

export const THEMES = ["system", "light", "dark"] as const

export type Theme = (typeof THEMES)[number]

declare global {
  /** Defined by public/theme.js. Undefined if that file could not be loaded. */
  var applyTheme: ((theme: Theme) => void) | undefined
}

const STORAGE_KEY = "cuecard.theme"
const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: "dark", dark: "light", light: "system" }

export const theme: Signal<Theme> = signal(readAppliedTheme())

function readAppliedTheme(): Theme {
  const applied = document.documentElement.dataset["theme"]
  return applied === "dark" || applied === "light" ? applied : "system"
}

export function cycleTheme(): void {
  chooseTheme(NEXT_THEME[theme.peek()])
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  globalThis.applyTheme?.(theme.peek())
  try {
    localStorage.setItem(STORAGE_KEY, theme.peek())
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
}
