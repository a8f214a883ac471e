/** stage.ts: starts a server and a Chromium for the tests of one file, and closes them afterwards. */

import { type Cuecard, type CuecardOptions, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { launchChromium } from "../support/chromium.ts"
import { type Bytes, makeFiles } from "./samples.ts"

interface Stage {
  cuecard: Cuecard
  browser: Browser
  /** Images, audio, video and tables by their addresses; empty without `withFiles`. */
  files: ReadonlyMap<string, Bytes>
}

export function setStage(options: CuecardOptions = {}, { withFiles = false } = {}): Readonly<Stage> {
  const stage: Partial<Stage> & Pick<Stage, "files"> = { files: new Map() }
  beforeAll(async () => {
    // What the server logs belongs to the test that runs: it is printed when that test fails.
    stage.cuecard = await startCuecard({ onLog: console.log, ...options })
    stage.browser = await launchChromium()
    if (!withFiles) return
    const page = await stage.browser.newPage()
    stage.files = await makeFiles(page)
    await page.close()
  })
  afterAll(async () => {
    await stage.browser?.close()
    await stage.cuecard?.close()
  })
  // All fields are set before the first test.
  return stage as Stage
}
