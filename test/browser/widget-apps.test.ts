/**
 * widget-apps.test.ts: an MCP App in the widget, on a page from another origin: the app is drawn, calls a tool and asks
 * the user.
 */

import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { callApi, tokenFor } from "./admin-pages.ts"
import { BOOKING_APP } from "./mcp-app-documents.ts"
import { SOON } from "./rich.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { allowSites, EVENT_LOG, openSite, type Site, siteDocument, startSite, untilSeen } from "./widget-pages.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })
let upstream: Server
let site: Site

beforeAll(async () => {
  upstream = createServer((request, reply) => void answerMcp(request, reply))
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  await fetch(`${base}/mcp/set/widget`, { method: "POST", body: JSON.stringify({ app: { html: BOOKING_APP } }) })
  const token = await tokenFor(setup.cuecard, "root", "owner")
  const server = { url: `${base}/mcp/serve/widget`, tools: ["show", "refresh"], reads: ["show"], approval: "never" }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/mcp-servers/plans", server)).status).toBe(200)
  const agent = { description: "d", prompt: "p", mcp_servers: ["plans"] }
  expect((await callApi(setup.cuecard, token, "PUT", "/v1/agents/general", agent)).status).toBe(200)
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
})

afterAll(async () => {
  await site?.close()
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
})

test.each(
  everyNth(
    [
      ["in the page", ""],
      ["in a frame", "isolate"],
    ],
    2,
  ),
)("[WG5] [MA5] [MA6] [MA7] an app works in the widget %s", async (_name, attributes) => {
  const { page, errors } = await openSite(setup.browser, site.serve(siteDocument(setup.cuecard, attributes, EVENT_LOG)))
  await untilSeen(page, "ready")
  const widget = attributes === "" ? page.locator("cuecard-chat") : page.frameLocator("cuecard-chat iframe")
  const field = widget.locator(".composer textarea")
  await field.fill('/call plans_show {"text":"two"}')
  await field.press("Enter")
  const app = widget.locator("[data-segment=app]")
  const frame = app.frameLocator("iframe").frameLocator("iframe")
  await expect.poll(() => frame.locator("#text").textContent(SOON), SOON).toBe("two")
  await frame.locator("#call").click(SOON)
  await expect.poll(() => frame.locator("#note").textContent(SOON), SOON).toBe("refresh three")
  await frame.locator("#message").click(SOON)
  const ask = app.locator(".ask")
  await ask.waitFor(SOON)
  expect(await ask.textContent()).toContain("/say Booked.")
  await ask.getByRole("button", { name: "Deny" }).click(SOON)
  await expect.poll(() => frame.locator("#note").textContent(SOON), SOON).toBe("not sent")
  expect(errors).toEqual([])
  await page.context().close()
})
