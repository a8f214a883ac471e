/**
 * rich.ts: helpers for tests of media and documents: checks that media and documents are rendered, play and run, and a
 * server in place of all public hosts.
 */

import { readdirSync, readFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createSocket } from "node:net"
import { join } from "node:path"
import type { Cuecard } from "cuecard/testing"
import type { Page } from "playwright-core"
import { expect } from "vitest"
import { parseJson } from "../../shared/json.ts"
import type { Bytes } from "./samples.ts"

/** A timeout that is longer than any loopback request takes, in milliseconds. */
export const SOON = { timeout: 20_000 }

/** Finds a free port, for a URL that must be known before its server starts. */
export function freePort(): Promise<number> {
  return new Promise((done) => {
    const socket = createSocket().listen(0, "127.0.0.1", () => {
      const { port } = socket.address() as AddressInfo
      socket.close(() => done(port))
    })
  })
}

export async function callRoute(cuecard: Cuecard, path: string, init: RequestInit = {}, token = cuecard.token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const answer = await fetch(`${cuecard.url}${path}`, { ...init, headers })
  const text = await answer.text()
  return { status: answer.status, text, json: Object(parseJson(text)) }
}

/** Scrolls to each media segment and document, because segments far from the visible part aren't loaded. */
export async function lookThrough(page: Page): Promise<void> {
  for (const item of await page.$$("[data-segment=media], [data-segment=canvas]")) await item.scrollIntoViewIfNeeded()
}

export const imageWidthsIn = (page: Page, within = "") =>
  page.$$eval(`${within} .frame img`, (all) =>
    all.map((element) => (element instanceof HTMLImageElement && element.complete ? element.naturalWidth : 0)),
  )

/** Returns the durations of the audio files that can be played, in seconds. */
export const lengthsIn = (page: Page, within = "") =>
  page.$$eval(`${within} audio`, (all) => (all as HTMLAudioElement[]).flatMap(({ duration }) => duration || []))

/** Expects two images, a voice note and a clock that are rendered and can play. */
export async function expectRich(page: Page): Promise<void> {
  await lookThrough(page)
  await expect.poll(() => imageWidthsIn(page, "article[data-role=assistant]"), SOON).toEqual([768, 768])
  const note = ".sound[data-voice]"
  await expect.poll(() => lengthsIn(page, note), SOON).toEqual([expect.any(Number)])
  await expect.poll(() => page.getAttribute(`${note} .wave path`, "d"), SOON).toMatch(/^M2 [\d.]+V/)
  await expectClock(page)
}

/** Expects a clock that the document's own script has drawn, in a frame of the requested height. */
export async function expectClock(page: Page): Promise<void> {
  const frame = page.frameLocator("iframe[title=Clock]")
  await expect.poll(() => frame.locator("#ticks line").count(), SOON).toBe(12)
  expect(await frame.locator("#s").getAttribute("transform")).toMatch(/^rotate\(\d/)
  expect(await page.$eval(".canvas iframe", (element) => element.clientHeight)).toBe(300)
  expect(await page.textContent(".canvas header b")).toBe("Clock")
}

/** Returns the paths of media and documents without signatures, and the sessions for which the signatures are valid. */
export const sourcesIn = (page: Page) =>
  page.$$eval("[data-transcript] :is(img, audio, iframe)", (all) =>
    all.map((element) => {
      const { pathname, searchParams } = new URL(element.getAttribute("src") ?? "", location.href)
      const claims = (searchParams.get("token") ?? "").split(".")[1] ?? ""
      const { session } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))) as { session: string }
      return { pathname, session }
    }),
  )

/** Counts the bucket's files on disk that contain exactly these bytes. */
export function countStoredCopies({ persist }: Cuecard, bytes: Buffer): number {
  const names = readdirSync(persist, { recursive: true, encoding: "utf8" }).filter((name) => /\bblobs\b/.test(name))
  const isSame = (name: string): boolean => {
    try {
      return readFileSync(join(persist, name)).equals(bytes)
    } catch {
      return false
    }
  }
  return names.filter(isSame).length
}

/** A file from another host. If `hasUnknownLength` is true, the file is sent without a content-length. */
export interface Far extends Bytes {
  readonly hasUnknownLength?: boolean
}

export interface MediaRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/**
 * Starts a server in place of all public hosts (`MEDIA_UPSTREAM`). The server selects the response by the complete URL,
 * and records the requests.
 */
export async function startElsewhere(files: ReadonlyMap<string, Far>) {
  const requests: MediaRequest[] = []
  const answer = (url: string, response: ServerResponse): void => {
    const found = files.get(url)
    if (found === undefined) return void response.writeHead(404).end()
    const { type, body, hasUnknownLength = false } = found
    response.writeHead(200, { "content-type": type, ...(hasUnknownLength ? {} : { "content-length": body.length }) })
    // Written in two steps, so that a body without a length is chunked.
    response.write(body.subarray(0, 9_000))
    response.end(body.subarray(9_000))
  }
  const server = createServer(({ url = "", headers }, response) => {
    const wanted = decodeURIComponent(url.replace(/^\/remote\//, ""))
    requests.push({ url: wanted, headers })
    answer(wanted, response)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close }
}
