/**
 * rich.test.ts: assets that tools and users create, on a real server in a real Chromium. The assets survive reloads, a
 * kill of the server, an export and an import, and are deleted with their session.
 */

import { type Cuecard, type CuecardOptions, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, type Opened, openPage, openIn, sessionIn, untilSettled, transcriptOf } from "./page.ts"
import { callRoute, expectRich, freePort, countStoredCopies, imageWidthsIn, SOON, sourcesIn } from "./rich.ts"
import { makeFiles } from "./samples.ts"

const QUESTIONS = ["paint a harbour", "paint a sunset", "say hello world", "make a clock canvas"] as const

let options: CuecardOptions
let cuecard: Cuecard
let browser: Browser
/** The page of the session in which the assets were created, and its transcript. */
let page: Page
/** Another tab that shows the same session. */
let twin: Opened
let shown = ""
let bay: Buffer
const servers: Cuecard[] = []

beforeAll(async () => {
  options = { port: await freePort(), vars: { SCRIPTED_DELAY_MS: "1" } }
  cuecard = await startCuecard(options)
  servers.push(cuecard)
  browser = await openChromium()
  bay = (await makeFiles(browser)).get("/media/landscape")?.body ?? Buffer.alloc(0)
})

afterAll(async () => {
  await closeContexts(browser)
  // Stops the last server first, because all of them use the first server's folder.
  for (const server of servers.reverse()) await server.close()
})

const SENT = "article[data-role=user]"

/** Chooses a file in the picker and waits for its upload. */
async function chooseFile(sender: Page, name: string): Promise<void> {
  await sender.setInputFiles(".composer input[type=file]", [{ name, mimeType: "image/png", buffer: bay }])
  await sender.waitForSelector(".chip[data-state=done]", SOON)
}

/** Expects another page to show the same transcript as the first. */
async function expectSame(other: Page): Promise<void> {
  await untilSettled(other, QUESTIONS.length)
  await expectRich(other)
  expect(await transcriptOf(other)).toBe(shown)
}

describe("tools' assets", () => {
  test("[PG38] [PG39] [PG41] built-in tools are used on request in plain English: the image is decoded, the audio plays, and the document runs", async () => {
    const opened = await openPage(browser, cuecard)
    page = opened.page
    for (const [n, question] of QUESTIONS.entries()) {
      await askQuestion(page, question)
      await untilSettled(page, n + 1)
      // The second tab opens after the first answer and follows the others live.
      if (n === 0) twin = await openIn(page.context(), cuecard, `#/s/${sessionIn(page)}`)
    }
    await expectRich(page)
    await page.click(".sound [aria-label=Play]")
    await expect.poll(() => page.$eval("audio", (sound) => sound.ended), SOON).toBe(true)
    await expect.poll(() => page.getAttribute(".sound .play", "aria-label"), SOON).toBe("Play")
    shown = await transcriptOf(page)
    expect([opened.errors, opened.externalUrls]).toEqual([[], []])
  })

  test("[PG1] [PG2] the transcript is the same in a second tab, after a reload, and in a new browser", async () => {
    await expectSame(twin.page)
    await twin.page.close()
    await page.reload()
    await expectSame(page)
    const other = await openPage(browser, cuecard, { at: `#/s/${sessionIn(page)}` })
    await expectSame(other.page)
    await other.page.context().close()
    expect([twin.errors, other.errors, twin.externalUrls, other.externalUrls]).toEqual([[], [], [], []])
  })

  test("[PG26] [PG38] the transcript is the same after workerd has been killed, on the open page and on a new one", async () => {
    await cuecard.kill()
    cuecard = await startCuecard({ ...options, persist: cuecard.persist })
    servers.push(cuecard)
    await page.waitForSelector("footer .link", { state: "detached", ...SOON })
    await expectSame(page)
    const other = await openPage(browser, cuecard, { at: `#/s/${sessionIn(page)}` })
    await expectSame(other.page)
    expect(other.errors).toEqual([])
    await other.page.context().close()
    await chooseFile(page, "The bay at dusk.png")
    await askQuestion(page, "/say still here")
    await untilSettled(page, QUESTIONS.length + 1)
    await expect.poll(() => imageWidthsIn(page, SENT), SOON).toEqual([880])
  })
})

/** Imports a file into a new session and opens its page. */
async function importCopy(file: string) {
  const { id } = await cuecard.createSession("A copy")
  const taken = await callRoute(cuecard, `/v1/sessions/${id}/import`, { method: "POST", body: file })
  expect([taken.status, taken.json.skipped]).toEqual([200, 0])
  const opened = await openPage(browser, cuecard, { at: `#/s/${id}` })
  await untilSettled(opened.page, QUESTIONS.length + 1)
  return { id, ...opened }
}

describe("export and import", () => {
  testInFull(
    "[RE25] [RE26] a sealed export shows everything in another session, even after the first session has been deleted; a changed export shows only text",
    async () => {
      const first = sessionIn(page)
      const { text: file } = await callRoute(cuecard, `/v1/sessions/${first}/events`)
      const copy = await importCopy(file)
      await expectRich(copy.page)
      await expect.poll(() => imageWidthsIn(copy.page, SENT), SOON).toEqual([880])
      const sources = await sourcesIn(copy.page)
      expect(sources).toHaveLength(5)
      for (const { session } of sources) expect(session).toBe(copy.id)
      const changed = await importCopy(file.replace('"paint a sunset"', '"paint a Sunset"'))
      expect(await changed.page.$$(".frame, .sound, .gate, iframe")).toEqual([])
      // The session has no such document, so its directive is plain text (DR23).
      expect(await changed.page.$$(".canvas")).toEqual([])
      const transcript = await changed.page.textContent("[data-transcript]")
      for (const part of ["paint a Sunset", "Here it is:", "MEDIA:/media/", "[embed ref=", "Here's how it sounds."])
        expect(transcript).toContain(part)
      expect((await callRoute(cuecard, `/v1/sessions/${first}`, { method: "DELETE" })).status).toBeLessThan(300)
      await page.waitForSelector("text=This conversation was deleted.", SOON)
      // The copy has its own asset.
      expect(countStoredCopies(cuecard, bay)).toBe(1)
      await copy.page.reload()
      await untilSettled(copy.page, QUESTIONS.length)
      await expectRich(copy.page)
      await expect.poll(() => imageWidthsIn(copy.page, SENT), SOON).toEqual([880])
      expect([copy.errors, changed.errors, copy.externalUrls, changed.externalUrls]).toEqual([[], [], [], []])
      await Promise.all([page, copy.page, changed.page].map((tab) => tab.context().close()))
    },
  )
})

describe("the user's attachments", () => {
  test("[PG42] [PG39] [PG57] [AS9] an image goes from the picker to the lightbox, and is deleted from the bucket with its session", async () => {
    const opened = await openPage(browser, cuecard)
    const { page: sender } = opened
    const before = countStoredCopies(cuecard, bay)
    await chooseFile(sender, "The bay at dusk.png")
    expect(await sender.textContent(".chip b")).toBe("The bay at dusk.png")
    await sender.click("button[type=submit]")
    await untilSettled(sender)
    await expect.poll(() => imageWidthsIn(sender, SENT), SOON).toEqual([880])
    // A conversation whose first message has no text is named after the attachment.
    await expect.poll(() => sender.textContent(".sidebar li a"), SOON).toContain("The bay at dusk.png")
    await sender.reload()
    await untilSettled(sender)
    await expect.poll(() => imageWidthsIn(sender, SENT), SOON).toEqual([880])
    await sender.click(`${SENT} .frame`)
    await expect
      .poll(() => sender.$eval(".lightbox .stage img", (item) => (item as HTMLImageElement).naturalWidth), SOON)
      .toBe(880)
    await sender.keyboard.press("Escape")
    const link = await sender.getAttribute(`${SENT} img`, "src")
    expect(countStoredCopies(cuecard, bay)).toBe(before + 1)
    expect((await fetch(`${cuecard.url}${link}`)).status).toBe(200)
    expect((await callRoute(cuecard, `/v1/sessions/${sessionIn(sender)}`, { method: "DELETE" })).status).toBeLessThan(
      300,
    )
    expect(countStoredCopies(cuecard, bay)).toBe(before)
    const deleted = await fetch(`${cuecard.url}${link}`)
    expect([deleted.status, await deleted.json()]).toEqual([
      404,
      { code: "asset_unknown", text: "We couldn't find that file." },
    ])
    expect(opened.errors).toEqual([])
    await sender.context().close()
  })
})
