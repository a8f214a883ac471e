/**
 * importer.ts: a file becomes a new session: made, sent in as many parts as it takes, folded by the server, opened.
 *
 * file → cut → POST /v1/sessions, /v1/sessions/:id/import → GET /v1/sessions/:id/import → IMPORTER → dialog
 * What does not come to an end leaves no session behind. Source: SPEC PG35.
 */

import { type Signal, signal } from "@preact/signals"
import { parseJson } from "../../shared/frame.ts"
import { MAX_IMPORT_BYTES } from "../../shared/limits.ts"
import { type Api, RequestError } from "../api.ts"
import { cutAtLines, isOneList, isPacked } from "./cut.ts"
import type { Upload } from "./upload.ts"

/** How far the server is, is asked so often, in milliseconds. */
const ASK_MS = 500

export interface BadLine {
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
  nextId(): string
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
    if (this.#abort !== null) return
    const abort = new AbortController()
    this.#abort = abort
    this.name.value = file.name
    this.stage.value = { at: "sending", sent: 0, size: file.size }
    const session = this.#deps.nextId()
    try {
      const parts = await partsOf(file)
      await this.#deps.api.createSession("", session)
      const answer = await this.#sendAll(session, parts, file.size, abort.signal)
      if (abort.signal.aborted) throw new TypeError("given up")
      this.stage.value = { at: "done", session, ...answer }
    } catch (error) {
      void this.#deps.api.erase(session).catch(() => {})
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

  async #sendAll(session: string, parts: readonly Blob[], size: number, signal: AbortSignal): Promise<Answer> {
    let gone = 0
    let isFolded = true
    let answer: Answer = { records: 0, skipped: 0, bad: [] }
    for (const [at, part] of parts.entries()) {
      const query = parts.length === 1 ? "" : `?part=${at + 1}&of=${parts.length}`
      const onSent = (bytes: number): void => this.#noteSent(gone + Math.min(bytes, part.size), size)
      const isLast = at === parts.length - 1
      const sending = this.#send(`${pathOf(session)}${query}`, part, onSent, signal)
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
    const words: unknown = Object(said).text
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
      await Promise.race([answered, this.#pause()])
      const { sent, size } = sentOf(this.stage.peek())
      if (!isAnswered && sent >= size) await this.#askHowFar(session)
    }
    return await answered
  }

  async #untilFolded(session: string, signal: AbortSignal): Promise<void> {
    this.stage.value = { at: "folding", folded: 0, of: 0 }
    while (!signal.aborted && (await this.#askHowFar(session))) await this.#pause()
  }

  /** True while there is something left to do. A server that cannot say so has answered when it was done. */
  async #askHowFar(session: string): Promise<boolean> {
    const progress = await this.#deps.api.importProgress(session).catch((error: unknown) => {
      // Away for a moment is not done.
      return error instanceof RequestError ? null : undefined
    })
    if (progress === undefined) return true
    if (progress === null || progress.state === "none" || progress.state === "done") return false
    if (progress.state === "failed") throw new Refused("This file could not be read to its end. Nothing of it is kept.")
    if (progress.state === "folding") {
      this.stage.value = { at: "folding", folded: progress.folded, of: progress.records }
    }
    return true
  }

  #pause(): Promise<void> {
    return new Promise((done) => void this.#deps.after(ASK_MS, done))
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
  return parts
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

function wordsFor(error: unknown): string {
  return error instanceof RequestError || error instanceof Refused ? error.message : "The server could not be reached."
}
