/**
 * record-sender.ts: sends records into a session as they come, and goes on after whatever breaks in between.
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
  waitForCapacity(): Promise<void>
  /** There will be no more. */
  close(): void
  /** The answer is cancelled, and what comes later is no part of it. One that has not begun never does. */
  cancel(): void
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
/** How long an answer is waited for that was on its way when the body could not be written any more, in milliseconds. */
const LATE_MS = 300
const FOREVER_MS = 2 ** 31 - 1
/** Characters that may wait. */
const MAX_WAITING = 8 * 1024 * 1024

interface Line {
  readonly n: number
  readonly text: string
}

interface ServerResponse {
  readonly status: number
  readonly body: Standing
}

const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "interrupted", "failed"])

export function createSender(options: SenderOptions): Sender {
  const refused = new Map<string, number>()
  let lines: Line[] = []
  let pendingChars = 0
  let last = 0
  let isClosed = false
  let isCancelled = false
  let isOver = false
  /** Nothing is known of how the answer stands: that is asked before anything is sent. */
  let isAsking = true
  /** A request with records was opened: the answer may have begun. */
  let hasSent = false
  let hasBegun = false
  let faults = 0
  let stalls = 0
  const capacityWaiters: (() => void)[] = []
  /** Wakes whoever waits for something to send. */
  let wakeSender = (): void => {}
  /** Wakes whoever waits for the session to be free. */
  let giveUpWaiting = (): void => {}
  /** The request that is open learns that there is more, or that there will be no more. */
  let pumpRequest = (): void => {}

  const acknowledgeLines = (n: number): void => {
    lines = lines.filter((line) => line.n > n)
    pendingChars = lines.reduce((sum, line) => sum + line.text.length, 0)
    if (pendingChars <= MAX_WAITING) releaseWaiters()
  }
  const releaseWaiters = (): void => {
    for (const go of capacityWaiters.splice(0)) go()
  }

  /** One request: all that waits, and what comes while it is open, as fast as it is taken. */
  const sendLines = (): Promise<ServerResponse> => {
    hasSent = true
    let timer: ReturnType<typeof setTimeout> | undefined
    return postLines(options, (request) => {
      let at = 0
      let isBlocked = false
      const end = (): void => {
        pumpRequest = () => {}
        request.end()
      }
      pumpRequest = () => {
        while (at < lines.length && !isBlocked) {
          isBlocked = !request.write(`${lines[at]?.text}\n`)
          at += 1
        }
        if (isClosed && at >= lines.length) end()
      }
      request.on("drain", () => {
        isBlocked = false
        pumpRequest()
      })
      timer = setTimeout(end, REQUEST_MS)
      if (lines.length === 0) request.write("\n")
      pumpRequest()
    }).finally(() => {
      clearTimeout(timer)
      pumpRequest = () => {}
    })
  }
  /** An empty body: the address names the answer, so the server says how it stands, or that it may not begin yet. */
  const queryStatus = (): Promise<ServerResponse> => postLines(options, (request) => void request.end("\n"))

  const waitWhileBusy = async (): Promise<Standing | null> => {
    isAsking = true
    const { promise: cancelled, resolve } = Promise.withResolvers<void>()
    giveUpWaiting = resolve
    // What is pushed meanwhile wakes nobody: the session is no freer for it.
    if (!isCancelled) await Promise.race([waitMs(BUSY_MS), cancelled])
    // It has not begun, and nobody wants it any more.
    return isCancelled && !hasBegun ? {} : null
  }

  /** What the server said; its standing where that is the end. */
  const handleResponse = async ({ status, body }: ServerResponse, wasAsked: boolean): Promise<Standing | null> => {
    for (const { code } of body.bad ?? []) refused.set(code, (refused.get(code) ?? 0) + 1)
    if (status >= 500) throw new Error(`the server answered ${status}`)
    faults = 0
    const before = lines.length
    acknowledgeLines(body.n ?? 0)
    if (body.status !== undefined && ENDED.has(body.status)) return body
    if (status === 409 && body.code === "turn_running") return await waitWhileBusy()
    if (status !== 200) throw new FatalError(`${body.code ?? status}: ${body.text ?? "refused"}`)
    isAsking = false
    hasBegun ||= body.status !== undefined
    if (!wasAsked) stalls = before > 0 && lines.length === before ? stalls + 1 : 0
    if (stalls >= MAX_STALLS) throw new FatalError("the server takes none of the records")
    return isClosed && lines.length === 0 ? body : null
  }

  const run = async (): Promise<Standing> => {
    for (;;) {
      // Once it has begun there is always a request open: it is a sign of life, and tells when a reader stops it.
      if (lines.length === 0 && !isClosed && !hasBegun) {
        const { promise: woken, resolve } = Promise.withResolvers<void>()
        wakeSender = resolve
        const timer = setTimeout(resolve, FOREVER_MS)
        await woken
        clearTimeout(timer)
      }
      if (isCancelled && !hasSent) return {}
      try {
        const wasAsked = isAsking
        const end = await handleResponse(await (wasAsked ? queryStatus() : sendLines()), wasAsked)
        if (end !== null) return end
      } catch (error) {
        if (error instanceof FatalError) throw error
        faults += 1
        // What was answered before the line broke is answered again to a body that nobody need read.
        isAsking = true
        if (faults >= MAX_FAULTS) throw error
        if (faults === 1) options.warn(`${error instanceof Error ? error.message : error}; trying again`)
        await waitMs(Math.min(RETRY_MS * 2 ** (faults - 1), MAX_RETRY_MS))
      }
    }
  }
  const close = (): void => {
    isClosed = true
    pumpRequest()
    wakeSender()
  }
  const push = (records: readonly object[]): void => {
    if (isOver || isCancelled) return
    for (const record of records) {
      last += 1
      const line = { n: last, text: JSON.stringify({ ...record, n: last }) }
      lines.push(line)
      pendingChars += line.text.length
    }
    pumpRequest()
    wakeSender()
  }
  const done = run().finally(() => {
    // Whoever waits for room waits no more: nothing of what comes now is sent.
    isOver = true
    lines = []
    releaseWaiters()
  })

  return {
    refused,
    done,
    push,
    close,
    waitForCapacity: () => {
      if (isOver || isCancelled || pendingChars <= MAX_WAITING) return Promise.resolve()
      return new Promise((resolve) => capacityWaiters.push(resolve))
    },
    cancel() {
      push([{ type: "output_cancelled" }])
      isCancelled = true
      releaseWaiters()
      giveUpWaiting()
      close()
    },
  }
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** There is no use in trying again. */
class FatalError extends Error {}

/** A request whose body is written by `fill`, until it is ended or the answer is there before that. */
function postLines({ url, token }: SenderOptions, fill: (request: ClientRequest) => void): Promise<ServerResponse> {
  const start = url.protocol === "https:" ? requestHttps : requestHttp
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" }
  return new Promise((resolve, reject) => {
    // A connection of its own each time: one that was kept may be dead.
    const request = start(url, { method: "POST", headers, agent: false })
    let isAnswered = false
    // The answer may be there although nobody reads the body any more.
    request.on("error", (error) => void setTimeout(() => !isAnswered && reject(error), LATE_MS))
    request.on("response", (response) => {
      isAnswered = true
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        // The answer may come before the body is over: then nobody reads the rest.
        request.destroy()
        resolve({ status: response.statusCode ?? 0, body: parseBody(Buffer.concat(chunks).toString("utf8")) })
      })
    })
    request.setTimeout(3 * REQUEST_MS, () => request.destroy(new Error("no answer")))
    fill(request)
  })
}

function parseBody(text: string): Standing {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
