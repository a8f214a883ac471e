/** page-versions.test.ts: an open page whose version is no longer served, in a real Chromium with the real Worker. */

import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, openPage, untilSettled } from "./page.ts"

const ASSETS = "dist/client/assets"
let persist = ""
let cuecard: Cuecard
let browser: Browser

/**
 * Stores this build's scripts in the bucket under another version's file names, as if that version had been deployed.
 */
function keepAsOtherVersion(): void {
  const list = join(persist, "files.json")
  const objects = readdirSync(ASSETS).map((name) => ({
    key: `~page/${toOtherName(name)}`,
    file: join(ASSETS, name),
  }))
  writeFileSync(list, JSON.stringify(objects))
  const wrangler = "node_modules/wrangler/bin/wrangler.js"
  const args = ["r2", "bulk", "put", "cuecard-media", "--filename", list, "--local", "--persist-to", persist]
  execFileSync(process.execPath, [wrangler, ...args, "--config", "dist/cuecard/wrangler.json"], {
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" },
    stdio: "pipe",
  })
}

/**
 * Reverses the hash in the name. No build contains a file of that name, and no two files of a build get the same name.
 */
function toOtherName(name: string): string {
  return name.replace(/[\w-]{8}(?=\.(?:js|css)$)/, (hash) => hash.split("").reverse().join(""))
}

beforeAll(async () => {
  persist = mkdtempSync(join(tmpdir(), "cuecard-versions-"))
  keepAsOtherVersion()
  // wrangler adds a folder that names its storage format.
  cuecard = await startCuecard({ persist: join(persist, "v3"), vars: { SCRIPTED_DELAY_MS: "0" }, onLog: console.log })
  browser = await openChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
  rmSync(persist, { recursive: true, force: true })
})

test("[DP10] a page of another version loads a dialog after the server has changed, and keeps its draft", async () => {
  const { page, errors } = await openPage(browser, cuecard)
  await askQuestion(page, "/say hello")
  await untilSettled(page, 1)
  await page.fill(".composer textarea", "a draft")
  const asked: string[] = []
  // From now on, the page requests files that the served version doesn't have.
  await page.route("**/assets/import-dialog-*.js", async (route) => {
    const url = new URL(route.request().url())
    url.pathname = url.pathname.replace(/[^/]+$/, toOtherName)
    const response = await route.fetch({ url: url.href })
    asked.push(`${response.status()} ${response.headers()["content-type"]}`)
    await route.fulfill({ response })
  })
  await page.click(".sidebar button.import")
  await page.waitForSelector("dialog.box", { timeout: 20_000 })
  expect(asked).toEqual(["200 text/javascript; charset=utf-8"])
  expect(await page.inputValue(".composer textarea")).toBe("a draft")
  expect(errors).toEqual([])
  await page.context().close()
})
