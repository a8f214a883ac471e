/**
 * remote-media.test.ts: media from other hosts, unreachable servers and expired URLs: with a real server, a real
 * Chromium, and a second server in place of all other hosts.
 */

import { createHmac } from "node:crypto"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { SignJWT } from "jose"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { everyNth, testInFull } from "../support/seeded.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, openPage, openIn, sessionIn, untilSettled } from "./page.ts"
import { callRoute, expectClock, type Far, lengthsIn, imageWidthsIn, SOON, startElsewhere } from "./rich.ts"
import { type Bytes, makeFiles } from "./samples.ts"

const JWT_SECRET = "a secret of this test, to sign what has run out"
const PICTURE = "https://pictures.example.com/harbour.png"
const ALLOWED = "https://allowed.example.com/harbour.png"
/** URLs that don't reveal the types of their files. */
const UNNAMED = ["https://cdn.example.com/photo?id=3", "https://cdn.example.com/sound", "https://cdn.example.com/a.pdf"]
const SOUNDS = {
  short: "https://sounds.example.com/short.wav",
  unknownLength: "https://sounds.example.com/untold.wav",
  /** A file that is too large for the cache. */
  long: "https://sounds.example.com/long.wav",
}

let cuecard: Cuecard
let browser: Browser
let elsewhere: Awaited<ReturnType<typeof startElsewhere>>

beforeAll(async () => {
  browser = await openChromium()
  const files = await makeFiles(browser)
  const of = (name: string): Bytes => files.get(name) as Bytes
  elsewhere = await startElsewhere(
    new Map<string, Far>([
      [PICTURE, of("/media/landscape")],
      [ALLOWED, of("/media/landscape")],
      [UNNAMED[0] ?? "", of("/media/landscape")],
      [UNNAMED[1] ?? "", of("/media/tone")],
      [UNNAMED[2] ?? "", { type: "application/pdf", body: Buffer.from("%PDF-1.4\n") }],
      [SOUNDS.short, of("/media/tone")],
      [SOUNDS.unknownLength, { ...of("/media/tone"), hasUnknownLength: true }],
      [SOUNDS.long, { type: "audio/wav", body: createSilence(1100) }],
    ]),
  )
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "1", MEDIA_UPSTREAM: elsewhere.url, JWT_SECRET } })
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
  await elsewhere?.close()
})

/** Creates a sound file with this many seconds of silence: 8 kHz, 16 bits, one channel. */
function createSilence(seconds: number): Buffer {
  const bytes = Buffer.alloc(44 + seconds * 16_000)
  bytes.write("RIFF    WAVEfmt ")
  bytes.writeUInt32LE(36 + seconds * 16_000, 4)
  const words = [16, 0x0001_0001, 8_000, 16_000, 0x0010_0002] as const
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, 16 + at * 4)
  bytes.write("data", 36)
  bytes.writeUInt32LE(seconds * 16_000, 40)
  return bytes
}

/** Opens a new session in which the model answers with this text. */
async function openWithAnswer(text: string) {
  const opened = await openPage(browser, cuecard)
  await askQuestion(opened.page, `/say ${JSON.stringify(text)}`)
  await untilSettled(opened.page)
  return opened
}

const timeIn = (page: Page) => page.$eval("audio", (item) => (item as HTMLAudioElement).currentTime)

const seekTo = (page: Page, to: number) =>
  page.$eval(
    ".sound input[type=range]",
    (range, place) => {
      Object.assign(range, { value: place })
      range.dispatchEvent(new Event("input", { bubbles: true }))
    },
    to,
  )

const requestsFor = (url: string) => elsewhere.requests.filter((request) => request.url === url)

describe("media of other hosts", () => {
  test("[PG40] [PG62] [PG63] after a click, a file of unknown type is shown according to its content; a file that can't be shown becomes a link", async () => {
    const { page, errors, externalUrls } = await openWithAnswer(UNNAMED.map((url) => `MEDIA:${url}`).join("\n"))
    await page.waitForSelector("button.file >> nth=2")
    expect(UNNAMED.flatMap(requestsFor)).toEqual([])
    await page.focus("button.file >> nth=0")
    await page.keyboard.press("Enter")
    await expect.poll(() => imageWidthsIn(page), SOON).toEqual([880])
    await expect.poll(() => page.evaluate(() => document.activeElement?.className), SOON).toBe("frame")
    await page.click("button.file >> nth=0")
    await expect.poll(() => lengthsIn(page), SOON).toHaveLength(1)
    await page.click("button.file")
    await expect.poll(() => page.getAttribute("button.file + a", "href"), SOON).toBe(UNNAMED[2])
    expect(await page.textContent("button.file small")).toMatch(/^(?!.*Couldn't load)/)
    // The browser logs the refusal itself.
    expect(errors.filter((error) => !error.includes("502"))).toEqual([])
    expect(externalUrls).toEqual([])
    await page.context().close()
  })

  test("[PG40] [RM1] an external image is requested only after a click; one from an allowed host loads without a click", async () => {
    const text = `MEDIA:${PICTURE}\n\nAnd ![another](${ALLOWED}) here`
    const { page, errors, externalUrls } = await openWithAnswer(text)
    expect(await page.$$(".frame, img")).toEqual([])
    expect([requestsFor(PICTURE), requestsFor(ALLOWED)]).toEqual([[], []])
    await page.click("[aria-label^='Load: Image from pictures.example.com']")
    await expect.poll(() => imageWidthsIn(page), SOON).toEqual([880])
    expect(requestsFor(PICTURE)).toHaveLength(1)
    expect(Object.keys(requestsFor(PICTURE)[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(["cookie"]))
    expect(requestsFor(PICTURE)[0]?.headers).toMatchObject({ "user-agent": "Cuecard-Media/1" })
    expect(JSON.stringify(requestsFor(PICTURE)[0]?.headers)).not.toMatch(/chrome|127\.0\.0\.1:\d+\/"|referer/i)
    const body = JSON.stringify({ media_hosts: ["allowed.example.com"] })
    const admin = await cuecard.tokenFor({ scope: "admin" })
    expect((await callRoute(cuecard, "/v1/settings", { method: "PUT", body }, admin)).status).toBe(200)
    expect(errors).toEqual([])
    // The page requests the settings again if the server couldn't be reached.
    let attempts = 0
    await page.route("**/v1/settings", (route) => (attempts++ < 2 ? route.abort() : route.continue()))
    await page.reload()
    await untilSettled(page)
    // A click is valid only until the page is closed, but the tenant's setting stays valid.
    await expect.poll(() => imageWidthsIn(page), SOON).toEqual([880])
    expect(await page.$$(".gate")).toHaveLength(1)
    expect([requestsFor(PICTURE).length, requestsFor(ALLOWED).length]).toEqual([1, 1])
    expect(externalUrls).toEqual([])
    await page.context().close()
  })

  test.each(
    everyNth(
      [
        ["short", 3, 2],
        ["unknownLength", 3, 2],
        ["long", 1100, 900],
      ] as const,
      2,
    ),
  )("[PG40] [PG58] [RM4] external audio can be played, and the user can seek in it: %s", async (name, length, to) => {
    const { page, errors, externalUrls } = await openWithAnswer(`MEDIA:${SOUNDS[name]}`)
    expect(requestsFor(SOUNDS[name])).toEqual([])
    await page.click("[aria-label^='Load: Audio from sounds.example.com']")
    const sound = <T>(of: (sound: HTMLAudioElement) => T): Promise<T> => page.$eval("audio", of as (one: Element) => T)
    await expect.poll(() => lengthsIn(page), SOON).toEqual([expect.closeTo(length, 0)])
    await page.click(".sound [aria-label=Play]")
    await expect.poll(() => sound(({ currentTime }) => currentTime > 0.2), SOON).toBe(true)
    await seekTo(page, to)
    await expect
      .poll(() => sound(({ currentTime, ended, seeking }) => !seeking && (ended || currentTime > 2)), SOON)
      .toBe(true)
    expect(await sound(({ error, currentTime, ended }) => [error, ended || currentTime >= 2])).toEqual([null, true])
    expect(await page.$$(".gate")).toEqual([])
    expect([errors, externalUrls]).toEqual([[], []])
    await page.context().close()
  })

  test("[PG40] [PG63] [RM2] a missing file shows the server's error text", async () => {
    const { page } = await openWithAnswer("MEDIA:https://pictures.example.com/nothing.png")
    await page.click("[aria-label^='Load']")
    await page.waitForSelector(".gate[data-state=failed]", SOON)
    expect(await page.textContent(".gate small")).toContain("We can't show what's at this address")
    await page.context().close()
  })
})

/** Makes the next signature requests fail. */
async function failSigning(context: BrowserContext, times: number): Promise<() => number> {
  let count = 0
  await context.route("**/media/sign", async (route) => {
    count++
    if (count <= times) return await route.fulfill({ status: 503, json: { code: "internal", text: "Away." } })
    return await route.continue()
  })
  return () => count
}

/**
 * Creates the token of a URL. It is valid for a number of seconds; if the number is negative, the token has expired.
 */
function tokenFor(audience: string, session: string, what: string, seconds: number): Promise<string> {
  return new SignJWT({ tenant: "demo", session })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(audience)
    .setSubject(what)
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(createHmac("sha256", JWT_SECRET).update("cuecard media").digest())
}

describe("a server that cannot be reached", () => {
  async function openDrawn(question: string): Promise<{ at: string; page: Page }> {
    const { page } = await openPage(browser, cuecard)
    await askQuestion(page, question)
    await untilSettled(page)
    return { at: `#/s/${sessionIn(page)}`, page }
  }

  test("[PG38] [PG55] an image whose URL can't be signed is shown as failed, and loads later without a click", async () => {
    const { at, page } = await openDrawn("paint a sunset")
    await page.close()
    const context = await browser.newContext()
    const count = await failSigning(context, 3)
    const { page: again } = await openIn(context, cuecard, at)
    await again.waitForSelector(".gate[data-state=failed]", SOON)
    expect(await again.textContent(".gate small")).toBe("Couldn't load.")
    await expect.poll(() => imageWidthsIn(again), SOON).toEqual([768])
    expect(count()).toBe(4)
    await context.close()
  })

  test("[PG38] [PG55] [PG26] media rendered offline loads when the network is back", async () => {
    const { page } = await openDrawn("paint a sunset")
    const context = page.context()
    await context.route(/\/media\/(?!remote|sign)[\w-]+\?token=/, (route) => route.abort())
    await page.reload()
    await page.waitForSelector(".gate[data-state=failed]", SOON)
    await context.setOffline(true)
    await page.waitForSelector("footer .link", SOON)
    await context.unroute(/\/media\/(?!remote|sign)[\w-]+\?token=/)
    expect(await imageWidthsIn(page)).toEqual([])
    await context.setOffline(false)
    await expect.poll(() => imageWidthsIn(page), SOON).toEqual([768])
    await context.close()
  })

  testInFull(
    "[PG39] [PG59] [PG38] audio whose URL has expired continues at the position to which the user seeks",
    async () => {
      const { id: session } = await cuecard.createSession("Long")
      const post = (path: string, body: BodyInit) =>
        callRoute(cuecard, `/v1/sessions/${session}/${path}`, { method: "POST", body })
      const { id } = (await post("assets?name=long.wav", new Uint8Array(createSilence(1100)))).json
      await post("messages", JSON.stringify({ content: "/say heard", attachments: [id] }))
      const context = await browser.newContext()
      const tokens: string[] = []
      await context.route("**/media/sign", async (route) => {
        const answer = await (await route.fetch()).json()
        tokens.push(await tokenFor("media", session, id, 6))
        const href = tokens.length === 1 ? `/media/${id}?token=${tokens[0]}` : answer.signed[0].href
        return await route.fulfill({ json: { ...answer, signed: [{ url: `/media/${id}`, href }] } })
      })
      const { page, errors } = await openIn(context, cuecard, `#/s/${session}`)
      await untilSettled(page)
      await expect.poll(() => lengthsIn(page), SOON).toEqual([1100])
      await page.click(".sound [aria-label=Play]")
      await expect.poll(() => timeIn(page), SOON).toBeGreaterThan(0.2)
      const ran = async () => (await fetch(`${cuecard.url}${await page.getAttribute("audio", "src")}`)).status
      await expect.poll(ran, SOON).toBe(403)
      await seekTo(page, 1000)
      await expect.poll(() => timeIn(page), SOON).toBeGreaterThan(1000.2)
      expect(await page.$eval("audio", (item) => (item as HTMLAudioElement).paused)).toBe(false)
      expect(tokens).toHaveLength(2)
      expect(errors.filter((error) => !error.includes("403"))).toEqual([])
      await page.context().close()
    },
  )

  test("[PG41] [PG64] [CD1] a document's URL is signed when the document scrolls into view, and again after the URL has expired", async () => {
    const { at, page } = await openDrawn("make a clock canvas")
    await askQuestion(page, `/say ${JSON.stringify("a line\n\n".repeat(120))}`)
    await untilSettled(page, 2)
    await page.context().close()
    const context = await browser.newContext()
    const signed: string[][] = []
    await context.route("**/media/sign", async (route) => {
      const { urls } = route.request().postDataJSON() as { urls: string[] }
      signed.push(urls)
      const answer = await (await route.fetch()).json()
      if (signed.length > 1) return await route.fulfill({ json: answer })
      // Returns a genuine but expired URL.
      const [, what = ""] = /documents\/([\w-]+)/.exec(urls[0] ?? "") ?? []
      const href = `${urls[0]}?token=${await tokenFor("canvas", at.slice(4), what, -60)}`
      return await route.fulfill({ json: { ...answer, signed: [{ url: urls[0], href }] } })
    })
    const opened = await openIn(context, cuecard, at)
    await untilSettled(opened.page, 2)
    expect([signed, await opened.page.$$("iframe")]).toEqual([[], []])
    await opened.page.locator(".canvas").scrollIntoViewIfNeeded()
    await expectClock(opened.page)
    expect(signed).toHaveLength(2)
    await context.close()
  })
})
