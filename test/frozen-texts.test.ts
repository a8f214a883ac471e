/**
 * frozen-texts.test.ts: no module keeps a text in a constant, where it would stay in the language of the time at which
 * it was read.
 *
 * It is not in test/client, whose files share loaded modules and drawn elements: this test needs modules that nothing
 * has loaded yet.
 *
 * @vitest-environment happy-dom
 */

import { expect, test } from "vitest"
import { findEnglishTexts, findTexts } from "../client/words/languages/language.ts"

/** All modules except the entries, which draw the page, and the admin page, which is English only. */
const MODULES = import.meta.glob([
  "../client/**/*.{ts,tsx}",
  "!../client/admin/**",
  "!../client/app/main.tsx",
  "!../client/shared-view/share-main.tsx",
])

/** Each module is compiled for this test alone. On a busy machine that takes more than half a minute. */
const LOAD_MS = 240_000

test("[LG2] no text is read while the modules are loaded", { timeout: LOAD_MS }, async () => {
  const read: string[] = []
  findTexts.value = (area, english) => {
    read.push(`${area}: ${Object.keys(Object(english)).length} texts`)
    return english
  }
  for (const load of Object.values(MODULES)) await load()
  findTexts.value = findEnglishTexts
  expect(Object.keys(MODULES).length).toBeGreaterThan(200)
  expect(read).toEqual([])
})
