/** deferred-settings.ts: records whether the settings page is open, and loads its code when it is first opened. */

import { type ReadonlySignal, signal } from "@preact/signals"
import { deferModule } from "../ui/deferred-module.ts"

const SETTINGS_HASH = "#/settings"

export const settingsPage = deferModule(() => import("./settings-page.tsx"))

const isOpen = signal(false)

export const isSettingsOpen: ReadonlySignal<boolean> = isOpen

/** Opens or closes the page, depending on the URL hash. Returns whether it is open. */
export function openSettingsFromHash(hash: string): boolean {
  isOpen.value = hash === SETTINGS_HASH
  if (isOpen.peek()) void settingsPage.load()
  return isOpen.peek()
}
