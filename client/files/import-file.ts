/**
 * import-file.ts: a file becomes a new session: made, sent in as many parts as it takes, folded by the server, opened.
 *
 * file → cut → POST /v1/sessions, /v1/sessions/:id/import → GET /v1/sessions/:id/import → IMPORTER → dialog
 * What does not come to an end leaves no session behind. Source: SPEC PG35.
 */

import { type Signal, signal } from "@preact/signals"
import { parseJson } from "../../shared/json.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import { type Api, type ImportProgress, RequestError } from "../net/api.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { splitAtLines, isJsonArray, isGzip, countLinesBefore } from "./split-file.ts"
import type { UnfinishedImports } from "./unfinished-imports.ts"
import type { SendFile } from "./send-file.ts"

/** How far the server is, is asked so often, in milliseconds. */
const PROGRESS_POLL_MS = 500
/** How often the same is sent where the line breaks or the server has no time for it: with its pauses ten seconds or so. */
const MAX_ATTEMPTS = 6

export interface BadLine {
  /** The part that the line is counted in; once all is done it is counted in the file. */
  readonly part?: number
  readonly line: number
  readonly text: string
}

export type ImportStage =
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
  readonly sendFile: SendFile
  /** Keeps in mind what has to be erased. */
  readonly unfinishedImports: UnfinishedImports
  createId(): string
  random(): number
  setTimer(ms: number, callback: () => void): () => void
}

/** Told to the reader as it is. */
class ImportRefusedError extends Error {}

interface ImportAnswer {
  readonly records: number
  readonly skipped: number
  readonly bad: readonly BadLine[]
}

export class Importer {
  readonly stage: Signal<ImportStage> = signal({ at: "choose", error: null })
  readonly fileName = signal("")
  /** The name of another file that came meanwhile; "" for none. */
  readonly rejectedFileName = signal("")
  readonly #deps: ImporterDeps
  #abort: AbortController | null = null

  constructor(deps: ImporterDeps) {
    this.#deps = deps
  }

  get isBusy(): boolean {
    return this.#abort !== null
  }

  /** Resolves when it is done, refused or given up; `stage` says which. */
  async startImport(file: File): Promise<void> {
    if (this.#abort !== null) {
      this.rejectedFileName.value = file.name
      return
    }
    const abort = new AbortController()
    this.#abort = abort
    this.fileName.value = file.name
    this.rejectedFileName.value = ""
    this.stage.value = { at: "sending", sent: 0, size: file.size }
    const sessionId = this.#deps.createId()
    try {
      const parts = await splitFile(file)
      await this.#deps.unfinishedImports.trackImport(sessionId, async () => {
        const answer = await this.#createAndSend(sessionId, parts, file.size, abort.signal)
        this.stage.value = { at: "done", session: sessionId, ...answer }
      })
    } catch (error) {
      this.stage.value = { at: "choose", error: abort.signal.aborted ? null : describeError(error) }
    } finally {
      this.#abort = null
    }
  }

  /** Gives up: what was begun is erased. */
  cancelImport(): void {
    this.#abort?.abort()
  }

  /** For the next file. */
  resetStage(): void {
    this.stage.value = { at: "choose", error: null }
  }

  async #createAndSend(
    session: string,
    parts: readonly Blob[],
    size: number,
    signal: AbortSignal,
  ): Promise<ImportAnswer> {
    await this.#retryTransient(() => this.#deps.api.createSession("", session), signal)
    const answer = await this.#sendParts(session, parts, size, signal)
    const bad = await toFileLineNumbers(answer.bad, parts)
    signal.throwIfAborted()
    return { ...answer, bad }
  }

  /** Again and again, where that may help. */
  async #retryTransient<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await operation()
      } catch (error) {
        if (signal.aborted || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error
        await this.#pause(retryDelayMs(attempt, this.#deps.random()), signal)
      }
    }
  }

  async #sendParts(session: string, parts: readonly Blob[], size: number, signal: AbortSignal): Promise<ImportAnswer> {
    let sentBytes = 0
    let isFolded = true
    let answer: ImportAnswer = { records: 0, skipped: 0, bad: [] }
    for (const [at, part] of parts.entries()) {
      const query = parts.length === 1 ? "" : `?part=${at + 1}&of=${parts.length}`
      const onSent = (bytes: number): void => this.#reportSent(sentBytes + Math.min(bytes, part.size), size)
      const isLast = at === parts.length - 1
      const sending = this.#retryTransient(
        () => this.#sendPart(`${importPath(session)}${query}`, part, onSent, signal),
        signal,
      )
      const response = isLast ? await this.#awaitWithProgress(session, sending, signal) : await sending
      answer = mergeAnswers(answer, parseAnswer(response))
      isFolded = isFoldingDone(response)
      sentBytes += part.size
      this.#reportSent(sentBytes, size)
    }
    if (!isFolded) await this.#waitUntilFolded(session, signal)
    return answer
  }

  #reportSent(sent: number, size: number): void {
    if (this.stage.peek().at === "sending") this.stage.value = { at: "sending", sent, size }
  }

  async #sendPart(
    path: string,
    part: Blob,
    onSent: (bytes: number) => void,
    signal: AbortSignal,
    isRetry = false,
  ): Promise<unknown> {
    const { api, sendFile: upload } = this.#deps
    const { token } = await api.getToken()
    signal.throwIfAborted()
    const { status, text } = await upload(path, part, token, onSent, signal)
    if (status === 401 && !isRetry) {
      api.forgetToken()
      return this.#sendPart(path, part, onSent, signal, true)
    }
    const response = parseJson(text)
    if (status < 300) return response
    const { code, text: message } = Object(response) as { code?: unknown; text?: unknown }
    // What broke off may still be coming in, as far as the server has seen.
    if (code === "import_running") throw new RequestError(503, String(message))
    throw new RequestError(status, typeof message === "string" ? message : `The server answered ${status}.`)
  }

  /** A server that answers only once all is folded is asked meanwhile how far it is. */
  async #awaitWithProgress(session: string, sending: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
    let isAnswered = false
    const answered = sending.finally(() => {
      isAnswered = true
    })
    answered.catch(() => {})
    while (!isAnswered && !signal.aborted) {
      await Promise.race([answered, this.#pause(PROGRESS_POLL_MS, signal)])
      const { sent, size } = getSendProgress(this.stage.peek())
      // Its answer says what has become of it; this is for the eye.
      if (!isAnswered && sent >= size) await this.#pollProgress(session).catch(() => {})
    }
    return await answered
  }

  async #waitUntilFolded(session: string, signal: AbortSignal): Promise<void> {
    this.stage.value = { at: "folding", folded: 0, of: 0 }
    while (!signal.aborted && (await this.#isFolding(session))) await this.#pause(PROGRESS_POLL_MS, signal)
  }

  /** A server that cannot say just now is asked again; one that knows of nothing has lost it. */
  async #isFolding(session: string): Promise<boolean> {
    try {
      const state = await this.#pollProgress(session)
      if (state === "none") throw new ImportRefusedError("The server has given up this import. Send the file again.")
      if (state === "failed")
        throw new ImportRefusedError("This file could not be read to its end. Nothing of it is kept.")
      return state !== "done"
    } catch (error) {
      if (isTransient(error)) return true
      throw error
    }
  }

  async #pollProgress(session: string): Promise<ImportProgress["state"]> {
    const { state, folded, records } = await this.#deps.api.getImportProgress(session)
    if (state === "folding") this.stage.value = { at: "folding", folded, of: records }
    return state
  }

  /** Giving up ends it. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        signal.removeEventListener("abort", finish)
        resolve()
      }
      const cancel = this.#deps.setTimer(ms, finish)
      signal.addEventListener("abort", finish)
      if (signal.aborted) finish()
    })
  }
}

function getSendProgress(stage: ImportStage): { readonly sent: number; readonly size: number } {
  return stage.at === "sending" ? stage : { sent: 0, size: 0 }
}

function importPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}/import`
}

async function splitFile(file: File): Promise<readonly Blob[]> {
  if (file.size === 0) throw new ImportRefusedError("The file is empty.")
  if (file.size <= MAX_IMPORT_BYTES) return [file]
  if (await isGzip(file))
    throw new ImportRefusedError("A packed file may have 64 MB at most. Unpack it, and import what is in it.")
  if (await isJsonArray(file))
    throw new ImportRefusedError("A list of more than 64 MB cannot be sent in parts. Write a message a line.")
  const parts = await splitAtLines(file)
  if (parts === null) throw new ImportRefusedError("A line of this file is too long to be sent.")
  if (parts.length > MAX_IMPORT_PARTS)
    throw new ImportRefusedError("A file may have 4 GB at most. Split it, and import one after the other.")
  return parts
}

/** A line is counted in its part; the reader counts in the file. */
async function toFileLineNumbers(bad: readonly BadLine[], parts: readonly Blob[]): Promise<readonly BadLine[]> {
  const last = Math.max(1, ...bad.map(({ part }) => part ?? 1))
  const before = await countLinesBefore(parts.slice(0, last))
  return bad.map(({ part = 1, ...one }) => ({ ...one, line: (before[part - 1] ?? 0) + one.line }))
}

/** The server is ours: its answer is taken as it is; one to a part that is not the last may say less. */
function parseAnswer(response: unknown): ImportAnswer {
  const { records, skipped, bad } = Object(response) as Partial<ImportAnswer>
  return { records: records ?? 0, skipped: skipped ?? 0, bad: Array.isArray(bad) ? bad : [] }
}

/** A server that does not say has answered when it was done. */
function isFoldingDone(response: unknown): boolean {
  const { state } = Object(response) as { state?: unknown }
  return state === undefined || state === "done"
}

/** The answer to a part may be about all of them so far. */
function mergeAnswers(before: ImportAnswer, { records, skipped, bad }: ImportAnswer): ImportAnswer {
  return {
    records: Math.max(before.records, records),
    skipped: Math.max(before.skipped, skipped),
    bad: bad.length >= before.bad.length ? bad : before.bad,
  }
}

/** Another try may do better: the line broke, or the server has no time. */
function isTransient(error: unknown): boolean {
  if (error instanceof ImportRefusedError) return false
  return !(error instanceof RequestError) || error.status === 429 || error.status === 408 || error.status >= 500
}

function describeError(error: unknown): string {
  return error instanceof RequestError || error instanceof ImportRefusedError
    ? error.message
    : "The server could not be reached."
}
