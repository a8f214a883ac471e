/** list.test.ts: the conversation list (rename, delete, export, import) and groups of tool calls, in a real browser. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { everyNth, testInFull } from "../support/seeded.ts"
import { beginConversation, chooseFromMenu, showList, SIZES, SOON } from "./list-pages.ts"
import { askQuestion, openPage, openIn, PHONE, sessionIn, untilSettled, transcriptOf } from "./page.ts"

const WEATHER = "What's the weather in London and in Tokyo?"

let cuecard: Cuecard
let browser: Browser
let folder: string

beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "3", PROBE_TOOLS: "on" } })
  browser = await openChromium()
  folder = mkdtempSync(join(tmpdir(), "cuecard-list-"))
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns how many conversations the server lists for the page's user. */
async function listedSessions(): Promise<number> {
  const headers = { authorization: `Bearer ${cuecard.token}` }
  const answer = await fetch(`${cuecard.url}/v1/sessions`, { headers })
  return ((await answer.json()) as { sessions: unknown[] }).sessions.length
}

const readTitle = (page: Page, id: string) => page.textContent(`[data-session="${id}"] .title`)

/** Returns the boxes in the open dialog that overlap each other or lie outside the dialog. */
function findMisplacedBoxes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const dialog = document.querySelector("dialog[open]")
    if (dialog === null) return ["no dialog"]
    // Skips to the end of the entrance animation.
    for (const animation of document.getAnimations()) animation.finish()
    const outer = dialog.getBoundingClientRect()
    const boxes = [...dialog.querySelectorAll("h2, p, button, ul, progress")].filter((box) => {
      const { width, height } = box.getBoundingClientRect()
      return width > 0 && height > 0
    })
    const rectOf = (box: Element): DOMRect => box.getBoundingClientRect()
    const overlaps = (element: Element, other: Element): boolean =>
      element !== other &&
      !element.contains(other) &&
      !other.contains(element) &&
      rectOf(element).left < rectOf(other).right - 1 &&
      rectOf(other).left < rectOf(element).right - 1 &&
      rectOf(element).top < rectOf(other).bottom - 1 &&
      rectOf(other).top < rectOf(element).bottom - 1
    const isOutside = (box: Element): boolean =>
      rectOf(box).left < outer.left ||
      rectOf(box).right > outer.right ||
      rectOf(box).top < outer.top ||
      rectOf(box).bottom > outer.bottom
    return boxes
      .filter((box) => isOutside(box) || boxes.some((other) => overlaps(box, other)))
      .map((box) => `${box.localName}.${box.className}: ${box.textContent}`)
  })
}

describe.each(everyNth(SIZES, 2))("the list of conversations on a %s", (_, size) => {
  test("[PG31] [PG32] is ordered by last use; a title is edited in place, and the new title survives a reload", async () => {
    const { page, errors } = await openPage(browser, cuecard, { size })
    const one = await beginConversation(cuecard, page, "/say one")
    const two = await beginConversation(cuecard, page, "/say two")
    const order = () => page.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
    await expect.poll(async () => (await order()).slice(0, 2), SOON).toEqual([two, one])
    await chooseFromMenu(page, one, "Rename")
    await page.fill(".rename", "A name of my own")
    await page.press(".rename", "Enter")
    expect(await readTitle(page, one)).toBe("A name of my own")
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Options for A name of my own")
    await page.reload()
    await expect.poll(() => readTitle(page, one), SOON).toBe("A name of my own")
    expect((await order()).slice(0, 2)).toEqual([two, one])
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG33] [LB22] a deleted conversation disappears at once, and every other window says that it was deleted", async () => {
    const { page, errors } = await openPage(browser, cuecard, { size })
    const id = await beginConversation(cuecard, page, "/say to be erased")
    const other = await openIn(page.context(), cuecard, `#/s/${id}`)
    await untilSettled(other.page)
    const stranger = await openPage(browser, cuecard, { at: `#/s/${id}` })
    await untilSettled(stranger.page)
    await chooseFromMenu(page, id, "Delete")
    await page.waitForSelector(".welcome", SOON)
    expect(await page.$(`[data-session="${id}"]`)).toBe(null)
    // Deletes the session now, which the server would do only 30 seconds later.
    const headers = { authorization: `Bearer ${await page.evaluate(tokenOfPage)}` }
    await expect
      .poll(async () => (await fetch(`${cuecard.url}/v1/sessions/${id}`, { method: "DELETE", headers })).ok)
      .toBe(true)
    for (const window of [other.page, stranger.page]) {
      await window.waitForSelector(".link:has-text('This conversation was deleted.')", SOON)
      expect(await window.isDisabled(".composer button[type=submit]")).toBe(true)
      expect(await window.locator(".composer .attach").count()).toBe(0)
      await window.click(".link a")
      await window.waitForSelector(".welcome", SOON)
    }
    const answer = await fetch(`${cuecard.url}/v1/sessions/${id}/events`, {
      headers: { authorization: `Bearer ${await page.evaluate(tokenOfPage)}` },
    })
    expect(answer.status).toBe(404)
    expect([...errors, ...stranger.errors]).toEqual([])
    await stranger.page.context().close()
    await page.context().close()
  })

  test("[PG34] [PG35] an exported conversation looks the same after it has been imported, live and after a reload", async () => {
    const { page, errors } = await openPage(browser, cuecard, { size })
    const id = await beginConversation(cuecard, page, WEATHER)
    const shown = await transcriptOf(page)
    const downloading = page.waitForEvent("download")
    await chooseFromMenu(page, id, "Export as data file (.jsonl)")
    const download = await downloading
    expect(download.suggestedFilename()).toBe("What's the weather in London and in Tokyo.jsonl")
    const file = join(folder, `${id}.jsonl`)
    await download.saveAs(file)
    expect(readFileSync(file, "utf8").trim().split("\n").length).toBeGreaterThan(8)

    await showList(page)
    await page.click(".sidebar .import")
    await page.setInputFiles("dialog input[type=file]", file)
    await page.waitForFunction((old) => /#\/s\//.test(location.hash) && !location.hash.endsWith(old), id, SOON)
    await page.waitForSelector("dialog", { state: "detached", ...SOON })
    await untilSettled(page)
    const copy = sessionIn(page)
    expect(copy).not.toBe(id)
    expect(withoutIds(await transcriptOf(page))).toBe(withoutIds(shown))
    expect(await readTitle(page, copy)).toBe(WEATHER)
    await page.reload()
    await untilSettled(page)
    expect(withoutIds(await transcriptOf(page))).toBe(withoutIds(shown))
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG74] the import dialog accepts a file by click or touch, and nothing in it overlaps", async () => {
    const isPhone = size === PHONE
    const context = await browser.newContext({ viewport: size, hasTouch: isPhone, isMobile: isPhone })
    const { page, errors } = await openIn(context, cuecard)
    const press = (selector: string) => (isPhone ? page.tap(selector) : page.click(selector))
    const nothing = join(folder, "no-messages.jsonl")
    writeFileSync(nothing, "one\n")
    const good = join(folder, "by-click.jsonl")
    writeFileSync(good, `${JSON.stringify({ role: "user", content: "by click" })}\n`)
    await showList(page)
    await press(".sidebar .import")
    await page.waitForSelector("dialog[open]", SOON)
    for (const file of [nothing, good]) {
      expect(await findMisplacedBoxes(page)).toEqual([])
      const chooser = page.waitForEvent("filechooser", SOON)
      await press("dialog button:has-text('Choose a file')")
      await (await chooser).setFiles(file)
      await page.waitForSelector(file === nothing ? "dialog .fault" : "article p:text-is('by click')", SOON)
    }
    expect(errors.filter((error) => !error.includes("422"))).toEqual([])
    await context.close()
  })

  test("[PG35] an import lists skipped lines by number; a file without messages creates no conversation", async () => {
    const { page } = await openPage(browser, cuecard, { size })
    const good = JSON.stringify({ role: "user", content: "hi" })
    const half = join(folder, "half.jsonl")
    writeFileSync(half, `${good}\n{"half":\n${JSON.stringify({ role: "assistant", content: "Hello." })}\n`)
    const nothing = join(folder, "nothing.jsonl")
    writeFileSync(nothing, "one\ntwo\n")
    await showList(page)
    const before = await listedSessions()
    await expect.poll(async () => (await page.$$("[data-session]")).length, SOON).toBe(before)
    await page.click(".sidebar .import")
    await page.setInputFiles("dialog input[type=file]", nothing)
    await page.waitForSelector("dialog .fault", SOON)
    expect(await page.textContent("dialog .fault")).toBe("We couldn't find any messages in this file.")
    await page.setInputFiles("dialog input[type=file]", half)
    await page.waitForSelector("dialog .lines", SOON)
    expect(await page.textContent("dialog .lines")).toContain("Line 2")
    await page.click("dialog .firm")
    await untilSettled(page)
    expect(await page.textContent("article[data-role=assistant]")).toContain("Hello.")
    await expect.poll(async () => (await page.$$("[data-session]")).length, SOON).toBe(before + 1)
    await page.context().close()
  })

  test("[PG36] the group of tool calls is open while they run, collapses afterwards, and is the same after a reload", async () => {
    const call = (name: string, args: object) => ({ type: "tool_call", name, args: JSON.stringify(args) })
    const steps = [
      [
        call("probe_slow", { ms: 3_000 }),
        call("probe_stream", { lines: 3, ms: 10 }),
        call("probe_fail", { how: "asked" }),
      ],
      [{ type: "text_delta", delta: "Done." }],
    ]
    const { page, errors } = await openPage(browser, cuecard, { size })
    await askQuestion(page, `/script ${JSON.stringify(steps)}`)
    await page.waitForSelector(".calls > button[aria-expanded=true]:has-text('Running')", SOON)
    await untilSettled(page)
    const head = await page.waitForSelector(".calls > button[aria-expanded=false]", SOON)
    expect(await head.textContent()).toMatch(/3 tool calls · 1 failed[\s\S]*Done/)
    expect(await page.isVisible("[data-segment=tool]")).toBe(false)
    const live = await transcriptOf(page)
    await page.reload()
    await untilSettled(page)
    expect(await transcriptOf(page)).toBe(live)
    await page.press(".calls > button", "Enter")
    expect(await page.isVisible("[data-segment=tool]")).toBe(true)
    expect(errors).toEqual([])
    await page.context().close()
  })
})

const readFocus = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "")
const expectFocus = (page: Page, text: string) => expect.poll(() => readFocus(page), SOON).toContain(text)

test("[PG32] [PG33] [PG35] when a dialog is closed, the focus returns to the element that opened it", async () => {
  const { page, errors } = await openPage(browser, cuecard)
  const id = await beginConversation(cuecard, page, "/say to be kept")
  const spare = await beginConversation(cuecard, page, "/say to be deleted")
  const label = `Options for ${await readTitle(page, id)}`
  for (const giveUp of [() => page.keyboard.press("Escape"), () => page.click("dialog button:text-is('Cancel')")]) {
    await chooseFromMenu(page, id, "Move to folder…")
    await page.waitForSelector("dialog[open]", SOON)
    await giveUp()
    await page.waitForSelector("dialog", { state: "detached", ...SOON })
    await expectFocus(page, label)
    await page.click(".sidebar .import")
    await page.waitForSelector("dialog[open]", SOON)
    await giveUp()
    await page.waitForSelector("dialog", { state: "detached", ...SOON })
    await expectFocus(page, "Import a conversation")
  }
  // Deletes a conversation that is not open. The composer keeps focus.
  await page.goto(`${cuecard.url}/#/s/${id}`)
  await untilSettled(page)
  await chooseFromMenu(page, spare, "Delete")
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches(".composer textarea")), SOON).toBe(true)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG35] on a phone, closing a dialog moves the focus to the button that opens the list", async () => {
  const { page } = await openPage(browser, cuecard, { size: PHONE })
  await showList(page)
  await page.click(".sidebar .import")
  await page.waitForSelector("dialog[open]", SOON)
  await page.keyboard.press("Escape")
  await page.waitForSelector("dialog", { state: "detached", ...SOON })
  await expectFocus(page, "Conversations")
  await page.context().close()
})

testInFull(
  "[PG32] a click in the composer saves the title and focuses the composer; a reordered list saves nothing",
  async () => {
    const { page, errors } = await openPage(browser, cuecard)
    const one = await beginConversation(cuecard, page, "/say one")
    const two = await beginConversation(cuecard, page, "/say two")
    await chooseFromMenu(page, one, "Rename")
    await page.fill(".rename", "By leaving")
    await page.click(".composer textarea")
    await expect.poll(() => readTitle(page, one), SOON).toBe("By leaving")
    // Waits longer than any delay after which the focus could return.
    await page.waitForTimeout(100)
    await page.keyboard.type("and on")
    expect(await page.inputValue(".composer textarea")).toBe("and on")
    await chooseFromMenu(page, one, "Rename")
    await page.fill(".rename", "")
    await page.keyboard.type("Half")
    const other = await openIn(page.context(), cuecard, `#/s/${one}`)
    await askQuestion(other.page, "/say one more")
    await untilSettled(other.page, 2)
    await page.waitForTimeout(1_600)
    const listed = page.waitForResponse(/\/v1\/sessions$/)
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await listed
    await page.waitForTimeout(100)
    await page.bringToFront()
    await page.keyboard.type(" typed")
    expect(await page.inputValue(".rename")).toBe("Half typed")
    await page.keyboard.press("Escape")
    await page.mouse.move(800, 400)
    const order = () => page.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
    await expect.poll(async () => (await order()).slice(0, 2), SOON).toEqual([one, two])
    expect(await readTitle(page, one)).toBe("By leaving")
    expect(errors).toEqual([])
    await page.context().close()
  },
)

testInFull(
  "[PG31] [PG53] a conversation in the background is marked as running until its answer has ended",
  async () => {
    const { page } = await openPage(browser, cuecard)
    await askQuestion(page, "/bench deltas=4000 delay_ms=10")
    await page.waitForSelector("article[data-status=running] [data-segment=text]", SOON)
    const id = sessionIn(page)
    await page.click(".sidebar .new")
    await page.waitForSelector(`[data-session="${id}"] .pulse`, SOON)
    expect(await page.textContent(`[data-session="${id}"] a`)).toContain("generating response")
    const headers = { authorization: `Bearer ${await cuecard.tokenFor()}` }
    await fetch(`${cuecard.url}/v1/sessions/${id}/cancel`, { method: "POST", headers })
    await page.waitForSelector(`[data-session="${id}"] .pulse`, { state: "detached", timeout: 20_000 })
    await page.context().close()
  },
)

test("[PG37] a message to an agent links to the agent's conversation, where the question and the answer form one block", async () => {
  const { page, errors } = await openPage(browser, cuecard)
  await askQuestion(page, "Ask the researcher to compare the weather in Oslo and Lima")
  await untilSettled(page)
  expect(await page.textContent("section.agent header")).toBe("Asked researcherView threadDone")
  const live = await transcriptOf(page)
  await page.reload()
  await untilSettled(page)
  expect(await transcriptOf(page)).toBe(live)
  await page.click("section.agent header a")
  await page.waitForSelector(".exchange article[data-agent=sent]", SOON)
  await untilSettled(page)
  expect(
    await page.$$eval(".exchange", (all) => all.map((element) => element.querySelectorAll("article").length)),
  ).toEqual([2])
  expect(await page.textContent(".exchange")).toMatch(/Message from general[\s\S]*Reply to general/)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG37] on a phone, an agent's conversation shows who asked and links back", async () => {
  const { page, errors } = await openPage(browser, cuecard, { size: PHONE })
  await askQuestion(page, "Ask the researcher to compare the weather in Oslo and Lima")
  await untilSettled(page)
  const own = sessionIn(page)
  const heading = () => page.textContent(".topbar .title")
  expect(await heading()).toContain("Ask the researcher")
  expect(await page.isVisible(".topbar button[aria-label=Back]")).toBe(false)
  await page.click("section.agent header a")
  await expect.poll(heading, SOON).toBe("Asked by general")
  await page.click(".topbar button[aria-label=Back]")
  await expect.poll(heading, SOON).toContain("Ask the researcher")
  expect(sessionIn(page)).toBe(own)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG35] the session of an import that was interrupted by closing the page is removed when the page is opened again", async () => {
  const { page } = await openPage(browser, cuecard)
  const listed = (tab: Page) =>
    tab.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
  const otherId = await beginConversation(cuecard, page, "/say kept")
  await expect.poll(async () => (await listed(page))[0], SOON).toBe(otherId)
  const before = await listed(page)
  // The upload never arrives.
  await page.evaluate(() => {
    XMLHttpRequest.prototype.send = () => {}
  })
  await page.click(".sidebar .import")
  const content = `${JSON.stringify({ role: "user", content: "hi" })}\n`
  const made = page.waitForResponse((answer) => answer.request().method() === "POST" && /sessions$/.test(answer.url()))
  await page.setInputFiles("dialog input[type=file]", {
    name: "cut.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from(content),
  })
  await made
  const { page: next } = await openIn(page.context(), cuecard)
  await expect.poll(async () => (await listed(next)).length, SOON).toBe(before.length + 1)
  await page.close()
  await next.reload()
  await expect.poll(() => listed(next), SOON).toEqual(before)
  const importKeys = () => next.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("import")))
  await expect.poll(importKeys, SOON).toEqual([])
  await next.context().close()
})

async function tokenOfPage(): Promise<string> {
  const answer = await fetch("/v1/dev/token", { method: "POST" })
  return (await answer.json()).token
}

/** Removes ids, which differ between copies. */
function withoutIds(shown: string): string {
  return shown.replace(/(?:id|aria-controls|data-session)="[^"]*"/g, "")
}
