/** shared-copy.test.ts: sharing a conversation by link on the page, and the page that the readers see. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, openPage, PHONE, sessionIn, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()
const SOON = { timeout: 20_000 }

/** Opens a copy as somebody who has only its URL. */
async function openCopy(url: string, size = { width: 1280, height: 900 }): Promise<{ page: Page; status: number }> {
  const context = await setup.browser.newContext({ viewport: size, bypassCSP: true })
  const page = await context.newPage()
  const response = await page.goto(url)
  expect(response?.headers()["x-robots-tag"]).toContain("noindex")
  expect(response?.headers()["referrer-policy"]).toBe("no-referrer")
  return { page, status: response?.status() ?? 0 }
}

test("[SR9] [SR10] [SR11] a link is created, read without an account, listed and deleted", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  await askQuestion(page, "What's the weather in London?")
  await untilSettled(page)
  await askQuestion(page, "/say a later answer")
  await untilSettled(page, 2)
  const id = sessionIn(page)

  // Opens the dialog from the menu of the first answer.
  await page.locator("article[data-role=assistant]").first().hover()
  await page.locator("article[data-role=assistant] .acts [aria-haspopup=menu]").first().click()
  await page.click('[role=menuitem]:text-is("Share up to here")')
  const dialog = page.getByRole("dialog")
  expect(await dialog.textContent()).toContain("up to the selected message")
  await dialog.getByLabel("Expires").selectOption("7")
  await dialog.getByLabel("Show my name").check()
  await dialog.getByRole("button", { name: "Copy link" }).click()
  const address = dialog.getByLabel("Link address")
  const url = await address.inputValue(SOON)
  expect(await dialog.locator(".links").textContent()).toMatch(/Created .* · expires .* · with your name/)
  expect(await findViolations(page)).toEqual([])
  await page.keyboard.press("Escape")

  const reader = await openCopy(url)
  expect(reader.status).toBe(200)
  await reader.page.waitForSelector("[data-transcript] article", SOON)
  expect(await reader.page.textContent("h1")).toBe("What's the weather in London?")
  expect(await reader.page.textContent(".shared-head")).toContain("Shared by")
  expect(await reader.page.locator("[data-transcript] article").count()).toBe(2)
  expect(await reader.page.locator("textarea, .composer, .acts [aria-haspopup]").count()).toBe(0)
  expect(await reader.page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ""])
  expect(await findViolations(reader.page)).toEqual([])
  await reader.page.setViewportSize(PHONE)
  const overflow = await reader.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(overflow).toBe(0)
  expect(await findViolations(reader.page)).toEqual([])

  await page.hover(`[data-session="${id}"]`)
  await page.click(`[data-session="${id}"] .more`)
  await page.click('[role=menuitem]:text-is("Share…")')
  await dialog.getByRole("button", { name: /^Delete the link/ }).click()
  await expect.poll(() => address.count(), SOON).toBe(0)
  await reader.page.reload()
  await expect.poll(() => reader.page.textContent("h1"), SOON).toBe("This conversation isn't available")
  const unknown = await openCopy(`${setup.cuecard.url}/share/nobody.${"x".repeat(22)}`)
  expect(unknown.status).toBe(404)
  await expect.poll(() => unknown.page.textContent("h1"), SOON).toBe("This conversation isn't available")
  await Promise.all([page, reader.page, unknown.page].map((tab) => tab.context().close()))
})
