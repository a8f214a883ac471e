/**
 * single-keys.ts: whether single-character shortcuts are turned on. Speech input and some keyboards press such keys by
 * mistake, so they can be turned off. Stored per browser. Source: SPEC KB3.
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
    // Storage is blocked: the choice lasts until the page is closed.
  }
}
