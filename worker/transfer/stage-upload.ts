/**
 * stage-upload.ts: an uploaded file, or a part of one, becomes staged rows; nothing else is changed by it.
 *
 * bytes → lines → RECORDS → staged rows
 * All of a file is staged before any of it is folded, so what cannot be used changes nothing.
 */

import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import type { BadLine } from "../../shared/protocol/http-body.ts"
import { parseJson } from "../../shared/json.ts"
import { isHistoryMessage, historyToRecords } from "../../shared/ingest/chat-history.ts"
import { MAX_BAD_LINES, MAX_MESSAGE_BYTES, MAX_STAGED_BYTES } from "../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { readUploadLines, UnreadableUploadError } from "./upload-lines.ts"
import type { Line } from "../../shared/ingest/line-splitter.ts"
import { createRecordDigest, recordToSealedLine } from "./export-seal.ts"
import { BATCH_CHARS, BATCH_ROWS, type StagedRows, type PartTally, UNKNOWN_TIME_MS } from "./staged-rows.ts"

export interface PartUpload {
  readonly part: number
  readonly of: number
  readonly body: ReadableStream<Uint8Array>
  /** Silence that is too long, in milliseconds. */
  readonly idleMs: number
  /** Told how many records have come so far. */
  readonly onRecords: (records: number) => void
}

/**
 * Stages one part in the place of what was staged of it.
 *
 * Shapes  byte stream → Tally.
 * Errors  those of an upload that cannot be read to its end; its rows may be there then.
 * Cost    linear; the memory of one chunk, of the longest line and of one batch.
 * Source  SPEC RE6, RE9–RE11, RE20, RE28–RE36.
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
  const stageRecords = (read: Iterable<NumberedRecord>): void => {
    const lines: string[] = []
    for (const { n, result: one } of read) {
      if (one.ok) lines.push(rows.addRecord(one.value))
      else partTally.skipLine(n, one.fault)
    }
    digest.add(lines)
  }
  try {
    for await (const lines of readUploadLines(upload.body, upload.idleMs)) {
      for (const line of lines) stageRecords(recordReader.readLine(line))
      rows.flush()
      upload.onRecords(rows.countRecords())
    }
    stageRecords(recordReader.end())
    rows.flush()
  } catch (error) {
    if (error instanceof UnreadableUploadError) return fail(error.fault)
    throw error
  }
  const [records, isPlaced] = [rows.countRecords(), rows.isPlaced()]
  const name = await digest.finishAsSourceId()
  return succeed({ ...partTally.summarize(), records, isPlaced, source: rows.isEmpty() ? "" : name })
}

/** Counts what could not be used, and keeps the first of them. */
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

/** Gathers rows and writes them a batch at a time. */
function createRowBatcher(staging: StagedRows, atomically: (write: () => void) => void, part: number) {
  let [rows, records, chars] = [0, 0, 0]
  let timeMs = part === 1 ? 0 : UNKNOWN_TIME_MS
  let isPlaced = false
  let batch: (readonly [i: number, at: number, line: string, home: string | null])[] = []
  const flush = (): void => {
    const full = batch
    batch = []
    chars = 0
    if (full.length === 0) return
    atomically(() => {
      for (const row of full) staging.addRow(part, ...row)
    })
  }
  return {
    flush,
    countRecords: () => records,
    isPlaced: () => isPlaced,
    isEmpty: () => rows === 0,
    /** The row's text. */
    addRecord({ record, line }: ParsedRecord): string {
      rows += 1
      if (record.type !== "signature") records += 1
      isPlaced ||= "pos" in record
      timeMs = parseTimeMs(record) ?? timeMs
      batch.push([rows, timeMs, line, findAssetHome(record)])
      chars += line.length
      if (batch.length >= BATCH_ROWS || chars >= BATCH_CHARS) flush()
      return line
    },
  }
}

/** The session that a file of it is kept in: what is staged says nothing of sessions. */
function findAssetHome(record: StreamRecord): string | null {
  return record.type === "asset" ? (record.sessionId ?? "") : null
}

interface ParsedRecord {
  readonly record: StreamRecord
  /** What is staged of it. */
  readonly line: string
}

interface NumberedRecord {
  /** The line, or the message of a list, that it came from. */
  readonly n: number
  readonly result: Result<ParsedRecord>
}

/** Most of a file that is one JSON list, in UTF-16 code units: it has to be read whole. */
const MAX_LIST_CHARS = 16 * 1024 * 1024

/** Reads records from a file of lines, or from one JSON list of messages over many lines. */
function createRecordReader(part: number) {
  let list: string[] | null = null
  let chars = 0
  let isFirst = true
  return {
    *readLine(line: Line): Generator<NumberedRecord> {
      if (isFirst && isListStart(line)) list = []
      isFirst = false
      if (list === null) yield* lineToRecords(line, part)
      else if (line.text.ok) {
        chars += line.text.value.length
        if (chars <= MAX_LIST_CHARS) list.push(line.text.value)
      }
    },
    *end(): Generator<NumberedRecord> {
      if (list === null) return
      if (chars > MAX_LIST_CHARS) yield { n: 1, result: fail({ reason: "body_too_large", max: MAX_LIST_CHARS }) }
      else yield* valueToRecords(1, parseJson(list.join("\n")), part)
    },
  }
}

function isListStart({ text }: Line): boolean {
  return text.ok && text.value.trimStart().startsWith("[") && parseJson(text.value) === undefined
}

function* lineToRecords({ n, text }: Line, part: number): Generator<NumberedRecord> {
  if (text.ok) yield* valueToRecords(n, parseJson(text.value), part)
  else yield { n, result: text }
}

function* valueToRecords(n: number, value: unknown, part: number): Generator<NumberedRecord> {
  if (Array.isArray(value) && value.some(isHistoryMessage)) {
    for (const [at, message] of value.entries()) yield* valueToRecords(at + 1, message, part)
  } else if (isHistoryMessage(value)) {
    // A message without an id is named by its line, and each part has lines of its own.
    const name = part === 1 ? n : `${part}-${n}`
    const records = historyToRecords(value, name)
    // A role that nobody sees (system) is passed over as any line that cannot be used.
    if (records.length === 0) yield { n, result: fail({ reason: "field_invalid", field: "role" }) }
    for (const record of records) yield { n, result: checkRecordSize(record, record) }
  } else {
    const record = parseRecord(value)
    yield { n, result: record.ok ? checkRecordSize(record.value, value as object) : record }
  }
}

/** Words are bounded as those that are sent, and a record as a row is. */
function checkRecordSize(record: StreamRecord, json: object): Result<ParsedRecord> {
  if (record.type === "user_message" && countUtf8Bytes(record.text) > MAX_MESSAGE_BYTES) {
    return fail({ reason: "message_too_large", max: MAX_MESSAGE_BYTES })
  }
  const line = recordToSealedLine(json)
  if (countUtf8Bytes(line) > MAX_STAGED_BYTES) return fail({ reason: "body_too_large", max: MAX_STAGED_BYTES })
  return succeed({ record, line })
}

function parseTimeMs({ timestamp }: StreamRecord): number | null {
  const time = Date.parse(timestamp ?? "")
  return Number.isNaN(time) ? null : time
}

/**
 * What a part is known by, whichever session it came from, without staging it: all that can be used of it.
 *
 * Errors  `import_empty` where nothing of it can be used, and those of an upload that cannot be read.
 * Cost    as staging it, but for the writes.
 */
export async function computePartSource(
  body: ReadableStream<Uint8Array>,
  part: number,
  idleMs: number,
): Promise<Result<string>> {
  const reader = createRecordReader(part)
  const digest = createRecordDigest()
  let records = 0
  const digestRecords = (read: Iterable<NumberedRecord>): void => {
    const lines: string[] = []
    for (const { result: one } of read) if (one.ok) lines.push(one.value.line)
    records += lines.length
    digest.add(lines)
  }
  try {
    for await (const lines of readUploadLines(body, idleMs))
      for (const line of lines) digestRecords(reader.readLine(line))
    digestRecords(reader.end())
  } catch (error) {
    if (error instanceof UnreadableUploadError) return fail(error.fault)
    throw error
  }
  return records === 0 ? fail({ reason: "import_empty" }) : succeed(await digest.finishAsSourceId())
}
