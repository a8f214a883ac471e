/** mcp-apps.test.ts: MCP Apps in a real Chromium: what they show, what they ask the user, and hostile apps. */

import { mkdirSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { callApi, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { ATTEMPTED_HEIGHT, BOOKING_APP, createHostileApps } from "./mcp-app-documents.ts"
import { askQuestion, DESKTOP_AND_PHONE, openIn, openPage, untilSettled } from "./page.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "1" } })
/** The folder for screenshots of the app's requests. */
const OUT = "test/browser/out"
mkdirSync(OUT, { recursive: true })

let upstream: Server
let base = ""
/** Requests that apps must not be able to make. */
const externalRequests: string[] = []

const api = async (method: string, path: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "root", "owner"), method, path, body)

const setApp = (html: string) =>
  fetch(`${base}/mcp/set/apps`, { method: "POST", body: JSON.stringify({ app: { html } }) })

beforeAll(async () => {
  upstream = createServer((request, reply) => {
    if (request.url?.startsWith("/mcp/")) return void answerMcp(request, reply)
    externalRequests.push(request.url ?? "")
    reply.writeHead(204, { "access-control-allow-origin": "*" }).end()
  })
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  await setApp(BOOKING_APP)
  const server = { url: `${base}/mcp/serve/apps`, tools: ["show", "refresh"], reads: ["show"], approval: "never" }
  expect((await api("PUT", "/v1/mcp-servers/plans", server)).status).toBe(200)
  const agent = { description: "d", prompt: "p", mcp_servers: ["plans"] }
  expect((await api("PUT", "/v1/agents/general", agent)).status).toBe(200)
})

afterAll(() => {
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
})

const appIn = (page: Page) => page.frameLocator(".canvas iframe").frameLocator("iframe")

async function showApp(page: Page, answers = 1): Promise<void> {
  await askQuestion(page, '/call plans_show {"text":"two"}')
  await untilSettled(page, answers)
}

const noteOf = (page: Page) => appIn(page).locator("#note").textContent(SOON)

test("[MA3] [MA5] an app shows the result of its call, live, after a reload and in another tab, in the page's theme", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  await showApp(page)
  await expect.poll(() => appIn(page).locator("#text").textContent(SOON), SOON).toBe("two")
  expect(await appIn(page).locator("html").getAttribute("data-theme")).toBe("light")
  await page.keyboard.press("Control+Shift+l")
  await expect.poll(() => appIn(page).locator("html").getAttribute("data-theme"), SOON).toBe("dark")
  const height = await appIn(page)
    .locator("body")
    .evaluate((body) => body.scrollHeight)
  await expect.poll(async () => (await page.locator(".canvas .pane").boundingBox())?.height, SOON).toBe(height)
  await page.reload()
  await expect.poll(() => appIn(page).locator("#text").textContent(SOON), SOON).toBe("two")
  const { page: second } = await openIn(page.context(), setup.cuecard, new URL(page.url()).hash)
  await expect.poll(() => appIn(second).locator("#text").textContent(SOON), SOON).toBe("two")
  expect(errors).toEqual([])
  await page.context().close()
})

test.each(DESKTOP_AND_PHONE)(
  "[MA6] an app's link or message needs a click on the page, which shows its text, on a %s",
  async (name, size, theme) => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard, { size, theme, bypassCSP: true })
    await showApp(page)
    await appIn(page).locator("#link").click(SOON)
    const ask = page.locator(".canvas .ask")
    await ask.waitFor(SOON)
    expect(await ask.textContent()).toContain("https://place.example/map?table=2")
    expect(await findViolations(page)).toEqual([])
    await page.screenshot({ path: `${OUT}/app-link-${name}.png` })
    const link = ask.locator("a")
    expect(await link.evaluate((element: HTMLAnchorElement) => [element.href, element.target, element.rel])).toEqual([
      "https://place.example/map?table=2",
      "_blank",
      "noopener noreferrer",
    ])
    await ask.getByRole("button", { name: "Deny" }).click()
    await expect.poll(() => noteOf(page), SOON).toBe("not opened")
    await appIn(page).locator("#message").click()
    await ask.waitFor(SOON)
    expect(await ask.textContent()).toContain("/say Booked.")
    expect(await page.locator("article[data-role=user]").count()).toBe(1)
    // The buttons ignore clicks for the first half second.
    const send = ask.getByRole("button", { name: "Send" })
    await expect
      .poll(async () => {
        if (await send.isVisible()) await send.click()
        return await page.locator("article[data-role=user]").count()
      }, SOON)
      .toBe(2)
    await expect.poll(() => noteOf(page), SOON).toBe("sent")
    await untilSettled(page, 2)
    expect(await page.locator("article").last().textContent()).toContain("Booked.")
    expect(errors).toEqual([])
    await page.context().close()
  },
)

test("[MA7] an app calls one of its server's tools; a tool that needs approval is called only once the user has allowed it", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await showApp(page)
  await appIn(page).locator("#call").click(SOON)
  await expect.poll(() => noteOf(page), SOON).toBe("refresh three")
  const server = { url: `${base}/mcp/serve/apps`, tools: ["show", "refresh"], reads: ["show"], approval: "write" }
  expect((await api("PUT", "/v1/mcp-servers/plans", server)).status).toBe(200)
  await page.reload()
  await appIn(page).locator("#call").click(SOON)
  const ask = page.locator(".canvas .ask")
  await ask.waitFor(SOON)
  expect(await ask.textContent()).toContain("three")
  await ask.getByRole("button", { name: "Deny" }).click()
  await expect.poll(() => noteOf(page), SOON).toBe("Not allowed")
  await appIn(page).locator("#call").click()
  const allow = ask.getByRole("button", { name: "Allow" })
  await expect
    .poll(async () => {
      if (await allow.isVisible()) await allow.click()
      return await noteOf(page)
    }, SOON)
    .toBe("refresh three")
  await page.context().close()
})

test("[MA3] [MA4] [MA8] hostile apps reach no other server, change no page, open nothing and send nothing", {
  timeout: 240_000,
}, async () => {
  const apps = createHostileApps(base)
  expect(apps.length).toBeGreaterThan(30)
  const played = everyNth(apps, 4)
  const { page } = await openPage(setup.browser, setup.cuecard)
  const dialogs: string[] = []
  const opened: string[] = []
  page.on("dialog", (dialog) => dialogs.push(dialog.message()))
  page.context().on("page", (popup) => opened.push(popup.url()))
  for (const [at, [what, html]] of played.entries()) {
    await setApp(html)
    await showApp(page, at + 1)
    const app = page.locator(".canvas").last()
    await expect
      .poll(async () => (await app.locator(".pane").boundingBox())?.height, { ...SOON, message: what })
      .toBe(ATTEMPTED_HEIGHT)
    expect(await app.locator(".ask").count(), what).toBe(0)
  }
  expect(new URL(page.url()).origin).toBe(setup.cuecard.url)
  expect(await page.title()).not.toContain("hacked")
  expect(await page.evaluate(() => [Reflect.get(globalThis, "hacked"), localStorage.getItem("x")])).toEqual([
    undefined,
    null,
  ])
  expect(await page.locator("article[data-role=user]").count()).toBe(played.length)
  const sent = JSON.stringify(await (await fetch(`${base}/mcp/seen/apps`)).json())
  expect(sent).not.toContain("hacked")
  expect({ dialogs, opened, externalRequests }).toEqual({ dialogs: [], opened: [], externalRequests: [] })
  // Check that this server, which no app has reached, does accept requests.
  await fetch(`${base}/reached`)
  expect(externalRequests.splice(0)).toEqual(["/reached"])
  await setApp(BOOKING_APP)
  await page.context().close()
})

test("[MA8] an app that floods the page with messages is stopped, and the page says so", async () => {
  const flood = `setInterval(() => { for (let n = 0; n < 100; n++) parent.postMessage({ jsonrpc: "2.0", method: "ping" }, "*") })`
  await setApp(`<!doctype html><p>flood</p><script>${flood}</script>`)
  const { page } = await openPage(setup.browser, setup.cuecard)
  await showApp(page)
  await page.locator(".canvas .note").waitFor(SOON)
  expect(await page.locator(".canvas iframe").count()).toBe(0)
  await setApp(BOOKING_APP)
  await page.context().close()
})
