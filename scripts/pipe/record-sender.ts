/**
 * record-sender.ts: sends records to an external answer as they arrive, and resumes after network errors.
 *
 * records → numbered lines → POST /external/sessions/:id/events → acknowledged numbers
 * Lines are kept until the server acknowledges them. A request ends after REQUEST_MS, so that acknowledgements arrive
 * soon even through proxies that buffer whole bodies, and so that every request proves that the producer is alive.
 */

import { type ClientRequest, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { setTimeout as delay } from "node:timers/promises"
import { backoffDelayMs } from "../../shared/backoff.ts"

/** State of an answer, as the server reports it. */
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
  /** Reports a problem that the sender recovers from. */
  readonly warn: (text: string) => void
  /** Whether the answer already exists, because a user asked for it. If so, a request is open from the start. */
  readonly hasBegun?: boolean
}

/** Maximum duration of a request, in milliseconds. */
const REQUEST_MS = 10_000
/** Delay before checking again whether a busy session is free, in milliseconds. */
const BUSY_MS = 2_000
/** Delays after a network error, in milliseconds. */
const RETRY = { firstMs: 200, maxMs: 5_000 }
/** Consecutive errors, or requests without progress, after which the sender gives up. */
const MAX_FAULTS = 100
const MAX_STALLS = 5
/** How long to wait for a response after the request body could no longer be written, in milliseconds. */
const LATE_RESPONSE_MS = 300
const FOREVER_MS = 2 ** 31 - 1
/** UTF-16 code units that may be pending before `waitForCapacity` waits. */
const MAX_PENDING_CHARS = 8 * 1024 * 1024

interface Line {
  readonly n: number
  readonly text: string
}

interface ServerResponse {
  readonly status: number
  readonly body: Standing
}

const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "interrupted", "failed"])

export class RecordSender {
  readonly #options: SenderOptions
  /** Number of lines that the server refused, by error code. */
  readonly refused = new Map<string, number>()
  /** Resolves with the final state of the answer, or its state after the last record. Rejects on a permanent error. */
  readonly done: Promise<Standing>

  /** Lines that have not been acknowledged yet. */
  #lines: Line[] = []
  #pendingChars = 0
  #lastNumber = 0
  #isClosed = false
  #isCancelled = false
  #isDone = false
  /** Whether the state of the answer is unknown and has to be queried before records are sent. */
  #needsQuery = true
  /** Whether a request with records was started. If so, the answer may exist. */
  #hasSent = false
  #hasBegun = false
  #faults = 0
  #stalls = 0
  #capacityWaiters: (() => void)[] = []
  /** Ends the wait for something to send. */
  #wake = (): void => {}
  /** Ends the wait for a busy session. */
  #stopWaiting = (): void => {}
  /** Writes pending lines to the open request, and ends it after the last one. */
  #pumpRequest = (): void => {}

  constructor(options: SenderOptions) {
    this.#options = options
    this.#hasBegun = options.hasBegun === true
    this.done = this.#run().finally(() => {
      this.#isDone = true
      this.#lines = []
      this.#releaseWaiters()
    })
  }

  push(records: readonly object[]): void {
    if (this.#isDone || this.#isCancelled) return
    for (const record of records) {
      this.#lastNumber += 1
      const line = { n: this.#lastNumber, text: JSON.stringify({ ...record, n: this.#lastNumber }) }
      this.#lines.push(line)
      this.#pendingChars += line.text.length
    }
    this.#pumpRequest()
    this.#wake()
  }

  /** Resolves when there is room for more records. Callers should not read further input until then. */
  waitForCapacity(): Promise<void> {
    if (this.#isDone || this.#isCancelled || this.#pendingChars <= MAX_PENDING_CHARS) return Promise.resolve()
    return new Promise((resolve) => this.#capacityWaiters.push(resolve))
  }

  /** Ends the answer after the pending records. */
  close(): void {
    this.#isClosed = true
    this.#pumpRequest()
    this.#wake()
  }

  /** Cancels the answer. Later records are dropped. An answer that has not begun is never created. */
  cancel(): void {
    this.push([{ type: "output_cancelled" }])
    this.#isCancelled = true
    this.#releaseWaiters()
    this.#stopWaiting()
    this.close()
  }

  async #run(): Promise<Standing> {
    for (;;) {
      // Once the answer has begun, a request is always open: it proves that the producer is alive, and its response
      // reports when the user stops the answer.
      if (this.#lines.length === 0 && !this.#isClosed && !this.#hasBegun) await this.#waitForLines()
      if (this.#isCancelled && !this.#hasSent && !this.#hasBegun) return {}
      try {
        const isQuery = this.#needsQuery
        const response = await (isQuery ? this.#queryStanding() : this.#sendLines())
        const end = await this.#handleResponse(response, isQuery)
        if (end !== null) return end
      } catch (error) {
        await this.#recover(error)
      }
    }
  }

  async #waitForLines(): Promise<void> {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    // The timer keeps the process running.
    const timer = setTimeout(resolve, FOREVER_MS)
    await woken
    clearTimeout(timer)
  }

  /** Waits before the next attempt. Throws the error if there must not be another attempt. */
  async #recover(error: unknown): Promise<void> {
    if (error instanceof PermanentError) throw error
    this.#faults += 1
    // The server repeats a lost response when it is queried with an empty body.
    this.#needsQuery = true
    if (this.#faults >= MAX_FAULTS) throw error
    if (this.#faults === 1) this.#options.warn(`${error instanceof Error ? error.message : error}; retrying`)
    await delay(backoffDelayMs(this.#faults, RETRY))
  }

  /** Sends one request with all pending lines and those that are pushed while it is open. */
  async #sendLines(): Promise<ServerResponse> {
    this.#hasSent = true
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      return await postLines(this.#options, (request) => {
        timer = setTimeout(this.#startPump(request), REQUEST_MS)
        if (this.#lines.length === 0) request.write("\n")
        this.#pumpRequest()
      })
    } finally {
      clearTimeout(timer)
      this.#pumpRequest = () => {}
    }
  }

  /**
   * Makes `#pumpRequest` write to a request, at the speed at which it is read. Returns a function that ends the
   * request.
   */
  #startPump(request: ClientRequest): () => void {
    let at = 0
    let isBlocked = false
    const endRequest = (): void => {
      this.#pumpRequest = () => {}
      request.end()
    }
    const pumpLines = (): void => {
      while (at < this.#lines.length && !isBlocked) {
        isBlocked = !request.write(`${this.#lines[at]?.text}\n`)
        at += 1
      }
      if (this.#isClosed && at >= this.#lines.length) endRequest()
    }
    request.on("drain", () => {
      isBlocked = false
      this.#pumpRequest()
    })
    this.#pumpRequest = pumpLines
    return endRequest
  }

  /**
   * Queries the state of the answer. The URL names the answer, so if the body is empty, the server responds with the
   * answer's state, or reports that the session is busy.
   */
  #queryStanding(): Promise<ServerResponse> {
    return postLines(this.#options, (request) => void request.end("\n"))
  }

  /** Processes a response. Returns the answer's state if nothing is left to do, otherwise null. */
  async #handleResponse({ status, body }: ServerResponse, isQuery: boolean): Promise<Standing | null> {
    for (const { code } of body.bad ?? []) this.refused.set(code, (this.refused.get(code) ?? 0) + 1)
    if (status >= 500) throw new Error(`the server responded with status ${status}`)
    this.#faults = 0
    const pendingBefore = this.#lines.length
    this.#acknowledgeLines(body.n ?? 0)
    if (body.status !== undefined && ENDED.has(body.status)) return body
    if (status === 409 && body.code === "turn_running") return await this.#waitWhileBusy()
    if (status !== 200) throw new PermanentError(`${body.code ?? status}: ${body.text ?? "refused"}`)
    this.#needsQuery = false
    this.#hasBegun ||= body.status !== undefined
    if (!isQuery) this.#stalls = pendingBefore > 0 && this.#lines.length === pendingBefore ? this.#stalls + 1 : 0
    if (this.#stalls >= MAX_STALLS) throw new PermanentError("the server accepts none of the records")
    return this.#isClosed && this.#lines.length === 0 ? body : null
  }

  async #waitWhileBusy(): Promise<Standing | null> {
    this.#needsQuery = true
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    this.#stopWaiting = resolve
    // Only a cancel shortens the wait: pushing more records does not make the session free.
    if (!this.#isCancelled) await Promise.race([delay(BUSY_MS), stopped])
    return this.#isCancelled && !this.#hasBegun ? {} : null
  }

  #acknowledgeLines(n: number): void {
    this.#lines = this.#lines.filter((line) => line.n > n)
    this.#pendingChars = this.#lines.reduce((sum, line) => sum + line.text.length, 0)
    if (this.#pendingChars <= MAX_PENDING_CHARS) this.#releaseWaiters()
  }

  #releaseWaiters(): void {
    for (const release of this.#capacityWaiters.splice(0)) release()
  }
}

/** A permanent error: a retry would not help. */
class PermanentError extends Error {}

/**
 * Sends a request whose body `fill` writes. Resolves as soon as the whole response has been received, even if the body
 * is unfinished.
 */
function postLines({ url, token }: SenderOptions, fill: (request: ClientRequest) => void): Promise<ServerResponse> {
  const start = url.protocol === "https:" ? requestHttps : requestHttp
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" }
  return new Promise((resolve, reject) => {
    // Each request has a new connection, because a reused one may be dead.
    const request = start(url, { method: "POST", headers, agent: false })
    let isAnswered = false
    // The server may have responded before it stopped reading the body.
    request.on("error", (error) => void setTimeout(() => !isAnswered && reject(error), LATE_RESPONSE_MS))
    request.on("response", (response) => {
      isAnswered = true
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        // After its response, the server does not read the rest of the body.
        request.destroy()
        resolve({ status: response.statusCode ?? 0, body: parseBody(Buffer.concat(chunks).toString("utf8")) })
      })
    })
    request.setTimeout(3 * REQUEST_MS, () => request.destroy(new Error("no response")))
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
