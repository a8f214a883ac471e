/**
 * upstream-remote.ts: a server that stands in for all public hosts. `/remote/<url>` plays the scenario in its path.
 *
 * Example: `https://media.example.com/<scenario>/<run>`, where the run is any unique word.
 */

import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"

/** An image of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
/** Creates a sound file of the given size. */
export function createWav(bytes: number): Buffer {
  const sound = Buffer.alloc(bytes, 1)
  sound.write("RIFF\0\0\0\0WAVEfmt ", "latin1")
  return sound
}

const BODIES: Readonly<Record<string, string>> = {
  html: "<!doctype html><script>alert(1)</script>",
  svg: "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
  text: "plain words",
  zip: "PK\u0003\u0004xxxx",
  empty: "",
}

export function playRemote(url: URL, reply: ServerResponse): void {
  const [, scenario = ""] = url.pathname.split("/")
  const text = BODIES[scenario]
  const to = url.searchParams.get("to")
  // Declare an image, whatever the content is.
  if (text !== undefined) return void reply.writeHead(200, { "content-type": "image/png" }).end(text)
  if (to !== null) return void reply.writeHead(302, { location: to }).end()
  switch (scenario) {
    case "png":
      reply.writeHead(200, {
        "content-type": "text/html",
        "content-length": PNG.length,
        "set-cookie": "a=b",
        "x-evil": "1",
        "content-security-policy": "default-src *",
        "access-control-allow-origin": "*",
      })
      return void reply.end(PNG)
    case "wav":
      return void reply.writeHead(200, { "content-length": 10_000 }).end(createWav(10_000))
    case "wav-untold":
      return void reply.writeHead(200).end(createWav(10_000))
    case "wav-large": {
      const bytes = 17 * 1024 * 1024
      return void reply.writeHead(200, { "content-length": bytes }).end(createWav(bytes))
    }
    case "untold":
      return void reply.writeHead(200).end(PNG)
    case "loop":
      return void reply.writeHead(301, { location: url.href }).end()
    case "too-large":
      reply.writeHead(200, { "content-length": 30_000_000 })
      return void reply.write(Buffer.concat([PNG, Buffer.alloc(8192)]))
    case "endless":
      return pourBytes(reply)
    case "cut":
      reply.writeHead(200, { "content-length": 50_000 })
      reply.write(createWav(20_000))
      return void setTimeout(() => reply.destroy(), 50)
    case "stall":
      reply.writeHead(200)
      return void reply.write(createWav(20_000))
    case "slow":
      return
    case "drip":
      return dripBytes(reply)
    case "packed":
      // The body is a hundred times as large when it is decompressed.
      reply.writeHead(200, { "content-encoding": "gzip" })
      return void reply.end(gzipSync(Buffer.concat([PNG, Buffer.alloc(30_000_000)])))
    case "short":
      reply.writeHead(200, { "content-length": 60_000, connection: "close" })
      return void reply.end(createWav(20_000))
    case "206":
      reply.writeHead(206, { "content-range": `bytes 0-69/${PNG.length * 2}`, "content-length": PNG.length })
      return void reply.end(PNG)
    case "204":
    case "304":
      return void reply.writeHead(Number(scenario)).end()
    case "headers":
      for (let n = 0; n < 200; n++) reply.setHeader(`x-${n}`, "x".repeat(1000))
      return void reply.writeHead(200).end(PNG)
    default:
      reply.writeHead(404).end(PNG)
  }
}

/** Sends an image one byte at a time. */
function dripBytes(reply: ServerResponse): void {
  reply.writeHead(200)
  let at = 0
  const timer = setInterval(() => {
    if (reply.destroyed) clearInterval(timer)
    else reply.write(PNG.subarray(at++ % PNG.length).subarray(0, 1))
  }, 20)
}

/** Sends an endless image as fast as the client reads it. */
function pourBytes(reply: ServerResponse): void {
  reply.writeHead(200)
  reply.write(PNG)
  const block = Buffer.alloc(256 * 1024)
  const more = (): void => {
    while (!reply.destroyed && reply.write(block)) {}
  }
  reply.on("drain", more)
  more()
}
