/**
 * crash-and-summary.test.ts: an answer that a crash has cut off, and the summary of a long conversation, each on a
 * separate server.
 */

import { startCuecard } from "cuecard/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, openPage, transcriptOf, untilSettled } from "./page.ts"

let browser: Browser

beforeAll(async () => {
  browser = await openChromium()
})

afterAll(() => closeContexts(browser))

testInFull(
  "[PG21] an answer that a crash has cut off shows everything that was visible, and can be continued",
  async () => {
    const vars = { SCRIPTED_DELAY_MS: "5" }
    const before = await startCuecard({ vars })
    const { page } = await openPage(browser, before)
    await askQuestion(page, "/bench deltas=400 delay_ms=20")
    await page.waitForFunction(
      () => (document.querySelector("[data-status=running] [data-segment=text]")?.textContent?.length ?? 0) > 100,
    )
    await before.kill()
    const seen = (await page.textContent("article[data-status=running] [data-segment=text]")) ?? ""
    const after = await startCuecard({ vars, persist: before.persist, port: Number(new URL(before.url).port) })
    await page.waitForSelector("[data-note=interrupted]", { timeout: 30_000 })
    const partialText = (await page.textContent("article[data-status=interrupted] [data-segment=text]")) ?? ""
    expect(partialText.startsWith(seen)).toBe(true)
    await page.click("text=Continue")
    await page.waitForSelector("article[data-role=assistant][data-status=completed]", { timeout: 30_000 })
    expect(await page.textContent("article[data-role=assistant] .versions")).toBe("2/2")
    await page.context().close()
    await after.close()
    await before.close()
  },
)

test("[PG24] a long conversation gets a collapsed summary above the answer for which it was created, and keeps all messages", async () => {
  const small = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "0", MODEL_CONTEXT_TOKENS: "3000" } })
  const { page, errors } = await openPage(browser, small)
  for (let at = 1; at <= 10; at++) {
    await askQuestion(page, `/say ${"many words about the weather ".repeat(40)}${at}`)
    await untilSettled(page, at)
  }
  const fold = page.locator("details.summary").first()
  await fold.waitFor()
  expect(await fold.getAttribute("open")).toBe(null)
  expect(await page.$$("article")).toHaveLength(20)
  const live = await transcriptOf(page)
  await page.reload()
  await untilSettled(page, 10)
  expect(await transcriptOf(page)).toBe(live)
  await fold.locator("summary").click()
  expect(((await fold.locator(".prose").textContent()) ?? "").length).toBeGreaterThan(10)
  expect(errors).toEqual([])
  await page.context().close()
  await small.close()
})
