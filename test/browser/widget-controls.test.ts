/**
 * widget-controls.test.ts: in the widget, every item of the welcome screen and of an answer's menu does the same as on
 * the page.
 */

import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { callApi } from "./admin-pages.ts"
import { untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, EVENT_LOG, openSite, type Site, siteDocument, startSite, untilSeen } from "./widget-pages.ts"

const OUT = "test/browser/out"
const setup = useServerAndBrowser()
let site: Site

beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
})
afterAll(async () => await site?.close())

async function openWidget(): Promise<{ page: Page; chat: Locator; errors: string[] }> {
  const { page, errors } = await openSite(setup.browser, site.serve(siteDocument(setup.cuecard, "", EVENT_LOG)))
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
  await untilSeen(page, "ready")
  return { page, chat: page.locator("cuecard-chat"), errors }
}

/** Returns the conversation that the widget has reported as open. */
async function readOpenSession(page: Page): Promise<string | null> {
  return await page.evaluate(
    () => Reflect.get(window, "seen").findLast(([name]: [string]) => name === "session")?.[1].session ?? null,
  )
}

async function send(page: Page, text: string): Promise<string> {
  const field = page.locator("cuecard-chat .composer textarea")
  await field.fill(text)
  await field.press("Enter")
  await page.locator("cuecard-chat article[data-role=assistant][data-status=completed]").waitFor()
  return (await readOpenSession(page)) ?? ""
}

test("[LB27] [OG8] [WG5] each item of the welcome screen works in the widget, and a temporary conversation is temporary", async () => {
  const { page, chat, errors } = await openWidget()
  const items = chat.locator(".suggestions button")
  const temporary = chat.getByRole("button", { name: "Temporary chat" })
  await temporary.waitFor()
  const names = await items.allTextContents()
  for (const name of names.slice(0, -1)) {
    await items.getByText(name, { exact: true }).click()
    await chat.locator("article[data-role=user]").getByText(name).waitFor()
    await chat.locator("article[data-role=assistant]").waitFor()
    await page.evaluate(() =>
      (document.querySelector("cuecard-chat") as unknown as { newSession(): void }).newSession(),
    )
    await chat.locator(".welcome").waitFor()
  }
  await temporary.click()
  const note = chat.locator(".temporary-note")
  await note.waitFor()
  await untilStill(page)
  await page.screenshot({ path: `${OUT}/widget-temporary.png` })
  const border = await chat.locator(".composer").evaluate((box) => getComputedStyle(box).borderStyle)
  expect(border).toBe("dashed")
  const id = await send(page, "/say nothing of this stays")
  await note.waitFor()
  const { cuecard } = setup
  const history = await callApi(cuecard, cuecard.token, "GET", `/v1/sessions/${id}/conversation/recent?limit=10`)
  expect(history.body).toMatchObject({ temporary: true })
  const list = await callApi(cuecard, cuecard.token, "GET", "/v1/sessions")
  expect(JSON.stringify(list.body)).not.toContain(id)
  expect(await page.evaluate(() => location.hash)).toBe("")
  expect(errors).toEqual([])
  await page.context().close()
})

test("[SR11] [WG8] each item of an answer's menu works in the widget, and the site's URL doesn't change", async () => {
  const { page, chat, errors } = await openWidget()
  const id = await send(page, "/say share and branch me")
  const address = page.url()
  const choose = async (name: string): Promise<void> => {
    await chat.locator("article[data-role=assistant]").last().getByRole("button", { name: "More" }).click()
    await chat.getByRole("menuitem", { name }).click()
  }
  await chat.getByRole("button", { name: "More" }).click()
  const names = await chat.getByRole("menuitem").allTextContents()
  await page.keyboard.press("Escape")
  expect(names.filter((name) => name !== "Read aloud")).toEqual([
    "Share up to here",
    "Branch into a new conversation",
    "Usage",
    "Copy trace ID",
  ])
  await choose("Copy trace ID")
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^[0-9a-f]{32}$/)
  await chat.getByRole("menu").waitFor({ state: "detached" })
  await choose("Usage")
  await chat.locator("dialog").waitFor()
  await page.keyboard.press("Escape")
  await choose("Share up to here")
  await chat.locator("dialog .link-share").waitFor()
  await chat.getByRole("button", { name: "Copy link" }).click()
  await chat.locator("dialog .links input").waitFor()
  await untilStill(page)
  await page.screenshot({ path: `${OUT}/widget-share.png` })
  await page.keyboard.press("Escape")
  await chat.locator("dialog").waitFor({ state: "detached" })
  await choose("Branch into a new conversation")
  await expect.poll(() => readOpenSession(page)).not.toBe(id)
  await chat.locator("article[data-role=assistant]").getByText("share and branch me").waitFor()
  expect(page.url()).toBe(address)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[WG11] [CA8] every row that the widget stores has the widget's prefix, and is used again after a reload", async () => {
  const { page, chat, errors } = await openWidget()
  await send(page, "What's the weather in London?")
  const unit = chat.locator(".card .unit")
  const before = (await unit.textContent()) ?? ""
  await unit.click()
  const chosen = before === "C" ? "F" : "C"
  await expect.poll(() => unit.textContent()).toBe(chosen)
  await chat.locator(".composer textarea").fill("A draft")
  const field = chat.locator(".composer textarea")
  await page.reload()
  await expect.poll(() => field.inputValue()).toBe("A draft")
  await expect.poll(() => unit.textContent()).toBe(chosen)
  const keys = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])
  expect(keys.length).toBeGreaterThanOrEqual(3)
  expect(keys.filter((key) => !key.startsWith(`cuecard-chat/`))).toEqual([])
  expect(errors).toEqual([])
  await page.context().close()
})
