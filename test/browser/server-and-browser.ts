/** server-and-browser.ts: starts a server and a Chromium for the tests of one file, and closes them afterwards. */

import { type Cuecard, type CuecardOptions, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { type Bytes, makeFiles } from "./samples.ts"

export interface BrowserSetup {
  cuecard: Cuecard
  browser: Browser
  /** Images, audio, video and tables, by URL; empty unless `withFiles` is true. */
  files: ReadonlyMap<string, Bytes>
}

export function useServerAndBrowser(options: CuecardOptions = {}, { withFiles = false } = {}): Readonly<BrowserSetup> {
  const setup: Partial<BrowserSetup> & Pick<BrowserSetup, "files"> = { files: new Map() }
  beforeAll(async () => {
    // Logged to the running test's console, whose output is printed if that test fails.
    setup.cuecard = await startCuecard({ onLog: console.log, ...options })
    setup.browser = await openChromium()
    if (withFiles) setup.files = await makeFiles(setup.browser)
  })
  afterAll(async () => {
    await closeContexts(setup.browser)
    await setup.cuecard?.close()
  })
  // `beforeAll` sets all fields before the first test.
  return setup as BrowserSetup
}
