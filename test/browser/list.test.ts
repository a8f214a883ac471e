/** list.test.ts: conversations are named, deleted, exported and imported in the sidebar; calls stand in groups; in a real Chromium. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { launchChromium } from "../support/chromium.ts"
import { ask, DESK, open, openIn, PHONE, sessionIn, settled, transcriptOf } from "./page.ts"

const WEATHER = "What's the weather in London and in Tokyo?"
/** Longer than loopback ever takes, in milliseconds. */
const SOON = { timeout: 10_000 }

let cuecard: Cuecard
let browser: Browser
let folder: string

beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "3", PROBE_TOOLS: "on" } })
  browser = await launchChromium()
  folder = mkdtempSync(join(tmpdir(), "cuecard-list-"))
})

afterAll(async () => {
  await browser?.close()
  await cuecard?.close()
  rmSync(folder, { recursive: true, force: true })
})

const SIZES = [
  ["desk", DESK],
  ["phone", PHONE],
] as const

/** On a phone the list is a drawer. */
async function showList(page: Page): Promise<void> {
  const isClosed = (await page.isVisible(".topbar")) && (await page.$(".sidebar[data-open]")) === null
  if (isClosed) await page.click("button[aria-label=Conversations]")
  await page.waitForSelector(".sidebar nav", { state: "visible", ...SOON })
}

async function menu(page: Page, id: string, item: string): Promise<void> {
  await showList(page)
  await page.hover(`[data-session="${id}"]`)
  await page.click(`[data-session="${id}"] .more`)
  await page.click(`[role=menuitem]:text-is("${item}")`)
}

async function begin(page: Page, words: string): Promise<string> {
  await page.goto(`${cuecard.url}/#/`)
  await page.waitForSelector(".welcome", SOON)
  await ask(page, words)
  await settled(page)
  return sessionIn(page)
}

const title = (page: Page, id: string) => page.textContent(`[data-session="${id}"] .title`)

describe.each(SIZES)("the list at the %s", (_, size) => {
  test("[PG31] [PG32] is ordered by use; a title is changed in its place, and stays after a reload", async () => {
    const { page, errors } = await open(browser, cuecard, { size })
    const one = await begin(page, "/say one")
    const two = await begin(page, "/say two")
    const order = () => page.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
    await expect.poll(async () => (await order()).slice(0, 2), SOON).toEqual([two, one])
    await menu(page, one, "Rename")
    await page.fill(".rename", "A name of my own")
    await page.press(".rename", "Enter")
    expect(await title(page, one)).toBe("A name of my own")
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Options for A name of my own")
    await page.reload()
    await expect.poll(() => title(page, one), SOON).toBe("A name of my own")
    expect((await order()).slice(0, 2)).toEqual([two, one])
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG33] deleting asks first, leads to a new chat, and every other window is told", async () => {
    const { page, errors } = await open(browser, cuecard, { size })
    const id = await begin(page, "/say to be erased")
    const other = await openIn(page.context(), cuecard, `#/s/${id}`)
    await settled(other.page)
    const stranger = await open(browser, cuecard, { at: `#/s/${id}` })
    await settled(stranger.page)
    await menu(page, id, "Delete…")
    await page.waitForSelector("dialog[open]", SOON)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel")
    await page.keyboard.press("Escape")
    await page.waitForSelector("dialog", { state: "detached", ...SOON })
    await page.click(`[data-session="${id}"] .more`)
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    await page.click("dialog .grave")
    await page.waitForSelector(".welcome", SOON)
    expect(await page.$(`[data-session="${id}"]`)).toBe(null)
    for (const window of [other.page, stranger.page]) {
      await window.waitForSelector(".link:has-text('This conversation was deleted.')", SOON)
      expect(await window.isDisabled(".composer button")).toBe(true)
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

  test("[PG34] [PG35] what is exported and imported again looks the same, live and after a reload", async () => {
    const { page, errors } = await open(browser, cuecard, { size })
    const id = await begin(page, WEATHER)
    const shown = await transcriptOf(page)
    const downloading = page.waitForEvent("download")
    await menu(page, id, "Export as data file (.jsonl)")
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
    await settled(page)
    const copy = sessionIn(page)
    expect(copy).not.toBe(id)
    expect(withoutIds(await transcriptOf(page))).toBe(withoutIds(shown))
    expect(await title(page, copy)).toBe(WEATHER)
    await page.reload()
    await settled(page)
    expect(withoutIds(await transcriptOf(page))).toBe(withoutIds(shown))
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG35] what is skipped is told by line; a file of nothing leaves no conversation behind", async () => {
    const { page } = await open(browser, cuecard, { size })
    const good = JSON.stringify({ role: "user", content: "hi" })
    const half = join(folder, "half.jsonl")
    writeFileSync(half, `${good}\n{"half":\n${JSON.stringify({ role: "assistant", content: "Hello." })}\n`)
    const nothing = join(folder, "nothing.jsonl")
    writeFileSync(nothing, "one\ntwo\n")
    await showList(page)
    const before = (await page.$$("[data-session]")).length
    await page.click(".sidebar .import")
    await page.setInputFiles("dialog input[type=file]", nothing)
    await page.waitForSelector("dialog .fault", SOON)
    expect(await page.textContent("dialog .fault")).toBe("We couldn't find any messages in this file.")
    await page.setInputFiles("dialog input[type=file]", half)
    await page.waitForSelector("dialog .lines", SOON)
    expect(await page.textContent("dialog .lines")).toContain("Line 2")
    await page.click("dialog .firm")
    await settled(page)
    expect(await page.textContent("article[data-role=assistant]")).toContain("Hello.")
    await expect.poll(async () => (await page.$$("[data-session]")).length, SOON).toBe(before + 1)
    await page.context().close()
  })

  test("[PG36] calls stand in a group that is open while they run, folds after, and is the same after a reload", async () => {
    const call = (name: string, args: object) => ({ type: "tool_call", name, args: JSON.stringify(args) })
    const steps = [
      [
        call("probe_slow", { ms: 700 }),
        call("probe_stream", { lines: 3, ms: 10 }),
        call("probe_fail", { how: "asked" }),
      ],
      [{ type: "text_delta", delta: "Done." }],
    ]
    const { page, errors } = await open(browser, cuecard, { size })
    await ask(page, `/script ${JSON.stringify(steps)}`)
    await page.waitForSelector(".calls > button[aria-expanded=true]:has-text('Running')", SOON)
    await settled(page)
    const head = await page.waitForSelector(".calls > button[aria-expanded=false]", SOON)
    expect(await head.textContent()).toMatch(/3 tool calls[\s\S]*Failed/)
    expect(await page.isVisible("[data-segment=tool]")).toBe(false)
    const live = await transcriptOf(page)
    await page.reload()
    await settled(page)
    expect(await transcriptOf(page)).toBe(live)
    await page.press(".calls > button", "Enter")
    expect(await page.isVisible("[data-segment=tool]")).toBe(true)
    expect(errors).toEqual([])
    await page.context().close()
  })
})

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "")
const expectFocus = (page: Page, words: string) => expect.poll(() => focused(page), SOON).toContain(words)

test("[PG32] [PG33] [PG35] a box gives the focus back to where it was", async () => {
  const { page, errors } = await open(browser, cuecard)
  const id = await begin(page, "/say to be kept")
  const spare = await begin(page, "/say to be deleted")
  const label = `Options for ${await title(page, id)}`
  for (const giveUp of [() => page.keyboard.press("Escape"), () => page.click("dialog button:text-is('Cancel')")]) {
    await menu(page, id, "Delete…")
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
  // Another one than the open one goes, and the field of that stays as it is.
  await page.goto(`${cuecard.url}/#/s/${id}`)
  await settled(page)
  await menu(page, spare, "Delete…")
  await page.click("dialog .grave")
  await page.waitForSelector("dialog", { state: "detached", ...SOON })
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches(".composer textarea")), SOON).toBe(true)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG35] on a phone the box gives the focus to the button that opens the list", async () => {
  const { page } = await open(browser, cuecard, { size: PHONE })
  await showList(page)
  await page.click(".sidebar .import")
  await page.waitForSelector("dialog[open]", SOON)
  await page.keyboard.press("Escape")
  await page.waitForSelector("dialog", { state: "detached", ...SOON })
  await expectFocus(page, "Conversations")
  await page.context().close()
})

test("[PG32] a title is saved by a click into the composer, which keeps the focus; a list that moves saves nothing", async () => {
  const { page, errors } = await open(browser, cuecard)
  const one = await begin(page, "/say one")
  const two = await begin(page, "/say two")
  await menu(page, one, "Rename")
  await page.fill(".rename", "By leaving")
  await page.click(".composer textarea")
  await expect.poll(() => title(page, one), SOON).toBe("By leaving")
  // Longer than any focus is given back late.
  await page.waitForTimeout(100)
  await page.keyboard.type("and on")
  expect(await page.inputValue(".composer textarea")).toBe("and on")
  await menu(page, one, "Rename")
  await page.fill(".rename", "")
  await page.keyboard.type("Half")
  const other = await openIn(page.context(), cuecard, `#/s/${one}`)
  await ask(other.page, "/say one more")
  await settled(other.page, 2)
  await page.waitForTimeout(1_600)
  const listed = page.waitForResponse(/\/v1\/sessions$/)
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
  await listed
  await page.waitForTimeout(100)
  await page.bringToFront()
  await page.keyboard.type(" typed")
  expect(await page.inputValue(".rename")).toBe("Half typed")
  await page.keyboard.press("Escape")
  const order = () => page.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
  await expect.poll(async () => (await order()).slice(0, 2), SOON).toEqual([one, two])
  expect(await title(page, one)).toBe("By leaving")
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG31] [PG53] a conversation that is left while it runs has its mark, which goes when it has ended", async () => {
  const { page } = await open(browser, cuecard)
  await ask(page, "/bench deltas=250 delay_ms=10")
  await page.waitForSelector("article[data-status=running] [data-segment=text]", SOON)
  const id = sessionIn(page)
  await page.click(".sidebar .new")
  await page.waitForSelector(`[data-session="${id}"] .pulse`, SOON)
  expect(await page.textContent(`[data-session="${id}"] a`)).toContain("generating response")
  await page.waitForSelector(`[data-session="${id}"] .pulse`, { state: "detached", timeout: 20_000 })
  await page.context().close()
})

test("[PG37] what an agent was asked leads to its conversation, where both stand in one block", async () => {
  const { page, errors } = await open(browser, cuecard)
  await ask(page, "Ask the researcher to compare the weather in Oslo and Lima")
  await settled(page)
  expect(await page.textContent("section.agent header")).toBe("Asked researcherView threadDone")
  const live = await transcriptOf(page)
  await page.reload()
  await settled(page)
  expect(await transcriptOf(page)).toBe(live)
  await page.click("section.agent header a")
  await page.waitForSelector(".exchange article[data-agent=sent]", SOON)
  await settled(page)
  expect(await page.$$eval(".exchange", (all) => all.map((one) => one.querySelectorAll("article").length))).toEqual([2])
  expect(await page.textContent(".exchange")).toMatch(/Message from general[\s\S]*Reply to general/)
  expect(errors).toEqual([])
  await page.context().close()
})

test("[PG37] on a phone an agent's conversation says who asked, and leads back", async () => {
  const { page, errors } = await open(browser, cuecard, { size: PHONE })
  await ask(page, "Ask the researcher to compare the weather in Oslo and Lima")
  await settled(page)
  const own = sessionIn(page)
  const heading = () => page.textContent(".topbar h1")
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

test("[PG35] an import whose page was closed leaves nothing behind, once the page is opened again", async () => {
  const { page } = await open(browser, cuecard)
  const listed = (one: Page) =>
    one.$$eval("[data-session]", (all) => all.map((row) => row.getAttribute("data-session")))
  const kept = await begin(page, "/say kept")
  await expect.poll(async () => (await listed(page))[0], SOON).toBe(kept)
  const before = await listed(page)
  // The line swallows the file.
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
  const shelf = () => next.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("import")))
  await expect.poll(shelf, SOON).toEqual([])
  await next.context().close()
})

async function tokenOfPage(): Promise<string> {
  const answer = await fetch("/v1/dev/token", { method: "POST", body: "{}" })
  return (await answer.json()).token
}

/** What an element is called says nothing of how it looks. */
function withoutIds(shown: string): string {
  return shown.replace(/(?:id|aria-controls|data-session)="[^"]*"/g, "")
}
