/**
 * page-design.test.ts: the page's design in a real Chromium: the welcome screen, the header and its menu, cards,
 * buttons on touch screens, and the settings page.
 */

import type { Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { askQuestion, DESKTOP, FIELD, openIn, openPage, PHONE, untilSettled, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).first().boundingBox()
  if (box === null) throw new Error(`${selector} isn't visible.`)
  return box
}

describe("a new conversation", () => {
  test.each(
    everyNth(
      [
        ["desktop", DESKTOP],
        ["phone", PHONE],
        ["narrow window", { width: 320, height: 568 }],
      ] as const,
      3,
    ),
  )("[VD3] on a %s has the composer below the heading, and the examples below the composer", async (_, size) => {
    const { page } = await openPage(setup.browser, setup.cuecard, { size })
    const [heading, composer, examples] = [
      await boxOf(page, ".welcome h2"),
      await boxOf(page, ".composer"),
      await boxOf(page, ".suggestions button"),
    ]
    expect(composer.y).toBeGreaterThan(heading.y + heading.height)
    expect(composer.y - heading.y - heading.height).toBeLessThan(120)
    expect(examples.y).toBeGreaterThanOrEqual(composer.y + composer.height)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(size.width)
    await page.click(".suggestions button:has-text('London')")
    await untilSettled(page)
    expect(await page.$(".suggestions")).toBe(null)
    expect(await page.evaluate((field) => document.activeElement?.matches(field), FIELD)).toBe(true)
    await page.context().close()
  })
})

test("[VD4] the header's menu renames and deletes the open conversation", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  expect(await page.isVisible(".topbar")).toBe(false)
  await askQuestion(page, "/say one")
  await untilSettled(page)
  await expect.poll(() => page.textContent(".topbar .title"), SOON).toBe("/say one")
  await page.click(".title-menu")
  await page.waitForSelector(".menu", SOON)
  await page.keyboard.press("Escape")
  expect(await page.evaluate(() => document.activeElement?.className)).toBe("title-menu")
  await page.click(".title-menu")
  await page.click("[role=menuitem]:text-is('Rename')")
  await page.fill(".topbar .rename", "A better title")
  await page.keyboard.press("Enter")
  await expect.poll(() => page.textContent(".topbar .title"), SOON).toBe("A better title")
  await expect.poll(() => page.textContent(".sidebar li[data-current] .title"), SOON).toBe("A better title")
  await page.click(".title-menu")
  await page.click("[role=menuitem]:text-is('Delete')")
  await page.waitForSelector(".welcome", SOON)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[CA9] text that repeats its card takes up no space, except in print", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await askQuestion(page, "What's the weather in London?")
  await untilSettled(page)
  expect((await boxOf(page, ".card")).height).toBeGreaterThan(100)
  const text = await boxOf(page, ".synthesis[data-repeated]")
  expect([text.width, text.height]).toEqual([1, 1])
  await page.emulateMedia({ media: "print" })
  expect((await boxOf(page, ".synthesis")).height).toBeGreaterThan(10)
  await page.context().close()
})

test("[VD9] cards without text between them are next to each other on a desktop, and one below the other on a phone", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  const calls = ["London", "Tokyo"].map((location) => ({
    type: "tool_call",
    name: "weather",
    args: JSON.stringify({ location }),
  }))
  const delta = '<span id="weather_1">London</span> <span id="weather_2">Tokyo</span>'
  await askQuestion(page, `/script ${JSON.stringify([calls, [{ type: "text_delta", delta }]])}`)
  await untilSettled(page)
  await untilStill(page)
  const boxesOf = () => page.$$eval(".card", (all) => all.map((element) => element.getBoundingClientRect().toJSON()))
  const [left, right] = await boxesOf()
  expect(right.top).toBe(left.top)
  expect(right.left).toBeGreaterThan(left.right)
  await page.screenshot({ path: "test/browser/out/cards-desk.png" })
  await page.setViewportSize(PHONE)
  await untilStill(page)
  const [upper, lower] = await boxesOf()
  expect(lower.left).toBe(upper.left)
  expect(lower.top).toBeGreaterThan(upper.bottom)
  await page.context().close()
})

test("[VD5] [AX11] on a touch screen, only the last answer shows its buttons, and a tapped message's buttons cover no text", async () => {
  const context = await setup.browser.newContext({
    viewport: PHONE,
    hasTouch: true,
    isMobile: true,
    reducedMotion: "reduce",
  })
  const { page } = await openIn(context, setup.cuecard)
  await askQuestion(page, "/say one")
  await untilSettled(page)
  await askQuestion(page, "/say two")
  await untilSettled(page, 2)
  await untilStill(page)
  const opacities = await page.$$eval("article > .acts", (all) =>
    all.map((element) => getComputedStyle(element).opacity),
  )
  expect(opacities).toEqual(["0", "0", "0", "1"])
  // A tap shows the buttons of an earlier message. The buttons cover none of the text around them, and nothing moves.
  const topsOf = () => page.$$eval("article", (all) => all.map((element) => element.getBoundingClientRect().top))
  const before = await topsOf()
  for (const nth of [0, 1, 2]) {
    // Taps the space below the text, because the tap must not press a button that it makes visible.
    const { height = 0 } = (await page.locator("article").nth(nth).boundingBox()) ?? {}
    await page
      .locator("article")
      .nth(nth)
      .tap({ position: { x: 100, y: height - 20 } })
    const acts = page.locator("article").nth(nth).locator(".acts")
    await expect.poll(() => acts.evaluate((act) => getComputedStyle(act).opacity)).toBe("1")
    const bar = await acts.boundingBox()
    const texts = await page.$$eval("article > [data-segment]", (all) =>
      all.map((element) => element.getBoundingClientRect().toJSON() as DOMRect),
    )
    const covered = texts.filter(({ top, bottom }) => bar !== null && top < bar.y + bar.height && bottom > bar.y)
    expect(covered, `message ${nth}`).toEqual([])
    expect(await page.$(".menu, .editor, .chip.quoted, .act[aria-pressed=true]")).toBe(null)
  }
  expect(await topsOf()).toEqual(before)
  await context.close()
})

test("[VD6] [VD8] the user menu leads to the settings, which change the language and delete everything", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  await askQuestion(page, "/say one")
  await untilSettled(page)
  await page.click(".account-button")
  await page.click(".account-panel a[href='#/settings']")
  await page.waitForSelector(".settings h1:focus", SOON)
  expect(await page.$(".composer")).toBe(null)
  await page.selectOption(".settings select", "ar")
  await page.waitForSelector("html[dir=rtl]", SOON)
  await expect.poll(() => page.textContent(".settings h1"), SOON).toBe("الإعدادات")
  await page.selectOption(".settings select", "en")
  await page.waitForSelector("html[dir=ltr]", SOON)
  await page.click(".settings .grave")
  await page.fill(".confirm-word input", "delete")
  await page.keyboard.press("Enter")
  await page.waitForSelector(".job:has-text('deleted')", SOON)
  await expect.poll(() => page.locator(".sidebar nav li").count(), SOON).toBe(0)
  await page.click(".settings-back")
  await page.waitForSelector(".composer", SOON)
  expect(errors).toEqual([])
  await page.context().close()
})
