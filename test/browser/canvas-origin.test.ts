/**
 * canvas-origin.test.ts: documents on the page's origin and on a separate origin (CANVAS_ORIGIN), and the messages
 * between the page and a document, on real servers in a real Chromium.
 */

import { request } from "node:http"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { askQuestion, openPage, openIn, untilSettled } from "./page.ts"
import { callRoute, expectClock, freePort, SOON } from "./rich.ts"

/** A document that counts the messages it receives. A click on a button sends the message that the button names. */
const LISTENER = `<output id=n>0</output><script>
addEventListener("message", () => { n.textContent = Number(n.textContent) + 1 })
</script><button id=ready>ready</button><button id=gone>gone</button><script>
for (const b of document.querySelectorAll("button"))
  b.onclick = () => setTimeout(() => parent.postMessage({ type: "cuecard:" + b.id }, "*"), 50)
</script>`

/** A document that shows its origin and the theme that the page sent it. */
const GREETER = `<p></p><script>
addEventListener("message", ({ data }) => { document.querySelector("p").textContent = origin + " " + data.theme })
parent.postMessage({ type: "cuecard:ready" }, "*")
</script>`

let browser: Browser
/** A server with documents on the page's origin, and one with documents on a separate origin. */
let joined: Cuecard
let apart: Cuecard
let canvas = ""

beforeAll(async () => {
  const port = await freePort()
  canvas = `http://canvas.localhost:${port}`
  const vars = { SCRIPTED_DELAY_MS: "1" }
  const places = { CANVAS_ORIGIN: canvas, PAGE_ORIGIN: `http://127.0.0.1:${port}` }
  const started = await Promise.all([startCuecard({ vars }), startCuecard({ port, vars: { ...vars, ...places } })])
  joined = started[0]
  apart = started[1]
  browser = await openChromium()
})

afterAll(async () => {
  await closeContexts(browser)
  await joined?.close()
  await apart?.close()
})

/** Requests a path of the server under another host name. */
function askAs(host: string, { url }: Cuecard, path: string, headers: Readonly<Record<string, string>> = {}) {
  return new Promise<number>((done, fail) => {
    const outgoing = request(`${url}${path}`, { headers: { ...headers, host } }, (answer) => {
      answer.resume()
      done(answer.statusCode ?? 0)
    })
    outgoing.on("error", fail).end()
  })
}

/** Tries to create a frame for each URL, and returns the URLs that the policy has refused. */
function refusedFrames(page: Page, urls: readonly string[]): Promise<string[]> {
  return page.evaluate(async (all) => {
    const refused: string[] = []
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => refused.push(effectiveDirective))
    for (const src of all) document.body.append(Object.assign(document.createElement("iframe"), { src }))
    for (let tries = 0; refused.length < all.length && tries < 100; tries++) {
      await new Promise((done) => setTimeout(done, 50))
    }
    for (const frame of document.querySelectorAll("body > iframe")) frame.remove()
    return refused
  }, urls)
}

describe.each([
  ["on the page's origin", () => joined, () => joined.url, () => canvas],
  ["on a separate origin", () => apart, () => canvas, () => apart.url],
] as const)("documents %s", (_, serverOf, placeOf, otherOf) => {
  test("[CD1] [CD2] [HD2] [HD3] a document runs at its URL, which is the only URL that the policy allows the page to frame", async () => {
    const [cuecard, place, other] = [serverOf(), placeOf(), otherOf()]
    const { page, errors, externalUrls } = await openPage(browser, cuecard)
    const policy = (await page.reload())?.headers()["content-security-policy"] ?? ""
    expect(policy.split("; ").find((directive) => directive.startsWith("frame-src"))).toBe(
      `frame-src ${place}/canvas/documents/`,
    )
    await askQuestion(page, "make a clock canvas")
    await untilSettled(page)
    await expectClock(page)
    const { origin, pathname, search } = new URL((await page.getAttribute("iframe", "src")) ?? "", page.url())
    expect(origin).toBe(place)
    expect(await page.getAttribute("iframe", "sandbox")).toBe("allow-scripts")
    expect(errors).toEqual([])
    expect(externalUrls.filter((url) => !url.startsWith(`${place}${pathname}`))).toEqual([])
    // No other URL serves the document, not even on the page's origin.
    const framed = { "sec-fetch-dest": "iframe" }
    expect(await askAs(new URL(place).host, cuecard, pathname + search, framed)).toBe(200)
    expect(await askAs(new URL(place).host, cuecard, pathname + search, { "sec-fetch-dest": "document" })).toBe(403)
    if (cuecard === apart) expect(await askAs(new URL(other).host, cuecard, pathname + search, framed)).toBe(404)
    const bad = [`${other}${pathname}${search}`, `${place}/healthz`, `${cuecard.url}/`, "https://example.com/"]
    expect(await refusedFrames(page, bad)).toEqual(Array(bad.length).fill("frame-src"))
    await page.context().close()
  })

  test("[PG41] [PG65] the page identifies a frame by its window: forged messages from the page or another frame have no effect", async () => {
    const cuecard = serverOf()
    const { page, errors } = await openPage(browser, cuecard)
    for (const [n, title] of ["First", "Second"].entries()) {
      await askQuestion(page, `/call canvas_create ${JSON.stringify({ title, html: LISTENER, height: 200 })}`)
      await untilSettled(page, n + 1)
    }
    const [first, second] = ["First", "Second"].map((title) => page.frameLocator(`iframe[title=${title}]`))
    const readOutput = (frame = first) => frame?.locator("output").textContent(SOON)
    // Clicks with a script, because a frame outside the viewport isn't rendered and gets no mouse events.
    const press = (id: string) => second?.locator(id).evaluate((item) => (item as HTMLElement).click())
    // Each document has announced that it is ready, and has received the theme.
    await expect.poll(async () => [await readOutput(first), await readOutput(second)], SOON).toEqual(["1", "1"])
    await page.keyboard.press("Control+Shift+l")
    await expect.poll(async () => [await readOutput(first), await readOutput(second)], SOON).toEqual(["2", "2"])
    const element = await page.$("iframe[title=First]")
    await page.evaluate(() => {
      for (const type of ["cuecard:ready", "cuecard:gone"]) postMessage({ type }, "*")
    })
    await press("#ready")
    // The page answers only the sender.
    await expect.poll(() => readOutput(second), SOON).toBe("3")
    expect(await readOutput(first)).toBe("2")
    expect(await element?.evaluate((item) => item.isConnected)).toBe(true)
    // A message about the sender itself is accepted: the document is reloaded once, then replaced by a note.
    await press("#gone")
    await expect.poll(() => readOutput(second), SOON).toBe("1")
    await press("#gone")
    await page.waitForSelector("text=No longer available.", SOON)
    expect(await readOutput(first)).toBe("2")
    expect(await element?.evaluate((item) => item.isConnected)).toBe(true)
    expect(errors).toEqual([])
    await page.context().close()
  })
})

test("[CD2] the documents' origin serves no page, no API route and no media", async () => {
  const host = new URL(canvas).host
  for (const path of ["/", "/index.html", "/healthz", "/v1/sessions", "/v1/dev/token", "/media/x", "/media/remote"]) {
    expect([path, await askAs(host, apart, path)]).toEqual([path, 404])
  }
  expect(await askAs(new URL(apart.url).host, apart, "/healthz")).toBe(200)
})

test("[SE1] [HD2] [PG41] [PG66] a document from another origin is framed if the tenant allows that origin, and is shown as a link otherwise", async () => {
  const far = "https://frames.example.com"
  const admin = await joined.tokenFor({ scope: "admin" })
  const allow = async (embed_origins: readonly string[]): Promise<void> => {
    const set = await callRoute(
      joined,
      "/v1/settings",
      { method: "PUT", body: JSON.stringify({ embed_origins }) },
      admin,
    )
    expect(set.status).toBe(200)
  }
  await allow([far])
  const context = await browser.newContext()
  // Only that origin is contacted.
  await context.route(`${far}/**`, (route) => route.fulfill({ contentType: "text/html", body: GREETER }))
  const { page, errors } = await openIn(context, joined)
  await askQuestion(
    page,
    `/say ${JSON.stringify(`[embed url="${far}/plan" title="Plan" height="180" /]\n\nand [embed url="https://other.example.com/x" /]`)}`,
  )
  await untilSettled(page)
  const frame = page.frameLocator(`iframe[src="${far}/plan"]`)
  await expect.poll(() => frame.locator("p").textContent(SOON), SOON).toBe("null light")
  expect(await page.$$("iframe")).toHaveLength(1)
  expect(await page.textContent("[data-transcript]")).toContain('[embed url="https://other.example.com/x" /]')
  expect(await page.textContent(".canvas header")).toContain("frames.example.com")
  expect(errors).toEqual([])
  await allow([])
  await page.reload()
  await page.waitForSelector(`.canvas a[href="${far}/plan"]`, SOON)
  expect(await page.$$("iframe")).toEqual([])
  await context.close()
})
