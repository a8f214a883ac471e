/**
 * preference-storage.ts: chooses where the reader's preferences are stored: in the browser's storage or, for a widget,
 * in the widget's part of the browser's storage.
 */

import type { KeyValueStorage } from "../../net/outbox.ts"
import { openStorage } from "../browser-storage.ts"

/** The widget's part of the storage; null if the page isn't a widget. */
let widgetStorage: KeyValueStorage | null = null

/** Set by the widget before it renders. SPEC WG11. */
export function setPreferenceStorage(storage: KeyValueStorage): void {
  widgetStorage = storage
}

export function openPreferences(): KeyValueStorage {
  return widgetStorage ?? openStorage()
}
