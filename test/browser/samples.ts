/**
 * samples.ts: messages with media, and the media files, which the browser itself creates.
 *
 * The tests send the server's frames (as in same-dom.test.ts), sign URLs and serve files themselves, so that they can
 * show every kind of segment.
 */

import type { Browser, BrowserContext } from "playwright-core"
import type { PageSettings, HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { parseJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"

export const text = (content: string): Segment => ({ type: "text", content })

type MediaSegment = Extract<Segment, { type: "media" }>

export function media(
  kind: MediaSegment["kind"],
  url: string,
  label: string,
  more: Partial<MediaSegment> = {},
): Segment {
  return { type: "media", url, kind, label, ...more }
}

export function canvas(url: string, title: string, preferredHeight: number): Segment {
  return {
    type: "canvas",
    preview: { kind: "canvas", surface: "assistant_message", render: "url", url, title, preferredHeight },
  }
}

let count = 0

export function createWireMessage(
  role: "user" | "assistant",
  segments: readonly Segment[],
  more: Partial<WireMessage> = {},
): WireMessage {
  const id = `m${++count}`
  return {
    id,
    role,
    exchange_id: role === "user" ? id : `m${count - 1}`,
    content: "",
    segments,
    status: "completed",
    reason: null,
    mode: "chat",
    metrics: null,
    timestamp: new Date(Date.UTC(2026, 4, 2) + count * 1000).toISOString(),
    ...more,
  }
}

/**
 * Sends these messages to every page of the context after the page's hello. The returned `later` sends further frames.
 */
export async function sendMessages(context: BrowserContext, epoch: string, messages: readonly WireMessage[]) {
  const sockets: { send(text: string): void }[] = []
  const received: { readonly type?: string }[] = []
  let seq = 0
  const number = (frame: object): string => JSON.stringify({ ...frame, seq: ++seq, prev: seq - 1 })
  await context.routeWebSocket(/\/socket$/, (socket) => {
    socket.onMessage((payload) => {
      const frame = parseJson(String(payload)) as { type?: string } | undefined
      if (frame === undefined) return
      received.push(frame)
      if (frame.type === "ping") socket.send('{"type":"pong"}')
      if (frame.type !== "hello") return
      socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, epoch, seq: 0 }))
      seq = 0
      for (const message of messages) socket.send(number({ type: "message", ...message }))
      sockets.push(socket)
    })
  })
  return { received, later: (frame: object) => sockets.at(-1)?.send(number(frame)) }
}

export interface Bytes {
  readonly type: string
  readonly body: Buffer
}

export interface Served {
  /** URLs for which the page requested signatures, one list per request. */
  readonly signRequests: string[][]
  /** Signed URLs that the page fetched, without their tokens. */
  readonly fetched: string[]
}

/** Signs and serves `files` under the URLs of the segments. */
export async function serveFiles(
  context: BrowserContext,
  files: ReadonlyMap<string, Bytes>,
  settings: PageSettings = { media_hosts: [], embed_origins: [] },
): Promise<Served> {
  const served: Served = { signRequests: [], fetched: [] }
  await context.route("**/v1/settings", (route) => route.fulfill({ json: settings }))
  await context.route("**/v1/sessions/*/media/sign", (route) => {
    const { urls } = route.request().postDataJSON() as { urls: string[] }
    served.signRequests.push(urls)
    const hrefOf = (url: string): string | null => {
      if (url.startsWith("https:")) return `/media/remote?token=${encodeURIComponent(url)}`
      return files.has(url) ? `${url}?token=t${served.signRequests.length}` : null
    }
    const signed = urls.map((url) => ({ url, href: hrefOf(url) }))
    return route.fulfill({ json: { signed, expires: Date.now() / 1000 + 3600 } })
  })
  await context.route(/\/(?:media|canvas\/documents)\/[^?]*\?token=/, (route) => {
    const { pathname, searchParams } = new URL(route.request().url())
    const url = pathname === "/media/remote" ? (searchParams.get("token") ?? "") : pathname
    served.fetched.push(url)
    const found = files.get(url)
    const fault = { code: "remote_refused", text: "The other server does not give it." }
    if (found === undefined) return route.fulfill({ status: 502, json: fault })
    return route.fulfill({ contentType: found.type, body: found.body, headers: { "accept-ranges": "bytes" } })
  })
  return served
}

let madeFiles: Promise<ReadonlyMap<string, Bytes>> | null = null

/** Creates the sample files in a browser, once per process. */
export function makeFiles(browser: Browser): Promise<ReadonlyMap<string, Bytes>> {
  madeFiles ??= makeFilesIn(browser)
  return madeFiles
}

async function makeFilesIn(browser: Browser): Promise<ReadonlyMap<string, Bytes>> {
  const page = await browser.newPage()
  const drawn = async (name: "landscape" | "portrait" | "chart"): Promise<Bytes> => ({
    type: "image/png",
    body: Buffer.from(await page.evaluate(drawImage, name), "base64"),
  })
  const [landscape, portrait, chart] = [await drawn("landscape"), await drawn("portrait"), await drawn("chart")]
  const recording: Bytes = { type: "video/webm", body: Buffer.from(await page.evaluate(recordVideo), "base64") }
  await page.close()
  return new Map([
    ["/media/landscape", landscape],
    ["/media/portrait", portrait],
    ["/media/chart", chart],
    ["https://pictures.example.com/harbour.png", landscape],
    ["/media/tone", { type: "audio/wav", body: createWave(3) }],
    ["/media/note", { type: "audio/wav", body: createWave(5) }],
    ["/media/film", recording],
    ["/media/table", { type: "text/csv", body: Buffer.from("month,visitors\nMay,4200\n") }],
    ["/canvas/documents/plan/index.html", { type: "text/html", body: Buffer.from(DOCUMENT) }],
  ])
}

/** Runs in the page: creates an image, as base64. */
async function drawImage(name: "landscape" | "portrait" | "chart"): Promise<string> {
  const [width, height] = { landscape: [880, 500], portrait: [420, 640], chart: [880, 480] }[name] as [number, number]
  const pen = new OffscreenCanvas(width, height).getContext("2d") as OffscreenCanvasRenderingContext2D
  if (name === "chart") {
    pen.fillStyle = "#ffffff"
    pen.fillRect(0, 0, width, height)
    pen.font = "600 26px sans-serif"
    pen.fillStyle = "#17171f"
    pen.fillText("Visitors by month", 48, 58)
    ;[31, 42, 38, 57, 66, 83, 91, 74].forEach((value, at) => {
      pen.fillStyle = at === 6 ? "#5a43d6" : "#b9b0f0"
      pen.fillRect(60 + at * 98, 420 - value * 3.6, 62, value * 3.6)
      pen.fillStyle = "#5f5f6e"
      pen.font = "20px sans-serif"
      pen.fillText("JFMAMJJA"[at] ?? "", 83 + at * 98, 450)
    })
  } else {
    const sky = pen.createLinearGradient(0, 0, 0, height)
    for (const [at, colour] of [
      [0, "#2b2e63"],
      [0.45, "#c65f7d"],
      [0.7, "#f6b26b"],
    ] as const)
      sky.addColorStop(at, colour)
    pen.fillStyle = sky
    pen.fillRect(0, 0, width, height)
    pen.fillStyle = "#ffe3a3"
    pen.beginPath()
    pen.arc(width * 0.62, height * 0.56, 46, 0, 7)
    pen.fill()
    ;["#5d3b63", "#3a2a52", "#201a3a"].forEach((colour, at) => {
      pen.fillStyle = colour
      pen.beginPath()
      pen.moveTo(0, height)
      for (let x = 0; x <= width; x += 8) {
        pen.lineTo(
          x,
          height * (0.62 + at * 0.12) - Math.sin(x / (90 - at * 18) + at * 2) * 34 - Math.sin(x / 31 + at) * 8,
        )
      }
      pen.lineTo(width, height)
      pen.fill()
    })
  }
  const blob = await pen.canvas.convertToBlob({ type: "image/png" })
  let bytes = ""
  for (const byte of new Uint8Array(await blob.arrayBuffer())) bytes += String.fromCharCode(byte)
  return btoa(bytes)
}

/** Runs in the page: creates half a second of video, as base64. */
async function recordVideo(): Promise<string> {
  const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 360 })
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: "video/webm;codecs=vp8" })
  const parts: Blob[] = []
  recorder.ondataavailable = ({ data }) => parts.push(data)
  recorder.start()
  for (let at = 0; at < 20; at++) {
    pen.fillStyle = "#23204a"
    pen.fillRect(0, 0, 640, 360)
    pen.fillStyle = "#8b7cf6"
    pen.fillRect(40 + at * 6, 120, 180, 120)
    await new Promise((done) => setTimeout(done, 30))
  }
  await new Promise((done) => {
    recorder.onstop = done
    recorder.stop()
  })
  let bytes = ""
  for (const byte of new Uint8Array(await new Blob(parts).arrayBuffer())) bytes += String.fromCharCode(byte)
  return btoa(bytes)
}

/** Creates a sound file with this many seconds of noise that resembles speech: 8 kHz, 16 bits, one channel. */
function createWave(seconds: number): Buffer {
  const rate = 8000
  const samples = rate * seconds
  const bytes = Buffer.alloc(44 + samples * 2)
  bytes.write("RIFF")
  bytes.writeUInt32LE(36 + samples * 2, 4)
  bytes.write("WAVEfmt ", 8)
  for (const [at, value, size] of [
    [16, 16, 4],
    [20, 1, 2],
    [22, 1, 2],
    [24, rate, 4],
    [28, rate * 2, 4],
    [32, 2, 2],
    [34, 16, 2],
  ] as const) {
    bytes.writeUIntLE(value, at, size)
  }
  bytes.write("data", 36)
  bytes.writeUInt32LE(samples * 2, 40)
  for (let at = 0; at < samples; at++) {
    const loud = Math.abs(Math.sin(at / 1700) * Math.sin(at / 5300 + 1) * Math.sin(at / 900)) * 12_000
    bytes.writeInt16LE(Math.round(Math.sin((at * 2 * Math.PI * 170) / rate) * loud), 44 + at * 2)
  }
  return bytes
}

/** A document that announces that it is ready and applies the theme. */
const DOCUMENT = `<!doctype html><meta charset="utf-8"><style>
  :root { color-scheme: light dark; font: 15px/1.5 sans-serif }
  body { margin: 1rem 1.2rem }
  .dark { background: #121218; color: #ececf2 }
  li { margin: .6rem 0; list-style: none } ul { padding: 0 }
  b { display: inline-block; width: 5.5rem; font-weight: 600 }
  i { display: inline-block; height: .7rem; border-radius: 9px; background: #8b7cf6; vertical-align: baseline }
</style><ul><li><b>Harbour</b><i style="width:38%"></i><li><b>Tower</b><i style="width:61%;margin-left:9%"></i>
<li><b>Museum</b><i style="width:22%;margin-left:34%;background:#5fd4e2"></i></ul><script>
  addEventListener("message", ({ data }) => { document.body.className = data.theme })
  parent.postMessage({ type: "cuecard:ready" }, "*")
</script>`

export async function epochOf(url: string, token: string, session: string): Promise<string> {
  const path = `${url}/v1/sessions/${session}/conversation/recent`
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as HistoryPage).epoch
}
