/** mcp-connection.test.ts: a user connects to an MCP server with their own account, in a real Chromium. */

import { mkdirSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider, type TestProvider } from "../support/oidc-provider.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { callApi, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { connectServer } from "./connect-server.ts"
import { askQuestion, DESKTOP, openPage, PHONE, untilSettled } from "./page.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, openSite, siteDocument, startSite } from "./widget-pages.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "1" } })
/** The folder for screenshots. */
const OUT = "test/browser/out"
mkdirSync(OUT, { recursive: true })

let upstream: Server
let provider: TestProvider

const tokenOfRoot = () => tokenFor(setup.cuecard, "root", "owner")

async function callAsRoot(method: string, path: string, body?: object) {
  const response = await callApi(setup.cuecard, await tokenOfRoot(), method, path, body)
  expect(response.status, path).toBe(200)
}

beforeAll(async () => {
  upstream = createServer((request, reply) => void answerMcp(request, reply))
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp/serve/own-accounts`
  provider = await startOidcProvider({ redirectUris: [`${setup.cuecard.url}/auth/connections/demo/files`] })
  const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, scope: "files" }
  const server = { url, auth: { type: "oauth", per: "user", issuer: provider.issuer, ...client } }
  await callAsRoot("PUT", "/v1/mcp-servers/files", server)
  await connectServer(setup.cuecard, await tokenOfRoot(), "files", "root")
  await callAsRoot("PUT", "/v1/mcp-servers/files", { ...server, tools: ["echo", "write"], approval: "never" })
  await callAsRoot("PUT", "/v1/agents/general", { description: "d", prompt: "p", mcp_servers: ["files"] })
})

afterAll(async () => {
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
  await provider?.close()
})

/** Signs in at the authorization server and grants access. The window then closes itself. */
async function allowAccess(opened: Page): Promise<void> {
  await opened.waitForSelector("input[name=login]", SOON)
  expect(await opened.evaluate(() => window.opener)).toBe(null)
  await opened.fill("input[name=login]", "ada")
  await opened.fill("input[name=password]", "any")
  await opened.click("button[type=submit]")
  await opened.waitForSelector("input[name=prompt][value=consent]", { state: "attached", ...SOON })
  const closed = opened.waitForEvent("close", SOON)
  await opened.click("button[type=submit]")
  await closed
}

test("[MP14] [MP12] a call that needs the user's account shows a button, which connects the account in a window", async () => {
  const { page, errors } = await openPage(setup.browser, setup.cuecard, { bypassCSP: true })
  await askQuestion(page, '/call files_echo {"text":"one"}')
  await untilSettled(page)
  const ask = page.locator("fieldset.ask")
  await ask.waitFor(SOON)
  expect(await ask.textContent()).toContain("files needs access to your account.")
  for (const [name, size, colorScheme] of [
    ["desktop", DESKTOP, "light"],
    ["phone", PHONE, "dark"],
  ] as const) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme })
    expect(await findViolations(page)).toEqual([])
    await page.screenshot({ path: `${OUT}/connect-${name}.png` })
  }
  await page.setViewportSize(DESKTOP)
  const [opened] = await Promise.all([page.context().waitForEvent("page", SOON), ask.getByRole("button").click()])
  await allowAccess(opened)
  await expect.poll(() => ask.textContent(), SOON).toContain("You are connected to files.")
  await page.screenshot({ path: `${OUT}/connected.png` })
  await ask.getByRole("button", { name: "Ask again" }).click()
  await page.waitForSelector("article .badge:text-is('Done')", { state: "attached", ...SOON })
  await untilSettled(page)
  expect(await page.locator("fieldset.ask").count()).toBe(0)
  expect(errors).toEqual([])

  await page.goto(`${setup.cuecard.url}/#/settings`)
  const row = page.locator('.setting:has(p:text-is("files"))')
  await expect.poll(() => row.textContent(SOON), SOON).toContain("Connected with your account.")
  await page.screenshot({ path: `${OUT}/connections.png` })
  await row.getByRole("button", { name: "Disconnect" }).click()
  await expect.poll(() => row.textContent(), SOON).toContain("Not connected.")
  await page.context().close()
})

test("[MP12] the callback page of a connection that wasn't started explains the problem in the browser's language", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await page.setExtraHTTPHeaders({ "accept-language": "ar,en;q=0.5" })
  const response = await page.goto(`${setup.cuecard.url}/auth/connections/demo/files?state=x&code=y`)
  expect(response?.status()).toBe(400)
  expect(await page.getAttribute("html", "dir")).toBe("rtl")
  expect(await page.textContent("p")).toContain("تعذّر")
  await page.context().close()
})

test("[MP14] the widget says that the account isn't connected, but has no button", async () => {
  const site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  const { page, errors } = await openSite(setup.browser, site.serve(siteDocument(setup.cuecard)))
  const field = page.locator("cuecard-chat .composer textarea")
  await field.fill('/call files_echo {"text":"one"}', SOON)
  await field.press("Enter")
  const ask = page.locator("cuecard-chat fieldset.ask")
  await ask.waitFor(SOON)
  expect(await ask.textContent()).toBe("files needs access to your account.")
  expect(await ask.getByRole("button").count()).toBe(0)
  await page.screenshot({ path: `${OUT}/connect-widget.png` })
  expect(errors).toEqual([])
  await page.context().close()
  await site.close()
})
