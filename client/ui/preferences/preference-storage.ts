/** preference-storage.ts: where the choices of a conversation's reader are stored: in the browser's storage, or in the widget's part. */

import type { KeyValueStorage } from "../../net/outbox.ts"
import { openStorage } from "../browser-storage.ts"

/** Null: the browser's storage. */
let widgetStorage: KeyValueStorage | null = null

/** Set by the widget before it renders. SPEC WG6. */
export function setPreferenceStorage(storage: KeyValueStorage): void {
  widgetStorage = storage
}

export function openPreferences(): KeyValueStorage {
  return widgetStorage ?? openStorage()
}
