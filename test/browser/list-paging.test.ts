/** list-paging.test.ts: a long list is loaded page by page, and rows stay in place under the pointer. */

import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, BrowserContext } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { everyNth } from "../support/seeded.ts"
import { beginConversation, chooseFromMenu, showList, SIZES, SOON } from "./list-pages.ts"
import { openPage, openIn, sessionIn, untilSettled } from "./page.ts"

let cuecard: Cuecard
let browser: Browser

beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "3" } })
  browser = await openChromium()
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
})

/**
 * Responds to requests for the list with pages of these conversations. Returns a list to which the requested cursors
 * are added.
 */
async function serveList(context: BrowserContext, sessions: readonly SessionSummary[]): Promise<string[]> {
  const cursors: string[] = []
  await context.route(/\/v1\/sessions(?:\?after=.*)?$/, (route) => {
    if (route.request().method() !== "GET") return route.fallback()
    const after = new URL(route.request().url()).searchParams.get("after") ?? "0"
    cursors.push(after)
    const end = Number(after) + LIST_PAGE
    const page = sessions.slice(Number(after), end)
    return route.fulfill({ json: { sessions: page, next: end < sessions.length ? String(end) : null } })
  })
  return cursors
}

const LIST_PAGE = 100
const createRows = (count: number): SessionSummary[] =>
  Array.from({ length: count }, (_, at) => {
    const active = Date.now() - at * 60_000
    return { id: `row-${at}`, title: `Conversation ${at}`, created: active, active, running: false }
  })

describe.each(everyNth(SIZES.toReversed(), 2))("a long list on a %s", (_, size) => {
  test("[PG75] scrolling and the keyboard load more pages, up to the last conversation", async () => {
    const context = await browser.newContext({ viewport: size })
    const cursors = await serveList(context, createRows(350))
    const { page, errors } = await openIn(context, cuecard)
    await showList(page)
    const count = () => page.$$eval("[data-session]", (all) => all.length)
    await expect.poll(count, SOON).toBe(100)
    expect(cursors).toEqual(["0"])
    const list = page.locator(".sidebar nav")
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await expect.poll(count, SOON).toBe(200)
    await page.focus(".more-sessions")
    await expect.poll(count, SOON).toBeGreaterThan(200)
    await page.keyboard.press("Enter")
    await page.waitForSelector(".more-sessions", { state: "detached", ...SOON })
    expect(await count()).toBe(350)
    expect(await page.textContent("[data-session] >> nth=-1")).toContain("Conversation 349")
    expect(cursors).toEqual(["0", "100", "200", "300"])
    expect(errors).toEqual([])
    await context.close()
  })

  test("[PG75] loading a page can be retried after a failure, and the focus moves on when the list is complete", async () => {
    const context = await browser.newContext({ viewport: size })
    await serveList(context, createRows(101))
    await context.route(/after=100$/, (route) => route.abort())
    const { page } = await openIn(context, cuecard)
    await showList(page)
    await page.waitForSelector(".more-sessions", SOON)
    await page.focus(".more-sessions")
    await page.waitForSelector(".more-sessions:has-text('Try again')", SOON)
    await context.unroute(/after=100$/)
    await serveList(context, createRows(101))
    await page.keyboard.press("Enter")
    await page.waitForSelector(".more-sessions", { state: "detached", ...SOON })
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest("li")?.dataset["session"]), SOON)
      .toBe("row-100")
    await context.close()
  })

  test("[PG75] [PG76] if the open conversation is on an older page, the list loads that page and scrolls to the conversation", async () => {
    const { page: first } = await openPage(browser, cuecard)
    const id = await beginConversation(cuecard, first, "/say far down")
    await first.context().close()
    const context = await browser.newContext({ viewport: size })
    const rows = createRows(350)
    const old = Date.now() - 270 * 60_000 - 1
    rows.splice(270, 0, { id, title: "Far down", created: old, active: old, running: false })
    const cursors = await serveList(context, rows)
    const { page } = await openIn(context, cuecard, `#/s/${id}`)
    await untilSettled(page)
    await expect.poll(() => page.title(), SOON).toBe("Far down · Cuecard")
    await showList(page)
    const isInView = () =>
      page.locator("[data-current]").evaluate((row) => {
        const [list, box] = [row.closest("nav")?.getBoundingClientRect(), row.getBoundingClientRect()]
        return list !== undefined && box.top >= list.top && box.bottom <= list.bottom
      })
    await expect.poll(isInView, SOON).toBe(true)
    // The search stops at the page that contains the conversation.
    expect(cursors.slice(0, 3)).toEqual(["0", "100", "200"])
    await chooseFromMenu(page, id, "Rename")
    await page.waitForSelector(".rename", SOON)
    await context.close()
  })
})

test("[PG76] rows don't move under the pointer; the list is sorted again when the pointer leaves", async () => {
  const { page } = await openPage(browser, cuecard)
  const one = await beginConversation(cuecard, page, "/say one")
  const two = await beginConversation(cuecard, page, "/say two")
  const order = () =>
    page.$$eval("[data-session]", (all) => all.slice(0, 2).map((row) => row.getAttribute("data-session")))
  await expect.poll(order, SOON).toEqual([two, one])
  await page.click(`[data-session="${one}"] a`)
  await expect.poll(() => sessionIn(page), SOON).toBe(one)
  const before = await page.locator(`[data-session="${two}"]`).boundingBox()
  await page.focus(".composer textarea")
  await page.keyboard.type("/say more")
  await page.keyboard.press("Enter")
  await untilSettled(page, 2)
  expect(await order()).toEqual([two, one])
  expect(await page.locator(`[data-session="${two}"]`).boundingBox()).toEqual(before)
  await page.mouse.move(800, 400)
  await expect.poll(order, SOON).toEqual([one, two])
  await page.context().close()
})
