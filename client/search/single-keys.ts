/**
 * single-keys.ts: the setting that turns single-character shortcuts on or off. Speech input and some keyboards trigger
 * such shortcuts by mistake, so users can turn them off. Stored per browser. Source: SPEC KB3.
 */

import { type Signal, signal } from "@preact/signals"

const STORAGE_KEY = "cuecard.single-keys"

export const areSingleKeysOn: Signal<boolean> = signal(readStored())

function readStored(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== "off"
  } catch {
    return true
  }
}

export function setSingleKeys(isOn: boolean): void {
  areSingleKeysOn.value = isOn
  try {
    localStorage.setItem(STORAGE_KEY, isOn ? "on" : "off")
  } catch {
    // If storage is blocked, the setting lasts until the page is closed.
  }
}
