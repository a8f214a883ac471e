/**
 * sender.ts: sends records into a session as they come, and goes on after whatever breaks in between.
 *
 * records → numbered lines → POST /external/sessions/:id/events → acknowledged numbers
 * Lines are kept until the server says that it has them. A request lasts REQUEST_MS at most: so the server's word comes
 * soon, also through a proxy that hands bodies on only when they are whole, and each request is a sign of life.
 */

import { type ClientRequest, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"

/** How an answer stands, as the server tells it. */
export interface Standing {
  readonly responseId?: string
  readonly n?: number
  readonly status?: string
  readonly reason?: string | null
  readonly code?: string
  readonly text?: string
  readonly bad?: readonly { readonly code: string }[]
  readonly skipped?: number
}

export interface SenderOptions {
  readonly url: URL
  readonly token: string
  /** A problem that does not end it, in words. */
  readonly warn: (text: string) => void
}

export interface Sender {
  push(records: readonly object[]): void
  /** Resolves when what waits is not too much: until then, read no more. */
  room(): Promise<void>
  /** There will be no more. */
  close(): void
  /** How the answer ended, or stood when all was sent. Rejects where it cannot go on. */
  readonly done: Promise<Standing>
  /** Lines that the server refused, by code. */
  readonly refused: ReadonlyMap<string, number>
}

/** Longest request, in milliseconds. */
const REQUEST_MS = 10_000
/** Wait before the session is asked again whether it is free, in milliseconds. */
const BUSY_MS = 2_000
/** First and longest wait after a fault of the network, in milliseconds. */
const RETRY_MS = 200
const MAX_RETRY_MS = 5_000
/** Faults in a row, or requests that brought nothing on, before it gives up. */
const MAX_FAULTS = 100
const MAX_STALLS = 5
/** Characters that may wait. */
const MAX_WAITING = 8 * 1024 * 1024

interface Line {
  readonly n: number
  readonly text: string
}

interface Answered {
  readonly status: number
  readonly body: Standing
}

const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "interrupted", "failed"])

export function createSender(options: SenderOptions): Sender {
  const refused = new Map<string, number>()
  let lines: Line[] = []
  let waiting = 0
  let last = 0
  let isClosed = false
  let hasBegun = false
  let faults = 0
  let stalls = 0
  const roomFor: (() => void)[] = []
  /** Wakes whoever waits for something to send. */
  let wake = (): void => {}
  /** Writes what comes meanwhile into the request that is open. */
  let live: ((line: Line) => void) | null = null

  const woken = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const acknowledge = (n: number): void => {
    lines = lines.filter((line) => line.n > n)
    waiting = lines.reduce((sum, line) => sum + line.text.length, 0)
    if (waiting <= MAX_WAITING) for (const go of roomFor.splice(0)) go()
  }

  /** One request: all that waits, and what comes while it is open. */
  const send = (): Promise<Answered> =>
    post(options, (request, end) => {
      const write = (line: Line): void => void request.write(`${line.text}\n`)
      if (lines.length === 0) request.write("\n")
      for (const line of lines) write(line)
      if (isClosed) return end()
      live = write
      const timer = setTimeout(end, REQUEST_MS)
      finishLive = () => {
        clearTimeout(timer)
        end()
      }
    }).finally(() => {
      live = null
      finishLive = () => {}
    })
  let finishLive = (): void => {}

  /** What the server said; its standing where that is the end. */
  const heed = async ({ status, body }: Answered): Promise<Standing | null> => {
    for (const { code } of body.bad ?? []) refused.set(code, (refused.get(code) ?? 0) + 1)
    if (status >= 500) throw new Error(`the server answered ${status}`)
    faults = 0
    const before = lines.length
    acknowledge(body.n ?? 0)
    if (body.status !== undefined && ENDED.has(body.status)) return body
    if (status === 409 && body.code === "turn_running") {
      await woken(BUSY_MS)
      return null
    }
    if (status !== 200) throw new Final(`${body.code ?? status}: ${body.text ?? "refused"}`)
    hasBegun = true
    stalls = before > 0 && lines.length === before ? stalls + 1 : 0
    if (stalls >= MAX_STALLS) throw new Final("the server takes none of the records")
    return isClosed && lines.length === 0 ? body : null
  }

  const run = async (): Promise<Standing> => {
    for (;;) {
      // Once it has begun there is always a request open: it is a sign of life, and tells when a reader stops it.
      if (lines.length === 0 && !isClosed && !hasBegun) await woken(2 ** 31 - 1)
      try {
        const end = await heed(await send())
        if (end !== null) return end
      } catch (error) {
        if (error instanceof Final) throw error
        faults += 1
        if (faults >= MAX_FAULTS) throw error
        if (faults === 1) options.warn(`${error instanceof Error ? error.message : error}; trying again`)
        await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS * 2 ** (faults - 1), MAX_RETRY_MS)))
      }
    }
  }

  return {
    refused,
    done: run(),
    push(records) {
      for (const record of records) {
        last += 1
        const line = { n: last, text: JSON.stringify({ ...record, n: last }) }
        lines.push(line)
        waiting += line.text.length
        live?.(line)
      }
      wake()
    },
    room: () => (waiting <= MAX_WAITING ? Promise.resolve() : new Promise((resolve) => roomFor.push(resolve))),
    close() {
      isClosed = true
      finishLive()
      wake()
    },
  }
}

/** There is no use in trying again. */
class Final extends Error {}

/** A request whose body is written by `fill`, until it calls `end` or the answer is there before that. */
function post(
  { url, token }: SenderOptions,
  fill: (request: ClientRequest, end: () => void) => void,
): Promise<Answered> {
  const start = url.protocol === "https:" ? requestHttps : requestHttp
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" }
  return new Promise((resolve, reject) => {
    // A connection of its own each time: one that was kept may be dead.
    const request = start(url, { method: "POST", headers, agent: false })
    let isAnswered = false
    request.on("error", (error) => {
      if (!isAnswered) reject(error)
    })
    request.on("response", (response) => {
      isAnswered = true
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        // The answer may come before the body is over: then nobody reads the rest.
        request.destroy()
        resolve({ status: response.statusCode ?? 0, body: bodyOf(Buffer.concat(chunks).toString("utf8")) })
      })
    })
    request.setTimeout(3 * REQUEST_MS, () => request.destroy(new Error("no answer")))
    fill(request, () => request.end())
  })
}

function bodyOf(text: string): Standing {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
