/** widget-pages.ts: a site on another origin that shows the widget, for the browser tests. */

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Cuecard } from "cuecard/testing"
import type { Browser, BrowserContextOptions, Frame, Page } from "playwright-core"
import { expect } from "vitest"

export interface Site {
  readonly origin: string
  /** Starts serving this document at a separate path. Returns its URL. */
  serve(html: string, headers?: Readonly<Record<string, string>>): string
  /** The number of tokens that the site has returned. */
  readonly tokens: number
  close(): Promise<void>
}

/** Starts a site whose `/chat-token` returns tokens for the server's user. */
export async function startSite(cuecard: Cuecard): Promise<Site> {
  const documents = new Map<string, { readonly html: string; readonly headers: Readonly<Record<string, string>> }>()
  let tokens = 0
  const server = createServer((request, response) => {
    if (request.url === "/chat-token" && request.method === "POST") {
      tokens += 1
      response.writeHead(200, { "content-type": "application/json" })
      return response.end(JSON.stringify({ token: cuecard.token }))
    }
    const found = documents.get(request.url ?? "")
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "text/html", ...found?.headers })
    return response.end(found?.html ?? "")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    get tokens() {
      return tokens
    },
    serve(html, headers = {}) {
      const path = `/${documents.size}`
      documents.set(path, { html, headers })
      return origin + path
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Allows only these sites to show the widget of the server's tenant. */
export async function allowSites(cuecard: Cuecard, origins: readonly string[]): Promise<void> {
  const token = await cuecard.tokenFor({ scope: "admin" })
  const answer = await fetch(`${cuecard.url}/v1/settings`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ embed_hosts: origins }),
  })
  expect(answer.status).toBe(200)
}

export interface SitePage {
  readonly page: Page
  readonly errors: string[]
}

export async function openSite(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<SitePage> {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 760 },
    reducedMotion: "reduce",
    ...options,
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text())
  })
  page.on("pageerror", (error) => errors.push(String(error)))
  await page.goto(address)
  return { page, errors }
}

/** Returns the script tag and the element, as a site writes them. */
export function widgetTags(cuecard: Cuecard, attributes = ""): string {
  return `<script type="module" src="${cuecard.url}/widget.js"></script>
<cuecard-chat token-url="/chat-token" ${attributes}></cuecard-chat>`
}

export function siteDocument(cuecard: Cuecard, attributes = "", head = "", body = ""): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Site</title>
<meta name="viewport" content="width=device-width"><style>cuecard-chat { width: 640px !important; height: 560px !important; }</style>
${head}</head><body>${body}${widgetTags(cuecard, attributes)}</body></html>`
}

/** A script that collects the element's events with their details. It must be in `head`, before the widget's script. */
export const EVENT_LOG = `<script>
  window.seen = []
  for (const name of ["ready", "session", "message", "error", "open", "close"])
    document.addEventListener("cuecard-" + name, ({ detail }) => seen.push([name, detail]))
</script>`

export async function untilSeen(page: Page, name: string): Promise<unknown> {
  await expect
    .poll(() =>
      page.evaluate((wanted) => Reflect.get(window, "seen").some(([item]: [string]) => item === wanted), name),
    )
    .toBe(true)
  return await page.evaluate(
    (wanted) => Reflect.get(window, "seen").find(([item]: [string]) => item === wanted)?.[1],
    name,
  )
}

/** Returns the frame of the server on a site. */
export async function findWidgetFrame(page: Page): Promise<Frame> {
  const frame = await (await page.locator("cuecard-chat iframe").elementHandle())?.contentFrame()
  if (frame === null || frame === undefined) throw new Error("no frame")
  await frame.waitForFunction(() => Boolean(document.body?.shadowRoot))
  return frame
}
