/** keyboard.test.ts: documents that take the focus while the user is typing, in a real Chromium on the built page. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { FIELD, openIn } from "./page.ts"
import { canvas, epochOf, createWireMessage, sendMessages, serveFiles, text } from "./samples.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const GAME = "/canvas/documents/game/index.html"
const WORDS = "What will the weather be?"

const setup = useServerAndBrowser()

/** Opens a page with a document whose function `take` tries to take the focus. */
async function openWithDocument(script: string): Promise<Page> {
  const context = await setup.browser.newContext()
  const body = Buffer.from(`<!doctype html><input id="i"><script>const take=()=>{${script}}</script>`)
  await serveFiles(context, new Map([[GAME, { type: "text/html", body }]]))
  const { id } = await setup.cuecard.createSession()
  const messages = [
    createWireMessage("user", [text("Play")]),
    createWireMessage("assistant", [canvas(GAME, "Game", 200)]),
  ]
  await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), messages)
  const { page } = await openIn(context, setup.cuecard, `#/s/${id}`)
  await expect
    .poll(
      () =>
        frameOf(page)
          ?.evaluate("typeof take")
          .catch(() => ""),
      SOON,
    )
    .toBe("function")
  return page
}

const frameOf = (page: Page) => page.frames().find((frame) => frame.url().includes(GAME))
const findFocused = (page: Page) => page.evaluate(() => document.activeElement?.localName)

test.each(
  everyNth(
    [
      ["a field of its own", "setInterval(()=>i.focus(),20)"],
      ["itself", "setInterval(()=>{window.focus();i.focus()},20)"],
      ["its URL's target element", "setInterval(()=>{location.hash='x';location.hash='i';i.select()},20)"],
    ],
    3,
  ),
)(
  "[PG52] a document that focuses %s repeatedly is removed, and typed text stays in the composer",
  async (_name, script) => {
    const page = await openWithDocument(`${script}`)
    await page.click(FIELD)
    await frameOf(page)?.evaluate("take()")
    await page.keyboard.type("x")
    await page.waitForSelector(".canvas .note", SOON)
    expect(await page.textContent(".canvas .note")).toContain("capturing your typing")
    await expect.poll(() => findFocused(page), SOON).toBe("textarea")
    await page.fill(FIELD, "")
    await page.keyboard.type(WORDS)
    expect(await page.inputValue(FIELD)).toBe(WORDS)
    await page.click(".canvas .note button")
    await page.waitForSelector(".canvas iframe")
    await page.context().close()
  },
)

test("[PG52] a document that takes the focus once is kept, and clicking the document gives it the focus", async () => {
  const page = await openWithDocument("i.focus()")
  await page.click(FIELD)
  await page.keyboard.type("Wh")
  await frameOf(page)?.evaluate("take()")
  await expect.poll(() => findFocused(page), SOON).toBe("textarea")
  await page.keyboard.type("at")
  expect(await page.inputValue(FIELD)).toBe("What")
  // Waits longer than typing protects the focus.
  await page.waitForTimeout(1_100)
  await page.frameLocator(".canvas iframe").locator("#i").click()
  await page.keyboard.type("left")
  expect(await frameOf(page)?.evaluate("i.value")).toBe("left")
  expect(await page.inputValue(FIELD)).toBe("What")
  await page.context().close()
})
