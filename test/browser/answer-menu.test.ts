/**
 * answer-menu.test.ts: an answer's trace id identifies the turn's line in a real server's log. Also tests suggested
 * questions.
 */

import { callApi, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { findLeak, noteContent } from "../support/log-check.ts"
import { askQuestion, DESKTOP, DESKTOP_AND_PHONE, openPage, PHONE, untilSettled, untilStill } from "./page.ts"

const OUT = "test/browser/out"

test.each(DESKTOP_AND_PHONE)(
  "[OB9] [OB2] the trace id copied on a %s identifies the turn's log line",
  async (name, size, theme) => {
    const lines: string[] = []
    const cuecard: Cuecard = await startCuecard({ onLog: (line) => void lines.push(line) })
    const browser = await openChromium()
    const { page } = await openPage(browser, cuecard, { size, theme })
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    await askQuestion(page, "/say follow me")
    await untilSettled(page)
    await page.click("[aria-label=More]")
    await page.waitForSelector("[role=menu]")
    // Positioning the menu takes a frame.
    await untilStill(page)
    await page.screenshot({ path: `${OUT}/answer-menu-${name}.png` })
    await page.click("text=Copy trace ID")
    await page.waitForSelector("[role=menuitem] >> text=Copied")
    const trace = await page.evaluate(() => navigator.clipboard.readText())
    const found = lines.map((line) => JSON.parse(line)).filter((line) => line.trace === trace)
    expect(found.map(({ event }) => event)).toContain("turn_end")
    expect(found.find(({ event }) => event === "turn_end")).toMatchObject({ status: "completed", model: "scripted" })
    // The menu closes automatically and returns the focus.
    await page.waitForSelector("[role=menu]", { state: "detached" })
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("More")
    await closeContexts(browser)
    await cuecard.close()
  },
)

test.each(
  everyNth(
    [
      ["desktop", DESKTOP, "dark"],
      ["phone", PHONE, "light"],
    ] as const,
    2,
  ),
)(
  "[FU3] suggested questions are shown below the latest answer, and a click asks one, on a %s",
  async (name, size, theme) => {
    const cuecard = await startCuecard()
    const browser = await openChromium()
    const settings = { follow_ups: true, embed_origins: [], media_hosts: [] }
    const owner = await tokenFor(cuecard, "root", "owner")
    expect((await callApi(cuecard, owner, "PUT", "/v1/settings", settings)).status).toBe(200)
    const { page, errors } = await openPage(browser, cuecard, { size, theme, bypassCSP: true })
    await askQuestion(page, "What's the weather in London?")
    const questions = page.getByRole("group", { name: "Suggested questions" }).getByRole("button")
    await expect
      .poll(() => questions.allTextContents())
      .toEqual(["And tomorrow?", "Do I need an umbrella?", "Draw the temperatures as a chart"])
    await untilStill(page)
    const heights = await Promise.all(
      [".acts", ".follow-ups"].map((selector) => page.locator(selector).last().boundingBox()),
    )
    expect((heights[0]?.y ?? 0) + (heights[0]?.height ?? 0)).toBeLessThanOrEqual(heights[1]?.y ?? 0)
    expect(await findViolations(page)).toEqual([])
    await page.screenshot({ path: `${OUT}/suggested-questions-${name}.png` })
    await page.reload()
    await expect.poll(() => questions.count()).toBe(3)
    await questions.first().click()
    await untilSettled(page, 2)
    expect(await page.locator("article[data-role=user]").last().textContent()).toContain("And tomorrow?")
    // Only the latest answer has suggested questions.
    await expect.poll(() => page.locator(".follow-ups").count()).toBe(1)
    expect(await page.locator("article").last().locator(".follow-ups").count()).toBe(1)
    expect(errors).toEqual([])
    await closeContexts(browser)
    await cuecard.close()
  },
)

test("[OB6] text that the test has planted in a real server's log line is detected", async () => {
  const lines: string[] = []
  const cuecard = await startCuecard({ vars: { MODEL: "unknown" }, onLog: (line) => void lines.push(line) })
  const { id } = await cuecard.createSession()
  const headers = { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" }
  const body = JSON.stringify({ content: "/say something" })
  await fetch(`${cuecard.url}/v1/sessions/${id}/messages`, { method: "POST", headers, body })
  const missing = () => lines.find((line) => line.includes('"model_missing"'))
  await expect.poll(missing).toBeDefined()
  expect(findLeak(missing() ?? "")).toBe(null)
  // This is the only field that contains spaces. Its text stands in for a quoted message.
  noteContent('MODEL is "unknown"')
  expect(findLeak(missing() ?? "")).toContain("noted text")
  await cuecard.close()
})
