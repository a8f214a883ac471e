/**
 * mcp-app-limits.test.ts: MCP Apps in a real Chromium that flood the page, keep asking the user, or exploit the timing
 * of a click; apps in a session that can't be changed; and an app that is written with the official package.
 */

import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { FrameLocator, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { answerMcp, type McpAppState, stopMcp } from "../support/upstream-mcp.ts"
import { addUser, callApi, tokenFor } from "./admin-pages.ts"
import { BOOKING_APP, createApp } from "./mcp-app-documents.ts"
import { askQuestion, openPage, sessionIn, untilSettled } from "./page.ts"
import { openAsUser } from "./read-only-pages.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })
const APP = "[data-segment=app]"

let upstream: Server
let base = ""
/** The requests that the test's server received on paths other than that of the MCP server. */
const received: string[] = []

beforeAll(async () => {
  upstream = createServer((request, reply) => {
    if (request.url?.startsWith("/mcp/")) return void answerMcp(request, reply)
    received.push(request.url ?? "")
    const open = { "access-control-allow-origin": "*" }
    if (request.url === "/moved") return void reply.writeHead(302, { ...open, location: "/data" }).end()
    reply.writeHead(200, open).end("reached")
  })
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
})

afterAll(() => {
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
})

/** Gives the general agent an MCP server with this app. */
async function serve(app: McpAppState, config: object = {}): Promise<void> {
  await fetch(`${base}/mcp/set/limits`, { method: "POST", body: JSON.stringify({ app }) })
  const token = await tokenFor(setup.cuecard, "root", "owner")
  const server = { url: `${base}/mcp/serve/limits`, tools: ["show", "refresh"], approval: "never", ...config }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/mcp-servers/plans", server)).status).toBe(200)
  const agent = { description: "d", prompt: "p", mcp_servers: ["plans"] }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/agents/general", agent)).status).toBe(200)
}

const appIn = (page: Page): FrameLocator => page.frameLocator(`${APP} iframe`).frameLocator("iframe")

async function showApp(page: Page): Promise<FrameLocator> {
  await askQuestion(page, '/call plans_show {"text":"two"}')
  await untilSettled(page)
  return appIn(page)
}

test.each(
  everyNth(
    [
      ["our document", "parent.postMessage({ jsonrpc: '2.0', method: 'x' }, '*')"],
      ["our document with requests", "post({ id: 'r' + n, method: 'ping' })"],
      ["the page, past our document", "top.postMessage({ x: 1 }, '*')"],
    ],
    3,
  ),
)(
  "[MA8] an app that floods %s is stopped until a click, even when its session is opened again",
  async (_name, code) => {
    await serve({ html: createApp("<p>App</p>", `start().then(() => { for (let n = 0; n < 5_000; n++) ${code} })`) })
    const { page } = await openPage(setup.browser, setup.cuecard)
    await showApp(page)
    const resume = page.locator(`${APP} .note button`)
    await resume.waitFor(SOON)
    expect(await page.locator(`${APP} iframe`).count()).toBe(0)
    const session = sessionIn(page)
    await page.evaluate(() => {
      location.hash = "#/"
    })
    await expect.poll(() => page.locator(APP).count(), SOON).toBe(0)
    await page.evaluate((id) => {
      location.hash = `#/s/${id}`
    }, session)
    await resume.waitFor(SOON)
    expect(await page.locator(`${APP} iframe`).count()).toBe(0)
    const loaded = page.waitForRequest((request) => request.url().includes("/canvas/documents/"))
    await resume.click()
    await loaded
    await page.context().close()
  },
)

test("[MA6] the user is asked only one of an app's questions at a time, and none after three refusals", async () => {
  const html = createApp(
    "<p id=n>0</p>",
    `const ask = (n) => request("ui/open-link", { url: "https://example.com/" + n })
const show = (text) => { document.getElementById("n").textContent = text }
start().then(async () => {
  ask("first")
  for (let n = 0; n < 20; n++) await ask("while one is open")
  show("waiting")
})
document.onclick = async () => { for (let n = 0; n < 5; n++) await ask(n); show("done") }`,
  )
  await serve({ html })
  const { page } = await openPage(setup.browser, setup.cuecard)
  const app = await showApp(page)
  await expect.poll(() => app.locator("#n").textContent(), SOON).toBe("waiting")
  const ask = page.locator(`${APP} .ask`)
  expect(await ask.locator("pre").textContent()).toBe("https://example.com/first")
  await ask.getByRole("button", { name: "Deny" }).click()
  await expect.poll(() => ask.count(), SOON).toBe(0)
  // The focus has returned to the app and isn't lost.
  await expect.poll(() => page.evaluate(() => document.activeElement?.localName), SOON).toBe("iframe")
  await app.locator("#n").click()
  for (const n of [0, 1]) {
    await expect.poll(() => ask.locator("pre").textContent(), SOON).toBe(`https://example.com/${n}`)
    await ask.getByRole("button", { name: "Deny" }).click()
  }
  await expect.poll(() => app.locator("#n").textContent(), SOON).toBe("done")
  expect(await ask.count()).toBe(0)
  await page.context().close()
})

test("[MA6] a click whose timing an app exploits has no effect, because the buttons ignore clicks at first", async () => {
  await serve({ html: BOOKING_APP })
  const { page } = await openPage(setup.browser, setup.cuecard)
  const app = await showApp(page)
  // Clicks at the moment when the button appears, like a user who was about to click something else there.
  await page.evaluate((place) => {
    new MutationObserver((_changes, observer) => {
      const button = document.querySelector<HTMLElement>(`${place} .ask .firm`)
      if (button === null) return
      observer.disconnect()
      requestAnimationFrame(() => {
        button.click()
        Object.assign(globalThis, { clicked: true })
      })
    }).observe(document.body, { subtree: true, childList: true })
  }, APP)
  await app.locator("#message").click(SOON)
  await page.waitForFunction(() => Reflect.has(globalThis, "clicked"))
  expect(await page.locator(`${APP} .ask`).count()).toBe(1)
  expect(await page.locator("article[data-role=user]").count()).toBe(1)
  await page.context().close()
})

test("[MA4] an app reaches an origin only if its server declares it and the tenant allows it", async () => {
  const csp = { connectDomains: [base] }
  const html = createApp(
    "<p id=result></p>",
    `start().then(() => fetch("${base}/data")).then((reply) => reply.text()).catch(() => "blocked")
      .then((text) => { document.getElementById("result").textContent = text })`,
  )
  await serve({ html, csp }, { app_hosts: [base] })
  const { page } = await openPage(setup.browser, setup.cuecard)
  const app = await showApp(page)
  await expect.poll(() => app.locator("#result").textContent(SOON), SOON).toBe("reached")
  expect(received.splice(0)).toEqual(["/data"])
  await serve({ html, csp })
  await page.reload()
  await expect.poll(() => appIn(page).locator("#result").textContent(SOON), SOON).toBe("blocked")
  expect(received).toEqual([])
  await page.context().close()
})

test("[MA4] an app follows the redirects of an allowed origin", async () => {
  const html = createApp(
    "<p id=result></p>",
    `start().then(() => fetch("${base}/moved")).then((reply) => reply.text()).catch(() => "blocked")
      .then((text) => { document.getElementById("result").textContent = text })`,
  )
  await serve({ html, csp: { connectDomains: [base] } }, { app_hosts: [base] })
  const { page } = await openPage(setup.browser, setup.cuecard)
  const app = await showApp(page)
  await expect.poll(() => app.locator("#result").textContent(SOON), SOON).toBe("reached")
  expect(received.splice(0)).toEqual(["/moved", "/data"])
  await page.context().close()
})

test("[MA7] a user who can only read a session sees its apps, which can't call tools or send anything", async () => {
  const html = createApp(
    "<p id=got></p>",
    `const show = (text) => { document.getElementById("got").textContent += text + " " }
start().then(async () => {
  const called = await request("tools/call", { name: "refresh", arguments: { text: "x" } })
  show(called.error ? "refused" : "called")
  const { result } = await request("ui/message", { role: "user", content: [{ type: "text", text: "x" }] })
  show(result.isError)
})`,
  )
  await serve({ html })
  const owner = await openAsUser(setup, "olga")
  const app = await showApp(owner.page)
  await expect.poll(() => app.locator("#got").textContent(), SOON).toBe("called ")
  const session = sessionIn(owner.page)
  await owner.page.context().close()
  await addUser(setup.cuecard, "vic")
  const token = await tokenFor(setup.cuecard, "olga", "member")
  const shared = await callApi(setup.cuecard, token, "PUT", `/v1/sessions/${session}/viewers/vic`)
  expect(shared.status, JSON.stringify(shared.body)).toBeLessThan(300)
  const { page } = await openAsUser(setup, "vic", { at: `#/s/olga/${session}` })
  await expect.poll(() => appIn(page).locator("#got").textContent(SOON), SOON).toBe("refused true ")
  expect(await page.locator(`${APP} .ask`).count()).toBe(0)
  await page.context().close()
})

/** Creates an app that is written with the official package, whose code is included in the document. */
function createOfficialApp(): string {
  const code = readFileSync("node_modules/@modelcontextprotocol/ext-apps/dist/src/app-with-deps.js", "utf8")
  const name = /export\{[^}]*?(\w+) as App\b/.exec(code)?.[1]
  if (name === undefined) throw new Error("The package has no App.")
  const script = `
const app = new ${name}({ name: "official", version: "1" }, {})
const show = (id, text) => { document.getElementById(id).textContent = text }
app.ontoolinput = ({ arguments: args }) => show("input", JSON.stringify(args))
app.ontoolresult = ({ structuredContent }) => show("result", JSON.stringify(structuredContent))
app.onhostcontextchanged = ({ theme }) => show("theme", theme)
await app.connect()
show("theme", app.getHostContext().theme)
const called = await app.callServerTool({ name: "refresh", arguments: { text: "three" } })
show("called", called.content[0].text)
`
  const places = ["input", "result", "theme", "called"].map((id) => `<p id=${id}></p>`).join("")
  return `<!doctype html><meta charset="utf-8">${places}<script type="module">${code}\n${script}</script>`
}

test("[MA9] an app that is written with the official package works", async () => {
  await serve({ html: createOfficialApp() })
  const { page, errors } = await openPage(setup.browser, setup.cuecard)
  const app = await showApp(page)
  await expect.poll(() => app.locator("#called").textContent(SOON), SOON).toBe("refresh: three")
  expect(await app.locator("#input").textContent()).toBe('{"text":"two"}')
  expect(await app.locator("#result").textContent()).toBe('{"name":"show","text":"two"}')
  expect(await app.locator("#theme").textContent()).toBe("light")
  await page.keyboard.press("Control+Shift+l")
  await expect.poll(() => app.locator("#theme").textContent(), SOON).toBe("dark")
  // The package reports the document's height.
  const height = () => page.locator(`${APP} .pane`).evaluate((element) => element.clientHeight)
  await expect.poll(height, SOON).not.toBe(240)
  expect(errors).toEqual([])
  await page.context().close()
})
