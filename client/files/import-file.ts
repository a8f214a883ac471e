/**
 * import-file.ts: a file becomes a new session: made, sent in as many parts as it takes, folded by the server, opened.
 *
 * file → cut → POST /v1/sessions, /v1/sessions/:id/import → GET /v1/sessions/:id/import → IMPORTER → dialog
 * What does not come to an end leaves no session behind. Source: SPEC PG35.
 */

import { type Signal, signal } from "@preact/signals"
import { parseJson } from "../../shared/protocol/frame.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import { type Api, type ImportProgress, RequestError } from "../net/api.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { cutAtLines, isOneList, isPacked, linesBefore } from "./split-file.ts"
import type { Unfinished } from "./unfinished-imports.ts"
import type { Upload } from "./send-file.ts"

/** How far the server is, is asked so often, in milliseconds. */
const ASK_MS = 500
/** How often the same is sent where the line breaks or the server has no time for it: with its pauses ten seconds or so. */
const TRIES = 6

export interface BadLine {
  /** The part that the line is counted in; once all is done it is counted in the file. */
  readonly part?: number
  readonly line: number
  readonly text: string
}

export type Stage =
  | { readonly at: "choose"; readonly error: string | null }
  | { readonly at: "sending"; readonly sent: number; readonly size: number }
  /** `of` 0: the server does not say how much there is. */
  | { readonly at: "folding"; readonly folded: number; readonly of: number }
  | {
      readonly at: "done"
      readonly session: string
      readonly records: number
      readonly skipped: number
      readonly bad: readonly BadLine[]
    }

export interface ImporterDeps {
  readonly api: Api
  readonly upload: Upload
  /** Keeps in mind what has to be erased. */
  readonly unfinished: Unfinished
  nextId(): string
  random(): number
  after(ms: number, call: () => void): () => void
}

/** Told to the reader as it is. */
class Refused extends Error {}

interface Answer {
  readonly records: number
  readonly skipped: number
  readonly bad: readonly BadLine[]
}

export class Importer {
  readonly stage: Signal<Stage> = signal({ at: "choose", error: null })
  readonly name = signal("")
  /** The name of another file that came meanwhile; "" for none. */
  readonly turnedAway = signal("")
  readonly #deps: ImporterDeps
  #abort: AbortController | null = null

  constructor(deps: ImporterDeps) {
    this.#deps = deps
  }

  get isBusy(): boolean {
    return this.#abort !== null
  }

  /** Resolves when it is done, refused or given up; `stage` says which. */
  async start(file: File): Promise<void> {
    if (this.#abort !== null) {
      this.turnedAway.value = file.name
      return
    }
    const abort = new AbortController()
    this.#abort = abort
    this.name.value = file.name
    this.turnedAway.value = ""
    this.stage.value = { at: "sending", sent: 0, size: file.size }
    const session = this.#deps.nextId()
    try {
      const parts = await partsOf(file)
      await this.#deps.unfinished.during(session, async () => {
        const answer = await this.#bring(session, parts, file.size, abort.signal)
        this.stage.value = { at: "done", session, ...answer }
      })
    } catch (error) {
      this.stage.value = { at: "choose", error: abort.signal.aborted ? null : wordsFor(error) }
    } finally {
      this.#abort = null
    }
  }

  /** Gives up: what was begun is erased. */
  cancel(): void {
    this.#abort?.abort()
  }

  /** For the next file. */
  reset(): void {
    this.stage.value = { at: "choose", error: null }
  }

  async #bring(session: string, parts: readonly Blob[], size: number, signal: AbortSignal): Promise<Answer> {
    await this.#insist(() => this.#deps.api.createSession("", session), signal)
    const answer = await this.#sendAll(session, parts, size, signal)
    const bad = await inFile(answer.bad, parts)
    signal.throwIfAborted()
    return { ...answer, bad }
  }

  /** Again and again, where that may help. */
  async #insist<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      try {
        return await call()
      } catch (error) {
        if (signal.aborted || tries === TRIES || !isPassing(error)) throw error
        await this.#pause(retryDelayMs(tries, this.#deps.random()), signal)
      }
    }
  }

  async #sendAll(session: string, parts: readonly Blob[], size: number, signal: AbortSignal): Promise<Answer> {
    let gone = 0
    let isFolded = true
    let answer: Answer = { records: 0, skipped: 0, bad: [] }
    for (const [at, part] of parts.entries()) {
      const query = parts.length === 1 ? "" : `?part=${at + 1}&of=${parts.length}`
      const onSent = (bytes: number): void => this.#noteSent(gone + Math.min(bytes, part.size), size)
      const isLast = at === parts.length - 1
      const sending = this.#insist(() => this.#send(`${pathOf(session)}${query}`, part, onSent, signal), signal)
      const said = isLast ? await this.#watching(session, sending, signal) : await sending
      answer = add(answer, answerIn(said))
      isFolded = isFoldedIn(said)
      gone += part.size
      this.#noteSent(gone, size)
    }
    if (!isFolded) await this.#untilFolded(session, signal)
    return answer
  }

  #noteSent(sent: number, size: number): void {
    if (this.stage.peek().at === "sending") this.stage.value = { at: "sending", sent, size }
  }

  async #send(
    path: string,
    part: Blob,
    onSent: (bytes: number) => void,
    signal: AbortSignal,
    isRetry = false,
  ): Promise<unknown> {
    const { api, upload } = this.#deps
    const { token } = await api.token()
    signal.throwIfAborted()
    const { status, text } = await upload(path, part, token, onSent, signal)
    if (status === 401 && !isRetry) {
      api.forgetToken()
      return this.#send(path, part, onSent, signal, true)
    }
    const said = parseJson(text)
    if (status < 300) return said
    const { code, text: words } = Object(said) as { code?: unknown; text?: unknown }
    // What broke off may still be coming in, as far as the server has seen.
    if (code === "import_running") throw new RequestError(503, String(words))
    throw new RequestError(status, typeof words === "string" ? words : `The server answered ${status}.`)
  }

  /** A server that answers only once all is folded is asked meanwhile how far it is. */
  async #watching(session: string, sending: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
    let isAnswered = false
    const answered = sending.finally(() => {
      isAnswered = true
    })
    answered.catch(() => {})
    while (!isAnswered && !signal.aborted) {
      await Promise.race([answered, this.#pause(ASK_MS, signal)])
      const { sent, size } = sentOf(this.stage.peek())
      // Its answer says what has become of it; this is for the eye.
      if (!isAnswered && sent >= size) await this.#askHowFar(session).catch(() => {})
    }
    return await answered
  }

  async #untilFolded(session: string, signal: AbortSignal): Promise<void> {
    this.stage.value = { at: "folding", folded: 0, of: 0 }
    while (!signal.aborted && (await this.#isFolding(session))) await this.#pause(ASK_MS, signal)
  }

  /** A server that cannot say just now is asked again; one that knows of nothing has lost it. */
  async #isFolding(session: string): Promise<boolean> {
    try {
      const state = await this.#askHowFar(session)
      if (state === "none") throw new Refused("The server has given up this import. Send the file again.")
      if (state === "failed") throw new Refused("This file could not be read to its end. Nothing of it is kept.")
      return state !== "done"
    } catch (error) {
      if (isPassing(error)) return true
      throw error
    }
  }

  async #askHowFar(session: string): Promise<ImportProgress["state"]> {
    const { state, folded, records } = await this.#deps.api.importProgress(session)
    if (state === "folding") this.stage.value = { at: "folding", folded, of: records }
    return state
  }

  /** Giving up ends it. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const end = (): void => {
        cancel()
        signal.removeEventListener("abort", end)
        done()
      }
      const cancel = this.#deps.after(ms, end)
      signal.addEventListener("abort", end)
      if (signal.aborted) end()
    })
  }
}

function sentOf(stage: Stage): { readonly sent: number; readonly size: number } {
  return stage.at === "sending" ? stage : { sent: 0, size: 0 }
}

function pathOf(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}/import`
}

async function partsOf(file: File): Promise<readonly Blob[]> {
  if (file.size === 0) throw new Refused("The file is empty.")
  if (file.size <= MAX_IMPORT_BYTES) return [file]
  if (await isPacked(file))
    throw new Refused("A packed file may have 64 MB at most. Unpack it, and import what is in it.")
  if (await isOneList(file))
    throw new Refused("A list of more than 64 MB cannot be sent in parts. Write a message a line.")
  const parts = await cutAtLines(file)
  if (parts === null) throw new Refused("A line of this file is too long to be sent.")
  if (parts.length > MAX_IMPORT_PARTS)
    throw new Refused("A file may have 4 GB at most. Split it, and import one after the other.")
  return parts
}

/** A line is counted in its part; the reader counts in the file. */
async function inFile(bad: readonly BadLine[], parts: readonly Blob[]): Promise<readonly BadLine[]> {
  const last = Math.max(1, ...bad.map(({ part }) => part ?? 1))
  const before = await linesBefore(parts.slice(0, last))
  return bad.map(({ part = 1, ...one }) => ({ ...one, line: (before[part - 1] ?? 0) + one.line }))
}

/** The server is ours: its answer is taken as it is; one to a part that is not the last may say less. */
function answerIn(said: unknown): Answer {
  const { records, skipped, bad } = Object(said) as Partial<Answer>
  return { records: records ?? 0, skipped: skipped ?? 0, bad: Array.isArray(bad) ? bad : [] }
}

/** A server that does not say has answered when it was done. */
function isFoldedIn(said: unknown): boolean {
  const { state } = Object(said) as { state?: unknown }
  return state === undefined || state === "done"
}

/** The answer to a part may be about all of them so far. */
function add(before: Answer, { records, skipped, bad }: Answer): Answer {
  return {
    records: Math.max(before.records, records),
    skipped: Math.max(before.skipped, skipped),
    bad: bad.length >= before.bad.length ? bad : before.bad,
  }
}

/** Another try may do better: the line broke, or the server has no time. */
function isPassing(error: unknown): boolean {
  if (error instanceof Refused) return false
  return !(error instanceof RequestError) || error.status === 429 || error.status === 408 || error.status >= 500
}

function wordsFor(error: unknown): string {
  return error instanceof RequestError || error instanceof Refused ? error.message : "The server could not be reached."
}
