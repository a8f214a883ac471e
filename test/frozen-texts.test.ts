/**
 * frozen-texts.test.ts: checks that no module stores translated text in a constant, because that text would not change
 * when the user changes the language.
 *
 * This test isn't in test/client, because the files there share loaded modules and rendered elements. This test needs
 * modules that nothing has loaded yet.
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

/**
 * Time limit for loading the modules. All of them are compiled for this test alone, which takes over half a minute on a
 * busy machine.
 */
const LOAD_MS = 240_000

test("[LG2] no translated text is read while the modules are loading", { timeout: LOAD_MS }, async () => {
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
