/**
 * sdk-examples.test.ts: builds the example apps and uses them in a browser, on an origin that differs from the
 * server's.
 */

import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { build, type PreviewServer, preview } from "vite"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"

let browser: Browser
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cuecard-examples-"))
  browser = await openChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await rm(folder, { recursive: true })
})

/** Builds an example as a developer would, and serves the result. */
async function serveExample(name: string): Promise<{ readonly url: string; readonly server: PreviewServer }> {
  const outDir = join(folder, name)
  const root = resolve("examples", name)
  await build({ root, logLevel: "error", build: { outDir, emptyOutDir: true } })
  expect(existsSync(join(outDir, "index.html"))).toBe(true)
  const server = await preview({ root, logLevel: "error", preview: { port: 0, host: "127.0.0.1" }, build: { outDir } })
  return { url: server.resolvedUrls?.local[0] ?? "", server }
}

test.each(everyNth(["react", "preact"], 2))(
  "[SK10] the %s example creates a conversation, shows answers, approves a call, attaches a file and continues after a reload",
  async (name) => {
    const { url, server } = await serveExample(name)
    const cuecard: Cuecard = await startCuecard({ vars: { ALLOWED_ORIGINS: new URL(url).origin } })
    try {
      const page = await browser.newPage({ viewport: { width: 900, height: 700 } })
      const errors: string[] = []
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text())
      })
      page.on("pageerror", (error) => errors.push(String(error)))
      await page.goto(`${url}?server=${encodeURIComponent(cuecard.url)}`)
      await page.getByRole("button", { name: "New conversation" }).click()
      const send = async (text: string): Promise<void> => {
        await page.getByRole("textbox", { name: "Message" }).fill(text)
        await page.getByRole("button", { name: "Send" }).click()
      }
      await send("/say Written by the server.")
      await page.locator('article[data-status="completed"]', { hasText: "Written by the server." }).last().waitFor()
      await send("Rename this conversation to Rain or shine")
      await page.getByRole("button", { name: "Allow" }).click()
      await page.getByRole("navigation").getByRole("button", { name: "Rain or shine" }).waitFor()
      await page.locator('input[type="file"]').setInputFiles({
        name: "notes.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("Some notes."),
      })
      await send("/say Read.")
      await page.locator('article[data-status="completed"]', { hasText: "Read." }).last().waitFor()
      await page.getByRole("button", { name: "notes.txt" }).waitFor()
      // The conversation is the same after a reload.
      const before = await page.locator("article").allInnerTexts()
      await page.reload()
      await page.getByRole("button", { name: "Rain or shine" }).click()
      await expect.poll(() => page.locator("article").allInnerTexts()).toEqual(before)
      expect(errors).toEqual([])
    } finally {
      await server.close()
      await cuecard.close()
    }
  },
)
