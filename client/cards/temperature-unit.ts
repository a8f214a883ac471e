/**
 * temperature-unit.ts: the unit in which cards show temperatures, °C or °F. The choice is stored per browser (SPEC
 * CA8).
 */

import { type Signal, signal } from "@preact/signals"
import { openPreferences } from "../ui/preferences/preference-storage.ts"

export type TemperatureUnit = "C" | "F"

const STORAGE_KEY = "cuecard.temperature-unit"

/** Regions that use °F: the United States and its territories, and a few other countries. */
const FAHRENHEIT_REGIONS = new Set("US AS BS BZ FM GU KY LR MH MP PR PW TC UM VG VI".split(" "))

/** Returns the unit used in a locale's region. A locale without a region, such as "en", gets °C. */
export function localeToUnit(locale: string): TemperatureUnit {
  try {
    return FAHRENHEIT_REGIONS.has(new Intl.Locale(locale).region ?? "") ? "F" : "C"
  } catch {
    return "C"
  }
}

export function readUnit(): TemperatureUnit {
  try {
    const stored = openPreferences().getItem(STORAGE_KEY)
    if (stored === "C" || stored === "F") return stored
  } catch {
    // If storage is blocked, there is no stored choice.
  }
  return localeToUnit(navigator.language)
}

export const temperatureUnit: Signal<TemperatureUnit> = signal(readUnit())

export function chooseUnit(unit: TemperatureUnit): void {
  temperatureUnit.value = unit
  try {
    openPreferences().setItem(STORAGE_KEY, unit)
  } catch {
    // If storage is blocked, the choice lasts until the page is closed.
  }
}
