/** search.test.ts: the command palette, the search and the keyboard shortcuts, in a real Chromium on the built page. */

import process from "node:process"
import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { importMessages } from "../support/import-messages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP_AND_PHONE, FIELD, openPage, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser()
const PALETTE = "dialog.palette"
const OPTION = `${PALETTE} [role=option]`

/** Presses a shortcut until it takes effect, because its code is loaded after the messages. */
async function pressUntil(page: Page, keys: string, selector: string): Promise<void> {
  const isShown = (): Promise<boolean> =>
    page.waitForSelector(selector, { timeout: 3_000 }).then(
      () => true,
      () => false,
    )
  do await page.keyboard.press(keys)
  while (!(await isShown()))
}

async function openPalette(page: Page, text: string): Promise<void> {
  await pressUntil(page, "Control+k", PALETTE)
  await page.keyboard.type(text)
}

/** Returns the text of the message that contains the focused element. */
const readFocusedMessage = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.closest("article")?.textContent ?? "")

test("[LB1] [LB5] with the keyboard alone, the palette opens the message that contains a word", async () => {
  const { browser, cuecard } = setup
  const { page, errors } = await openPage(browser, cuecard)
  await askQuestion(page, "/say The heron waits in the reeds.")
  await untilSettled(page, 1)
  await page.click(".sidebar .new")
  await page.waitForSelector("article", { state: "detached" })
  await askQuestion(page, "/say Something else.")
  await untilSettled(page, 1)
  const other = page.url()
  await openPalette(page, "heron")
  await page.waitForSelector(`${OPTION} mark`)
  expect(await page.textContent(`${OPTION} mark`)).toBe("heron")
  // The conversation's title also contains the word, and is listed first.
  while (!((await page.textContent(`${OPTION}[aria-selected=true] .snippet`, { timeout: 500 }).catch(() => "")) ?? ""))
    await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await expect.poll(() => readFocusedMessage(page)).toContain("heron")
  expect(page.url()).not.toBe(other)
  expect(page.url()).toMatch(/#\/s\/[\w-]+\/m\/[\w-]+$/)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB7] [LB8] the search bar finds messages that aren't loaded, and keeps focus", async () => {
  const { browser, cuecard } = setup
  const textOf = (at: number): string => (at === 20 || at === 250 ? `A kingfisher, ${at}` : `Text ${at}`)
  const session = await importMessages(cuecard, 300, textOf)
  const { page, errors } = await openPage(browser, cuecard, { at: `/#/s/${session}` })
  await page.waitForSelector("article[data-id]")
  await pressUntil(page, "Control+Shift+f", ".find-bar input:focus")
  await page.keyboard.type("kingfisher")
  await page.waitForSelector(".find-bar p:has-text('2 results')")
  await page.keyboard.press("Enter")
  await page.waitForSelector(".find-bar p:has-text('1 of 2')")
  await page.waitForSelector("article[data-marked]:has-text('kingfisher, 250')")
  await page.keyboard.press("Enter")
  await page.waitForSelector("article[data-marked]:has-text('kingfisher, 20')")
  expect(await page.evaluate(() => document.activeElement?.closest("search") !== null)).toBe(true)
  await page.keyboard.press("Escape")
  await page.waitForSelector(".find-bar", { state: "detached" })
  expect(await page.evaluate(() => document.activeElement?.matches(".composer textarea"))).toBe(true)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[KB2] [KB4] `?` lists the shortcuts, and none takes effect in a text field", async () => {
  const { browser, cuecard } = setup
  const { page, errors } = await openPage(browser, cuecard)
  await page.focus(FIELD)
  await page.keyboard.type("j?/k")
  expect(await page.inputValue(FIELD)).toBe("j?/k")
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await pressUntil(page, "?", "dialog .shortcuts")
  expect(await page.locator(".shortcuts dt").count()).toBeGreaterThanOrEqual(12)
  // Behind the dialog, no shortcut takes effect.
  await page.keyboard.press("Control+k")
  expect(await page.locator(PALETTE).count()).toBe(0)
  await page.click(".single-keys input")
  await page.keyboard.press("Escape")
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await page.keyboard.press("?")
  expect(await page.locator("dialog .shortcuts").count()).toBe(0)
  await page.keyboard.press("Control+/")
  await page.waitForSelector("dialog .shortcuts")
  expect(errors).toEqual([])
  await page.context().close()
})

test("[KB5] keys move between conversations and messages", async () => {
  const { browser, cuecard } = setup
  const { page, errors } = await openPage(browser, cuecard)
  await askQuestion(page, "/say One.")
  await untilSettled(page, 1)
  const first = page.url()
  await page.keyboard.press("Control+Shift+o")
  await page.waitForSelector("article", { state: "detached" })
  await askQuestion(page, "/say Two.")
  await untilSettled(page, 1)
  await page.keyboard.press("Alt+ArrowDown")
  await expect.poll(() => page.url()).toBe(first)
  await page.waitForSelector("article:has-text('One.')")
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await page.keyboard.press("k")
  expect(await readFocusedMessage(page)).toContain("One.")
  await page.keyboard.press("/")
  expect(await page.evaluate(() => document.activeElement?.matches(".composer textarea"))).toBe(true)
  // The shortcut that leads to the list focuses the open conversation.
  await page.keyboard.press("Control+Shift+s")
  expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe(new URL(first).hash)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[LB6] a failed search is reported and can be repeated; a search without hits is also reported", async () => {
  const { browser, cuecard } = setup
  const { page } = await openPage(browser, cuecard)
  await page.waitForSelector(".composer")
  // On a slow machine, the palette also searches for only the first letters. Every search fails until the notice is
  // shown.
  await page.route("**/v1/search?*", (route) => route.abort())
  await openPalette(page, "zzzz")
  await page.waitForSelector(`${PALETTE} button:has-text("Try again")`)
  await page.unroute("**/v1/search?*")
  await page.click(`${PALETTE} button:has-text("Try again")`)
  await page.waitForSelector(`${PALETTE} p:has-text("Nothing found.")`)
  await page.keyboard.press("Escape")
  await page.waitForSelector(PALETTE, { state: "detached" })
  await page.context().close()
})

test.each(DESKTOP_AND_PHONE)(
  "[AX1] the palette and the list of shortcuts have no axe violation on a %s",
  async (_name, size, theme) => {
    const { browser, cuecard } = setup
    const { page } = await openPage(browser, cuecard, { theme, size, bypassCSP: true })
    await askQuestion(page, "/say A line about an egret.")
    await untilSettled(page, 1)
    for (const open of [() => openPalette(page, "egret"), () => page.keyboard.press("Control+/")]) {
      await open()
      await page.waitForTimeout(600)
      expect(await findViolations(page)).toEqual([])
      if (process.env["SHOTS"] !== undefined) {
        const name = `${await page.locator(PALETTE).count()}-${theme}`
        await page.screenshot({ path: `${process.env["SHOTS"]}/${name}.png` })
      }
      await page.keyboard.press("Escape")
    }
    await page.context().close()
  },
)
