/**
 * sources.test.ts: the sources of an answer in a real Chromium on the built page: live, after a reload, and on a phone.
 */

import process from "node:process"
import { expect, test } from "vitest"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP_AND_PHONE, openPage, transcriptOf, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()

test.each(DESKTOP_AND_PHONE)(
  "[SC3] [SC4] [SC5] sources are listed and numbered, and nothing is loaded from them, on a %s",
  async (_name, size, theme) => {
    const { browser, cuecard } = setup
    const view = { theme, size, bypassCSP: true }
    const { page, errors, externalUrls } = await openPage(browser, cuecard, view)
    await askQuestion(page, "Search for tea")
    await untilSettled(page, 1)
    await page.waitForSelector(".sources li")
    expect(await page.locator(".sources li").count()).toBe(3)
    const link = page.locator(".source-link a").first()
    expect(await link.textContent()).toMatch(/1$/)
    await page.keyboard.press("Shift+Tab")
    await link.focus()
    if (size === undefined) await page.waitForSelector(".source-card:visible")
    if (process.env["SHOTS"] !== undefined)
      await page.screenshot({ path: `${process.env["SHOTS"]}/sources-${theme}.png` })
    expect(await findViolations(page)).toEqual([])
    await page.focus(".composer textarea")
    const live = await transcriptOf(page)
    await page.reload()
    await page.waitForSelector(".sources li")
    await untilSettled(page, 1)
    expect(await transcriptOf(page)).toBe(live)
    expect(externalUrls).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  },
)
