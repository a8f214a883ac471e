/**
 * canvas-panel.test.ts: a canvas document in the panel, in a real Chromium: the panel's position, resizing it, the
 * focus, and reloading the page.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, openPage, PHONE, untilSettled, type View } from "./page.ts"

let browser: Browser
let cuecard: Cuecard

beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "1" } })
  browser = await openChromium()
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
})

const OPEN = '.canvas [data-icon="panel"]'

/** Opens a page with a document in two versions, and opens the second version in the panel. */
async function openPanel(view: View) {
  const opened = await openPage(browser, cuecard, view)
  for (const n of [1, 2]) {
    const args = { title: "Plan", html: `<!doctype html>\n<h1>Plan ${n}</h1>\n<p>Words</p>`, height: 200 }
    await askQuestion(opened.page, `/call canvas_create ${JSON.stringify(args)}`)
    await untilSettled(opened.page, n)
  }
  await opened.page.locator(OPEN).last().click()
  await opened.page.waitForSelector(".canvas-panel iframe")
  return opened
}

const panelBox = (page: Page) => page.locator(".canvas-panel").boundingBox()

test("[CP1] [CP2] [CP3] [CP6] on a desktop, the panel is beside the conversation and can be resized, and the focus returns", async () => {
  const { page, errors } = await openPanel({})
  await page.frameLocator(".canvas-panel iframe").getByText("Plan 2").waitFor()
  const [panel, view] = [await panelBox(page), await page.locator(".view").boundingBox()]
  expect(panel?.height).toBe(page.viewportSize()?.height)
  expect(Math.round((view?.x ?? 0) + (view?.width ?? 0))).toBeLessThanOrEqual(Math.round(panel?.x ?? 0))
  // The conversation can still be used.
  await page.fill(".composer textarea", "Hello")
  await page.locator(".edge").press("ArrowLeft")
  expect((await panelBox(page))?.width).toBeGreaterThan(panel?.width ?? 0)
  await page.mouse.move((panel?.x ?? 0) - 20, 300)
  await page.mouse.down()
  await page.mouse.move(1280 - 400, 300, { steps: 3 })
  await page.mouse.up()
  await page.locator('.versions [data-icon="back"]').click()
  await page.frameLocator(".canvas-panel iframe").getByText("Plan 1").waitFor()
  await page.locator(".canvas-panel .views button").last().click()
  await page.locator(".canvas-panel pre").getByText("Plan 1").waitFor()
  const saved = page.waitForEvent("download")
  await page.locator('.canvas-panel [data-icon="download"]').first().click()
  expect((await saved).suggestedFilename()).toBe("Plan.html")
  await page.keyboard.press("Escape")
  await page.waitForSelector(".canvas-panel", { state: "detached" })
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Open in panel")
  await page.reload()
  await page.waitForSelector(OPEN)
  expect(await page.locator(".canvas-panel").count()).toBe(0)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[CP1] on a phone, the panel is a sheet that covers the whole window", async () => {
  const { page, errors } = await openPanel({ size: PHONE })
  expect(await panelBox(page)).toEqual({ x: 0, y: 0, ...PHONE })
  expect(await page.locator(".canvas-panel:modal").count()).toBe(1)
  expect(errors).toEqual([])
  await page.context().close()
})
