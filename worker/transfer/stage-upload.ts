/**
 * stage-upload.ts: parses an uploaded file, or a part of one, into staged rows.
 *
 * bytes → lines → records → staged rows
 * A file is staged completely before it is folded, so an unusable file changes nothing.
 */

import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import type { BadLine } from "../../shared/protocol/http-body.ts"
import { cutTextWithNote } from "../../shared/text/cut-text.ts"
import { addTotals, type KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import { isJsonObject } from "../../shared/json.ts"
import { parseJsonToDepth } from "../../shared/json-depth.ts"
import { type ChatEvent, chatEventToRecords, isChatEvent } from "../../shared/ingest/chat-event.ts"
import { createHistoryReader, listConversations } from "../../shared/ingest/history/history-reader.ts"
import { formatTime } from "../platform/iso-time.ts"
import { MAX_BAD_LINES, MAX_IMPORT_LINE_BYTES, MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { CUT_NOTE_BYTES } from "../turn/accept-message.ts"
import { checkRecordCount, readUploadLines, UnreadableUploadError, type UploadTimes } from "./upload-lines.ts"
import { createYielder } from "./yielder.ts"
import type { Line } from "../../shared/ingest/line-splitter.ts"
import { createRecordDigest, recordToSealedLine } from "./export-seal.ts"
import type { PartTally } from "./import-state.ts"
import { BATCH_CHARS, BATCH_ROWS, type NewStagedRow, type StagedRows, UNKNOWN_TIME_MS } from "./staged-rows.ts"

export interface PartUpload {
  readonly part: number
  readonly of: number
  readonly body: ReadableStream<Uint8Array>
  readonly times: UploadTimes
  /** Called with the number of records received so far. */
  readonly onRecords: (records: number) => void
}

/**
 * Stages one part (SPEC RE6, RE9–RE11, RE20, RE28–RE41).
 *
 * Errors: those of `readUploadLines`; some rows may already be stored. Cost: linear time, and memory for one chunk, the
 * longest line and one batch.
 */
export async function stagePart(
  staging: StagedRows,
  atomically: (write: () => void) => void,
  upload: PartUpload,
): Promise<Result<PartTally>> {
  const { part, of } = upload
  const partTally = createPartTally(of > 1 ? part : null)
  const recordReader = createRecordReader(part)
  const rows = createRowBatcher(staging, atomically, part)
  const digest = createRecordDigest()
  try {
    for await (const batch of readRecordBatches(recordReader, upload.body, upload.times)) {
      for (const { n, result: one } of batch) {
        if (one.ok) rows.addRecord(one.value)
        else partTally.skipLine(n, one.fault)
      }
      rows.flush()
      digest.add(listUsableLines(batch))
      upload.onRecords(rows.countRecords())
    }
  } catch (error) {
    if (error instanceof UnreadableUploadError) return fail(error.fault)
    throw error
  }
  const [records, isPlaced] = [rows.countRecords(), rows.isPlaced()]
  const source = await digest.finishAsSourceId()
  const kinds = addTotals([recordReader.countKinds(), rows.countShortened()])
  const title = recordReader.readTitle()
  return succeed({ ...partTally.summarize(), records, kinds, title, isPlaced, source: rows.isEmpty() ? "" : source })
}

/** Counts the skipped lines and collects the first MAX_BAD_LINES. `part` is null for a whole file. */
function createPartTally(part: number | null) {
  const bad: BadLine[] = []
  let skipped = 0
  return {
    skipLine(line: number, fault: Fault): void {
      skipped += 1
      if (bad.length >= MAX_BAD_LINES) return
      const { code, text } = faultToWire(fault)
      bad.push({ ...(part === null ? {} : { part }), line, code, text })
    },
    summarize: () => ({ bad, skipped }),
  }
}

/** Writes rows in batches. */
function createRowBatcher(staging: StagedRows, atomically: (write: () => void) => void, part: number) {
  let [rows, records, chars] = [0, 0, 0]
  let timeMs = part === 1 ? 0 : UNKNOWN_TIME_MS
  let isPlaced = false
  let shortened = 0
  let batch: NewStagedRow[] = []
  const flush = (): void => {
    const full = batch
    batch = []
    chars = 0
    if (full.length === 0) return
    atomically(() => staging.addRows(part, full))
  }
  return {
    flush,
    countRecords: () => records,
    isPlaced: () => isPlaced,
    isEmpty: () => rows === 0,
    countShortened: (): KindTotals => (shortened === 0 ? {} : { long_question: shortened }),
    addRecord({ record, line, isShortened }: ParsedRecord): void {
      rows += 1
      if (isShortened) shortened += 1
      if (record.type !== "signature") records += 1
      isPlaced ||= "pos" in record
      timeMs = parseTimeMs(record) ?? timeMs
      batch.push({ i: rows, at: timeMs, line, home: findAssetHome(record) })
      chars += line.length
      if (batch.length >= BATCH_ROWS || chars >= BATCH_CHARS) flush()
    },
  }
}

/** Returns the session that stores the asset of a record. The staged line itself contains no session id. */
function findAssetHome(record: StreamRecord): string | null {
  return record.type === "asset" ? (record.sessionId ?? "") : null
}

interface ParsedRecord {
  readonly record: StreamRecord
  /** The record as it is staged. */
  readonly line: string
  /** Whether the record is a question that was shortened because it was too long (SPEC IH17). */
  readonly isShortened: boolean
}

interface NumberedRecord {
  /** The number of the record's line, or of its message in a JSON array. */
  readonly n: number
  readonly result: Result<ParsedRecord>
}

/** Number of records read before the process handles other requests. Reading this many takes a few milliseconds. */
export const YIELD_EVERY_RECORDS = 256

/**
 * Reads the records of an upload, a few at a time. Other requests run in between (SPEC RE41).
 *
 * Errors: those of `readUploadLines`. An upload with too many records is refused like one with too many lines.
 */
async function* readRecordBatches(
  reader: RecordReader,
  body: ReadableStream<Uint8Array>,
  times: UploadTimes,
): AsyncGenerator<readonly NumberedRecord[]> {
  const yieldToOthers = createYielder(1)
  let records = 0
  async function* readBatches(read: Iterable<NumberedRecord>): AsyncGenerator<readonly NumberedRecord[]> {
    let batch: NumberedRecord[] = []
    for (const record of read) {
      records += 1
      checkRecordCount(records)
      batch.push(record)
      if (batch.length < YIELD_EVERY_RECORDS) continue
      yield batch
      batch = []
      await yieldToOthers()
    }
    yield batch
    await yieldToOthers()
  }
  function* readLines(lines: readonly Line[]): Generator<NumberedRecord> {
    for (const line of lines) yield* reader.readLine(line)
  }
  for await (const lines of readUploadLines(body, times)) yield* readBatches(readLines(lines))
  yield* readBatches(reader.end())
}

/** If reading a value throws, reports the value as bad, so that the remainder of the file is not lost (SPEC RE10). */
export function* catchBadRecord(n: number, records: Iterable<NumberedRecord>): Generator<NumberedRecord> {
  try {
    yield* records
  } catch (error) {
    if (error instanceof UnreadableUploadError) throw error
    yield { n, result: fail({ reason: "internal" }) }
  }
}

function listUsableLines(batch: readonly NumberedRecord[]): string[] {
  return batch.flatMap(({ result }) => (result.ok ? [result.value.line] : []))
}

/** Maximum size of a file that is a single JSON document, in UTF-16 code units. Such a file is buffered. */
const MAX_DOCUMENT_CHARS = 16 * 1024 * 1024

type RecordReader = ReturnType<typeof createRecordReader>

/** Creates a reader that extracts records from JSON values. A value is a line or a whole document. */
function createValueReader(part: number) {
  const history = createHistoryReader(formatTime, part === 1)
  let last = 0
  function* readValue(n: number, value: unknown): Generator<NumberedRecord> {
    last = n
    const conversations = listConversations(value)
    if (conversations.length > 1)
      throw new UnreadableUploadError({ reason: "import_many", count: conversations.length })
    if (conversations.length === 1) yield* readValue(n, conversations[0])
    else if (Array.isArray(value) && value.some(isJsonObject)) {
      for (const [at, entry] of value.entries()) {
        yield* catchBadRecord(at + 1, readValue(at + 1, Array.isArray(entry) ? null : entry))
      }
    } else if (isChatEvent(value)) yield* eventToRecords(n, value)
    else {
      // The id of a message without one is derived from its part and line.
      const records = history.readValue(value, part === 1 ? `${n}` : `${part}-${n}`)
      if (records === null) yield { n, result: parseOwnRecord(value) }
      else for (const record of records) yield { n, result: checkRecordSize(record, record) }
    }
  }
  function* readEnd(): Generator<NumberedRecord> {
    for (const record of history.end()) yield { n: last, result: checkRecordSize(record, record) }
  }
  return {
    countKinds: () => history.countKinds(),
    readTitle: () => history.readTitle(),
    readValue: (n: number, value: unknown) => catchBadRecord(n, readValue(n, value)),
    readEnd: () => catchBadRecord(last, readEnd()),
  }
}

/** Creates a reader for a file with one record per line, or with a single JSON document that spans several lines. */
function createRecordReader(part: number) {
  const { countKinds, readTitle, readValue, readEnd } = createValueReader(part)
  let document: DocumentBuffer | null = null
  let isFirst = true
  const readText = (n: number, text: string): Generator<NumberedRecord> => readValue(n, parseJsonToDepth(text))
  /** Reads the buffered lines one by one, because they turned out not to be a document. */
  function* readBuffered(lines: DocumentBuffer["lines"]): Generator<NumberedRecord> {
    document = null
    for (const { n, text } of lines) yield* readText(n, text)
  }
  return {
    countKinds,
    readTitle,
    *readLine({ n, text }: Line): Generator<NumberedRecord> {
      if (isFirst && text.ok) document = startDocument(text.value)
      isFirst = false
      if (!text.ok) yield { n, result: text }
      else if (document === null) yield* readText(n, text.value)
      else {
        document.chars += text.value.length
        if (document.chars <= MAX_DOCUMENT_CHARS) document.lines.push({ n, text: text.value })
        else if (document.mayBeLines) {
          yield* readBuffered(document.lines)
          yield* readText(n, text.value)
        }
      }
    },
    *end(): Generator<NumberedRecord> {
      if (document !== null) yield* readDocument(document)
      yield* readEnd()
    },
  }
  function* readDocument({ lines, chars, mayBeLines }: DocumentBuffer): Generator<NumberedRecord> {
    if (chars > MAX_DOCUMENT_CHARS)
      return yield { n: 1, result: fail({ reason: "body_too_large", max: MAX_DOCUMENT_CHARS }) }
    const value = parseJsonToDepth(lines.map(({ text }) => text).join("\n"))
    if (value === undefined && mayBeLines) yield* readBuffered(lines)
    else yield* readValue(1, value)
  }
}

/** The lines of a document so far. */
interface DocumentBuffer {
  readonly lines: { readonly n: number; readonly text: string }[]
  chars: number
  /** Whether the first line may also be a damaged record, followed by other records. */
  readonly mayBeLines: boolean
}

/**
 * Returns a buffer if the first line begins a document of several lines: an array or an object that continues on the
 * next line. Otherwise null.
 */
function startDocument(firstLine: string): DocumentBuffer | null {
  const start = firstLine.trim()
  if (!/^[[{]/.test(start) || parseJsonToDepth(start) !== undefined) return null
  return { lines: [], chars: 0, mayBeLines: start.startsWith("{") && start !== "{" }
}

function parseOwnRecord(value: unknown): Result<ParsedRecord> {
  const record = parseRecord(value)
  return record.ok ? checkRecordSize(record.value, value as object) : record
}

function* eventToRecords(n: number, event: ChatEvent): Generator<NumberedRecord> {
  const records = chatEventToRecords(event, formatTime(event.timestamp) ?? undefined)
  if (records === null) yield { n, result: fail({ reason: "field_invalid", field: "type" }) }
  for (const json of records ?? []) {
    const record = parseRecord(json)
    yield { n, result: record.ok ? checkRecordSize(record.value, json) : record }
  }
}

/**
 * Checks a record against the limits for sent messages and for rows. A question that is too long is shortened instead
 * of skipped, because it opens its turn.
 */
function checkRecordSize(record: StreamRecord, json: object, isShortened = false): Result<ParsedRecord> {
  if (record.type === "user_message" && !isShortened && countUtf8Bytes(record.text ?? "") > MAX_MESSAGE_BYTES) {
    const text = cutQuestion(record.text ?? "")
    return checkRecordSize({ ...record, text }, { ...json, text }, true)
  }
  const line = recordToSealedLine(json)
  if (countUtf8Bytes(line) > MAX_IMPORT_LINE_BYTES)
    return fail({ reason: "body_too_large", max: MAX_IMPORT_LINE_BYTES })
  return succeed({ record, line, isShortened })
}

/** Returns as much of the start of a question as fits in a message, with a note about the omitted text. */
function cutQuestion(text: string): string {
  const head = new Uint8Array(MAX_MESSAGE_BYTES - CUT_NOTE_BYTES)
  return cutTextWithNote(text, new TextEncoder().encodeInto(text, head).read)
}

function parseTimeMs({ timestamp }: StreamRecord): number | null {
  const time = Date.parse(timestamp ?? "")
  return Number.isNaN(time) ? null : time
}

/**
 * Computes the digest of a part's usable records without staging the part. The digest does not depend on the session's
 * id.
 *
 * Errors: `import_empty` if the part has no usable record, and those of `readUploadLines`. Cost: the same as
 * `stagePart`, without the writes.
 */
export async function computePartSource(
  body: ReadableStream<Uint8Array>,
  part: number,
  times: UploadTimes,
): Promise<Result<string>> {
  const reader = createRecordReader(part)
  const digest = createRecordDigest()
  let records = 0
  try {
    for await (const batch of readRecordBatches(reader, body, times)) {
      const lines = listUsableLines(batch)
      records += lines.length
      digest.add(lines)
    }
  } catch (error) {
    if (error instanceof UnreadableUploadError) return fail(error.fault)
    throw error
  }
  return records === 0 ? fail({ reason: "import_empty" }) : succeed(await digest.finishAsSourceId())
}
