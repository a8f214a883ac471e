/**
 * escape.test.ts: documents that try to reach other hosts from their frame, in a real Chromium.
 *
 * The test serves the page and the documents with the Worker's headers, and hardens the documents as the Worker does.
 * It first runs each attempt (escape-attempts.ts) alone and without restrictions. If this browser supports the attempt,
 * its host must receive something. The test then puts all attempts into one restricted page, together with an
 * unrestricted control document. There, only the control document's hosts may receive anything.
 */

import { createSocket } from "node:dgram"
import { createServer as createHttp } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hardenDocument } from "../../worker/routes/media/canvas-document.ts"
import { createDocumentHeaders, createPageHeaders } from "../../worker/routes/media/content-policy.ts"
import { wrapApp } from "../../worker/routes/media/wrap-app.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { usedOnce } from "../support/reused-contexts.ts"
import { everyNth } from "../support/seeded.ts"
import { GRABS, type To, ATTEMPTS } from "./escape-attempts.ts"

/**
 * The requests that the attempts' hosts received, and the requests to our own server for anything but the page and its
 * documents.
 */
const received: string[] = []
let browser: Browser
let open: BrowserContext
let own = ""
/** The hosts of each attempt. The last ones are those of the control document, which is never restricted. */
let hosts: readonly To[] = []
let hasNetwork = false

const ALL = [...ATTEMPTS, { name: "control", html: createControlDocument, isReached: "always" as const }]
const CONTROL = ATTEMPTS.length

function createControlDocument({ evil, udp }: To): string {
  const call = `const c=new RTCPeerConnection({iceServers:[{urls:'stun:${udp}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))`
  return `<img src="${evil}/control"><script>${call}</script>`
}

const nameOf = (at: number): string => ALL[at]?.name ?? "unknown"

/** Servers that record connections. A connection counts even if no data follows. */
const listeners = ALL.map(({ name }) =>
  createServer((socket) => {
    received.push(`${name}: a connection`)
    socket.on("data", () => socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"))
    socket.on("error", () => {})
  }),
)
const packets = ALL.map(({ name }) => createSocket("udp4").on("message", () => received.push(`${name}: a packet`)))

const server = createHttp((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", own)
  const attempts = (searchParams.get("attempts") ?? "").split(",").map(Number)
  const mode = searchParams.get("mode") ?? ""
  if (pathname === "/page") {
    const frames = attempts.map((at) => {
      const sandbox = mode === "open" ? "" : 'sandbox="allow-scripts"'
      return `<iframe title="x" ${sandbox} src="/canvas/documents/${at}/index.html?mode=${mode}"></iframe>`
    })
    const headers =
      mode === "open" ? {} : createPageHeaders({ own, canvas: null }, { embed_origins: [], media_hosts: [] })
    response.writeHead(200, { ...headers, "content-type": "text/html", "set-cookie": "secret=1" })
    return void response.end(frames.join(""))
  }
  const [, at] = /^\/canvas\/documents\/(-?\d+)\/index\.html$/.exec(pathname) ?? []
  if (at !== undefined) {
    const { "connection-allowlist": allowlist = "", ...others } = createDocumentHeaders(["'self'"])
    const closed = mode === "closed-without-allowlist" ? others : { ...others, "connection-allowlist": allowlist }
    response.writeHead(200, mode === "open" ? { "content-type": "text/html" } : closed)
    const html = documentAt(Number(at))
    return void response.end(mode === "open" ? html : mode === "app" ? wrapApp(html) : hardenDocument(html))
  }
  if (pathname !== "/favicon.ico") received.push(`GET ${pathname}`)
  response.writeHead(404).end()
})

/** Documents that don't try to reach a host. */
const [GRABBING, ENDLESS] = [-1, -2]

/** Returns a document that reports that its script runs, and then makes its attempt. */
function documentAt(at: number): string {
  const to = hosts[at]
  if (at === ENDLESS) return `<script>top.postMessage(${at}, "*");setTimeout(() => { for (;;); }, 100)</script>`
  if (to === undefined) return createGrabbingDocument()
  return `<script>top.postMessage(${at}, "*")</script>${ALL[at]?.html(to) ?? ""}`
}

function createGrabbingDocument(): string {
  const all = Object.entries(GRABS).map(
    ([name, code]) => `try { got.push(${JSON.stringify(name)} + ": " + (${code})) } catch {}`,
  )
  return `<script>const got=[];${all.join(";")};parent.postMessage(got,"*")</script>`
}

beforeAll(async () => {
  const started = [...listeners, server].map((item) => new Promise<void>((done) => item.listen(0, "127.0.0.1", done)))
  await Promise.all([
    ...started,
    ...packets.map((packet) => new Promise<void>((done) => packet.bind(0, "0.0.0.0", done))),
  ])
  const portOf = (address: unknown): number => (address as AddressInfo).port
  own = `http://127.0.0.1:${portOf(server.address())}`
  // WebRTC sends packets through a network interface, not through the loopback interface.
  const outer = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const address = outer.find(({ family, internal }) => family === "IPv4" && !internal)?.address
  hasNetwork = address !== undefined
  hosts = ALL.map((_, at) => ({
    evil: `http://evil.localhost:${portOf(listeners[at]?.address())}`,
    udp: `${address ?? "127.0.0.1"}:${portOf(packets[at]?.address())}`,
  }))
  browser = await openChromium()
  open = await browser.newContext(usedOnce())
})

afterAll(async () => {
  await closeContexts(browser)
  for (const listener of listeners) listener.close()
  server.closeAllConnections()
  server.close()
  for (const packet of packets) packet.close()
})

/** A short run checks every sixth attempt without restrictions, and all attempts with them. */
const reachableAttempts = everyNth(
  ATTEMPTS.flatMap(({ name, isReached }, at) => (isReached === "never" ? [] : [[name, at, isReached] as const])),
  6,
)

describe("a document that tries to escape", () => {
  test.each(reachableAttempts)(
    "[CD4] control: without restrictions, %s reaches its host",
    async (_name, at, isReached) => {
      if (isReached === "packets" && !hasNetwork) return
      received.length = 0
      const page = await open.newPage()
      await page.goto(`${own}/page?mode=open&attempts=${at}`).catch(() => {})
      await expect.poll(() => received, { timeout: 20_000, interval: 20 }).not.toEqual([])
      await page.close()
    },
  )

  test.each(["closed", "closed-without-allowlist", "app"])("[CD4] %s: no attempt reaches its host", async (mode) => {
    received.length = 0
    const context = await browser.newContext(usedOnce())
    const page = await context.newPage()
    const ran = await countRuns(page)
    await page.goto(`${own}/page?mode=${mode}&attempts=${ATTEMPTS.map((_, at) => at).join(",")}`)
    await expect.poll(ran, { timeout: 60_000 }).toBe(ATTEMPTS.length)
    // The unrestricted control document starts after the attempts, in the same page. Once it has reached its hosts, the
    // attempts have had enough time.
    await addControlFrame(page)
    const isControl = (entry: string): boolean => entry.startsWith(nameOf(CONTROL))
    const controls = hasNetwork ? 2 : 1
    await expect.poll(() => new Set(received.filter(isControl)).size, { timeout: 20_000, interval: 20 }).toBe(controls)
    expect(await page.title()).toBe("")
    // Closing the page also triggers attempts on unload.
    await context.close()
    expect(received.filter((entry) => !isControl(entry))).toEqual([])
  })

  test("[CD5] an endless loop in a document does not block the page", async () => {
    const context = await browser.newContext(usedOnce())
    const page = await context.newPage()
    const ran = await countRuns(page)
    await page.goto(`${own}/page?mode=closed&attempts=${ENDLESS}`, { waitUntil: "commit" })
    await expect.poll(ran, { timeout: 20_000 }).toBe(1)
    // The document's loop starts during these iterations.
    for (let n = 0; n < 20; n++) {
      await page.evaluate(() => new Promise((done) => setTimeout(done, 20)))
    }
    await context.close()
  })

  /** Counts the documents that have reported that their script runs. */
  async function countRuns(page: Page): Promise<() => Promise<number>> {
    await page.addInitScript(() => {
      if (window !== parent) return
      const ran = new Set<number>()
      Object.assign(globalThis, { ran })
      addEventListener("message", ({ data }) => typeof data === "number" && ran.add(data))
    })
    return () => page.evaluate(() => Reflect.get(globalThis, "ran").size)
  }

  async function addControlFrame(page: Page): Promise<void> {
    await page.evaluate((src) => {
      const frame = document.createElement("iframe")
      frame.src = src
      document.body.append(frame)
    }, `/canvas/documents/${CONTROL}/index.html?mode=open`)
  }

  test("[CD4] a document cannot read the page, its storage or its cookies, and cannot add a second policy", async () => {
    const context = await browser.newContext(usedOnce())
    const page = await context.newPage()
    const dialogs: string[] = []
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message())
      return dialog.dismiss()
    })
    await page.addInitScript(() => {
      Object.assign(globalThis, { secret: "s", got: [] })
      addEventListener("message", ({ data, source }) => {
        const isOurs = source === document.querySelector("iframe")?.contentWindow
        Reflect.get(globalThis, "got").push({ data, isOurs })
      })
    })
    const entry = async (): Promise<unknown> => {
      await page.waitForFunction(() => Reflect.get(globalThis, "got").length > 1)
      return await page.evaluate(() => Reflect.get(globalThis, "got"))
    }
    await page.goto(`${own}/page?mode=closed&attempts=${GRABBING}`)
    // The page identifies the document by its window. `ready` is the only message that the document can send.
    expect(await entry()).toEqual([
      { data: [], isOurs: true },
      { data: { type: "cuecard:ready" }, isOurs: true },
    ])
    expect(dialogs).toEqual([])
    await context.close()
  })

  test("[CD4] control: without the frame's restrictions, most of the same attempts to read something succeed", async () => {
    const context = await browser.newContext(usedOnce())
    const page = await context.newPage()
    page.on("dialog", (dialog) => dialog.accept())
    await page.addInitScript(() => {
      Object.assign(globalThis, { secret: "s" })
      addEventListener("message", ({ data }) => Object.assign(globalThis, { got: data }))
    })
    await page.goto(`${own}/page?mode=open&attempts=${GRABBING}`)
    await page.waitForFunction(() => Reflect.has(globalThis, "got"))
    const got: string[] = await page.evaluate(() => Reflect.get(globalThis, "got"))
    expect(got.length).toBeGreaterThanOrEqual(Object.keys(GRABS).length - 1)
    await context.close()
  })
})
