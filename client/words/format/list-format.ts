/** list-format.ts: lists in the chosen language. Pure, except for the language. */

import { findFormat } from "./number-format.ts"

/** "tea, coffee, water" in English, "Tee, Kaffee und Wasser" in German. */
export function formatList(items: Iterable<string>): string {
  return findFormat(Intl.ListFormat, { type: "conjunction", style: "narrow" }).format(items)
}
