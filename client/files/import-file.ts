/**
 * import-file.ts: imports a file into a new session: creates the session, uploads the file in parts, and waits until
 * the server has imported it.
 *
 * file → split → POST /v1/sessions, /v1/sessions/:id/import → GET /v1/sessions/:id/import → IMPORTER → dialog
 * If the import isn't completed, the session is erased. Source: SPEC PG35.
 */

import { type Signal, signal } from "@preact/signals"
import { parseJson } from "../../shared/json.ts"
import { type ImportResponse, parseImportResponse, type SkippedLine } from "../../shared/protocol/import-response.ts"
import { parseRefusal } from "../../shared/protocol/responses.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"
import { describeError, RequestError, toRequestError } from "../net/http-request.ts"
import { importText } from "../words/import-text.ts"
import { errorText } from "../words/page-text.ts"
import { retryDelayMs } from "../net/retry-delay.ts"
import type { SendFile } from "./send-file.ts"
import { splitConversations, type SplitExport } from "./split-conversations.ts"
import { splitAtLines, isJsonArray, isGzip, isZip, countLinesBefore } from "./split-file.ts"
import type { UnfinishedImports } from "./unfinished-imports.ts"
import { uploadWithToken } from "./upload-with-token.ts"

/** Interval between requests for the server's progress, in milliseconds. */
const PROGRESS_POLL_MS = 500
/**
 * Maximum number of attempts per request if the connection breaks or the server is busy. The delays between attempts
 * add up to about ten seconds.
 */
const MAX_ATTEMPTS = 6

export type ImportStage =
  | { readonly at: "choose"; readonly error: string | null }
  | { readonly at: "sending"; readonly sent: number; readonly size: number }
  /** `of`: the total; 0 if it is unknown. */
  | { readonly at: "folding"; readonly folded: number; readonly of: number }
  /** Several conversations are being imported, one after the other. */
  | { readonly at: "several"; readonly done: number; readonly of: number }
  | {
      readonly at: "done"
      readonly session: string
      readonly records: number
      readonly skipped: number
      readonly skippedLines: readonly SkippedLine[]
      /** The number of imported messages; null if the server does not report it. */
      readonly messages: number | null
      /** The amount of content that could not be imported unchanged, by kind. */
      readonly kinds: Readonly<Record<string, number>>
      /** For a data export with several conversations, how many were imported, empty and left out; otherwise null. */
      readonly export: ExportCounts | null
    }

export interface ExportCounts {
  readonly imported: number
  /** The number of conversations without messages. */
  readonly empty: number
  readonly leftOut: number
}

export interface ImporterDeps {
  readonly api: Api
  readonly sendFile: SendFile
  /** Erases sessions of imports that were not completed. */
  readonly unfinishedImports: Pick<UnfinishedImports, "trackSession">
  createId(): string
  random(): number
  setTimer(ms: number, callback: () => void): () => void
}

/** Thrown if the file can't be imported. The message is shown to the user. */
class ImportRefusedError extends Error {}

type UploadCounts = Pick<ImportResponse, "records" | "skipped" | "bad" | "messages" | "kinds">

const NO_COUNTS: UploadCounts = { records: 0, skipped: 0, bad: [] }

export class Importer {
  readonly stage: Signal<ImportStage> = signal({ at: "choose", error: null })
  readonly fileName = signal("")
  /** The name of another file that was chosen during this import; "" if there was none. */
  readonly rejectedFileName = signal("")
  readonly #deps: ImporterDeps
  #abort: AbortController | null = null

  constructor(deps: ImporterDeps) {
    this.#deps = deps
  }

  get isBusy(): boolean {
    return this.#abort !== null
  }

  /**
   * Imports a file. Resolves when the import is done, refused or cancelled, with the result in `stage`. If another
   * import is running, only sets `rejectedFileName`.
   */
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
    try {
      const split = await splitConversations(file)
      if (split !== null) await this.#importExport(split, abort.signal)
      else this.stage.value = await this.#importOne(await splitFile(file), file.size, abort.signal)
    } catch (error) {
      this.stage.value = { at: "choose", error: abort.signal.aborted ? null : describeImportError(error) }
    } finally {
      this.#abort = null
    }
  }

  /** Cancels the import and erases the session of the conversation that is being imported. */
  cancelImport(): void {
    this.#abort?.abort()
  }

  /** Returns whether there is anything to report other than success. */
  hasSummary(): boolean {
    const stage = this.stage.peek()
    return stage.at === "done" && (stage.skipped > 0 || stage.export !== null || Object.keys(stage.kinds).length > 0)
  }

  /** Returns to the first stage, in which the user chooses a file. */
  resetStage(): void {
    this.stage.value = { at: "choose", error: null }
  }

  /** Imports one conversation into a new session. */
  async #importOne(parts: readonly Blob[], size: number, abortSignal: AbortSignal): Promise<DoneStage> {
    const session = this.#deps.createId()
    let counts = NO_COUNTS
    await this.#deps.unfinishedImports.trackSession(session, async () => {
      counts = await this.#createAndSend(session, parts, size, abortSignal)
    })
    const { records, skipped, bad, messages = null, kinds = {} } = counts
    return { at: "done", session, records, skipped, skippedLines: bad, messages, kinds, export: null }
  }

  /**
   * Imports each conversation of a data export into a session of its own. Conversations without messages are skipped.
   * Sessions imported before a cancellation or a failure are kept.
   */
  async #importExport({ conversations, leftOut }: SplitExport, abortSignal: AbortSignal): Promise<void> {
    const done: DoneStage[] = []
    for (const [index, conversation] of conversations.entries()) {
      this.stage.value = { at: "several", done: index, of: conversations.length }
      try {
        done.push(await this.#importOne([conversation], conversation.size, abortSignal))
      } catch (error) {
        if (!isEmptyFile(error)) throw error
      }
    }
    const [first] = done
    if (first === undefined) throw new ImportRefusedError(importText.emptyExport)
    const counts = { imported: done.length, empty: conversations.length - done.length, leftOut }
    this.stage.value = { ...sumStages(done), session: first.session, export: counts }
  }

  async #createAndSend(
    session: string,
    parts: readonly Blob[],
    size: number,
    abortSignal: AbortSignal,
  ): Promise<UploadCounts> {
    await this.#retryTransient(() => this.#deps.api.createSession("", session), abortSignal)
    const counts = await this.#sendParts(session, parts, size, abortSignal)
    const skippedLines = await toFileLineNumbers(counts.bad, parts)
    abortSignal.throwIfAborted()
    return { ...counts, bad: skippedLines }
  }

  /** Runs an operation, and retries it after temporary failures, with at most MAX_ATTEMPTS attempts in total. */
  async #retryTransient<T>(operation: () => Promise<T>, abortSignal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      abortSignal.throwIfAborted()
      try {
        return await operation()
      } catch (error) {
        if (abortSignal.aborted || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error
        await this.#sleep(retryDelayMs(attempt, this.#deps.random()), abortSignal)
      }
    }
  }

  async #sendParts(
    session: string,
    parts: readonly Blob[],
    size: number,
    abortSignal: AbortSignal,
  ): Promise<UploadCounts> {
    let sentBytes = 0
    let isFolded = true
    let counts = NO_COUNTS
    for (const [index, part] of parts.entries()) {
      const query = parts.length === 1 ? "" : `?part=${index + 1}&of=${parts.length}`
      const onSent = (bytes: number): void => this.#reportSent(sentBytes + Math.min(bytes, part.size), size)
      const isLast = index === parts.length - 1
      const sending = this.#retryTransient(
        () => this.#sendPart(`${importPath(session)}${query}`, part, onSent, abortSignal),
        abortSignal,
      )
      const response = isLast ? await this.#awaitWithProgress(session, sending, abortSignal) : await sending
      counts = mergeCounts(counts, response)
      isFolded = response.state === undefined || response.state === "done"
      sentBytes += part.size
      this.#reportSent(sentBytes, size)
    }
    return isFolded ? counts : { ...counts, ...(await this.#waitUntilFolded(session, abortSignal)) }
  }

  #reportSent(sent: number, size: number): void {
    if (this.stage.peek().at === "sending") this.stage.value = { at: "sending", sent, size }
  }

  async #sendPart(
    path: string,
    part: Blob,
    onSent: (bytes: number) => void,
    abortSignal: AbortSignal,
  ): Promise<ImportResponse> {
    const { status, text } = await uploadWithToken(this.#deps, path, part, onSent, abortSignal)
    const body = parseJson(text)
    if (status < 300) return parseImportResponse(body ?? {}) ?? throwUnreadable()
    const error = toRequestError(status, body)
    // An earlier attempt was cut off, and the server may still be processing that attempt. A 503 makes the caller
    // retry.
    throw parseRefusal(body).code === "import_running" ? new RequestError(503, error.message) : error
  }

  /**
   * Waits for the response to an upload. The server may not respond until the import is finished, so progress is polled
   * and shown in the meantime.
   */
  async #awaitWithProgress(
    session: string,
    sending: Promise<ImportResponse>,
    abortSignal: AbortSignal,
  ): Promise<ImportResponse> {
    let isAnswered = false
    const answered = sending.finally(() => {
      isAnswered = true
    })
    answered.catch(() => {})
    while (!isAnswered && !abortSignal.aborted) {
      await Promise.race([answered, this.#sleep(PROGRESS_POLL_MS, abortSignal)])
      const { sent, size } = getSendProgress(this.stage.peek())
      // The progress is only for display: the response decides the outcome.
      if (!isAnswered && sent >= size) await this.#pollProgress(session).catch(() => {})
    }
    return await answered
  }

  async #waitUntilFolded(session: string, abortSignal: AbortSignal): Promise<FoldedCounts> {
    this.#showFolding(0, 0)
    for (;;) {
      const counts = abortSignal.aborted ? {} : await this.#pollFolding(session)
      if (counts !== null) return counts
      await this.#sleep(PROGRESS_POLL_MS, abortSignal)
    }
  }

  #showFolding(folded: number, of: number): void {
    if (this.stage.peek().at !== "several") this.stage.value = { at: "folding", folded, of }
  }

  /**
   * Requests the import's progress. Returns null while the server is folding and after a temporary failure, so that the
   * caller tries again. Throws if the server has no such import, or if the import failed.
   */
  async #pollFolding(session: string): Promise<FoldedCounts | null> {
    try {
      const { state, messages, kinds } = await this.#pollProgress(session)
      if (state === "none") throw new ImportRefusedError(importText.interrupted)
      if (state === "failed") throw new ImportRefusedError(importText.unreadable)
      if (state !== "done") return null
      return { ...(messages === undefined ? {} : { messages }), ...(kinds === undefined ? {} : { kinds }) }
    } catch (error) {
      if (isTransient(error)) return null
      throw error
    }
  }

  async #pollProgress(session: string): ReturnType<Api["getImportProgress"]> {
    const progress = await this.#deps.api.getImportProgress(session)
    if (progress.state === "folding") this.#showFolding(progress.folded, progress.records)
    return progress
  }

  /** Waits for `ms` milliseconds. Cancelling the import ends the wait early. */
  #sleep(ms: number, abortSignal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const endSleep = (): void => {
        cancel()
        abortSignal.removeEventListener("abort", endSleep)
        resolve()
      }
      const cancel = this.#deps.setTimer(ms, endSleep)
      abortSignal.addEventListener("abort", endSleep)
      if (abortSignal.aborted) endSleep()
    })
  }
}

type DoneStage = Extract<ImportStage, { at: "done" }>
type FoldedCounts = Pick<ImportResponse, "messages" | "kinds">

/**
 * Adds the counts of several imports. Line numbers are left out, because line numbers of split files mean nothing to
 * the user.
 */
function sumStages(stages: readonly DoneStage[]): Omit<DoneStage, "session" | "export"> {
  const sumStages = (key: "records" | "skipped"): number => stages.reduce((total, stage) => total + stage[key], 0)
  const messages = stages.reduce((total, stage) => total + (stage.messages ?? 0), 0)
  const kinds: Record<string, number> = {}
  for (const [kind, count] of stages.flatMap((stage) => Object.entries(stage.kinds))) {
    kinds[kind] = (kinds[kind] ?? 0) + count
  }
  return { at: "done", records: sumStages("records"), skipped: sumStages("skipped"), skippedLines: [], messages, kinds }
}

/** Returns whether the server refused a file because the file contains no messages. */
function isEmptyFile(error: unknown): boolean {
  return error instanceof RequestError && error.status === 422
}

function getSendProgress(stage: ImportStage): { readonly sent: number; readonly size: number } {
  return stage.at === "sending" ? stage : { sent: 0, size: 0 }
}

function importPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}/import`
}

async function splitFile(file: File): Promise<readonly Blob[]> {
  if (await isZip(file)) throw new ImportRefusedError(importText.zip)
  if (file.size === 0) throw new ImportRefusedError(importText.emptyFile)
  if (file.size <= MAX_IMPORT_BYTES) return [file]
  if (await isGzip(file)) throw new ImportRefusedError(importText.gzipTooLarge)
  if (await isJsonArray(file)) throw new ImportRefusedError(importText.arrayTooLarge)
  const parts = await splitAtLines(file)
  if (parts === null) throw new ImportRefusedError(importText.lineTooLong)
  if (parts.length > MAX_IMPORT_PARTS) throw new ImportRefusedError(importText.tooLarge)
  return parts
}

/** Converts the server's line numbers, which are counted within each part, to line numbers in the file. */
async function toFileLineNumbers(
  lines: readonly SkippedLine[],
  parts: readonly Blob[],
): Promise<readonly SkippedLine[]> {
  const last = Math.max(1, ...lines.map(({ part }) => part ?? 1))
  const before = await countLinesBefore(parts.slice(0, last))
  return lines.map(({ part = 1, line, ...reason }) => ({ ...reason, line: (before[part - 1] ?? 0) + line }))
}

function throwUnreadable(): never {
  throw new RequestError(502, errorText.badResponse)
}

/** Combines the counts of two responses. A response may cover all parts so far, so the larger counts are used. */
function mergeCounts(before: UploadCounts, after: UploadCounts): UploadCounts {
  const { records, skipped, bad } = after
  const { messages = before.messages, kinds = before.kinds } = after
  return {
    ...(messages === undefined ? {} : { messages }),
    ...(kinds === undefined ? {} : { kinds }),
    records: Math.max(before.records, records),
    skipped: Math.max(before.skipped, skipped),
    bad: bad.length >= before.bad.length ? bad : before.bad,
  }
}

/** Returns whether a retry may help, because the connection broke or the server was busy. */
function isTransient(error: unknown): boolean {
  if (error instanceof ImportRefusedError) return false
  return !(error instanceof RequestError) || error.status === 429 || error.status === 408 || error.status >= 500
}

function describeImportError(error: unknown): string {
  return error instanceof ImportRefusedError ? error.message : describeError(error)
}
