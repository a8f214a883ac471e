/**
 * stage-upload.ts: an uploaded file, or a part of one, becomes staged rows; nothing else is changed by it.
 *
 * bytes → lines → RECORDS → staged rows
 * All of a file is staged before any of it is folded, so what cannot be used changes nothing.
 */

import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { type BadLine, parseJson } from "../../shared/protocol/frame.ts"
import { isHistoryMessage, recordsOfHistory } from "../../shared/ingest/chat-history.ts"
import { MAX_BAD_LINES, MAX_MESSAGE_BYTES, MAX_STAGED_BYTES } from "../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { utf8Bytes } from "../../shared/truncate.ts"
import { linesIn, Unreadable } from "./upload-lines.ts"
import type { Line } from "../../shared/ingest/line-splitter.ts"
import { createDigest, vouchedIn } from "./export-seal.ts"
import { BATCH_CHARS, BATCH_ROWS, type Staging, type Tally, TIME_UNKNOWN } from "./staged-rows.ts"

export interface Upload {
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
 * Source  SPEC RE6, RE9–RE11, RE20.
 */
export async function stagePart(
  staging: Staging,
  atomically: (write: () => void) => void,
  upload: Upload,
): Promise<Result<Tally>> {
  const { part, of } = upload
  const tally = createTally(of > 1 ? part : null)
  const reader = createReader(part)
  const rows = createRows(staging, atomically, part)
  const digest = createDigest()
  const take = (read: Iterable<Numbered>): void => {
    const lines: string[] = []
    for (const { n, read: one } of read) {
      if (one.ok) lines.push(rows.add(one.value))
      else tally.miss(n, one.fault)
    }
    digest.add(lines)
  }
  try {
    for await (const lines of linesIn(upload.body, upload.idleMs)) {
      for (const line of lines) take(reader.take(line))
      rows.flush()
      upload.onRecords(rows.records())
    }
    take(reader.end())
    rows.flush()
  } catch (error) {
    if (error instanceof Unreadable) return fail(error.fault)
    throw error
  }
  const [records, isPlaced] = [rows.records(), rows.isPlaced()]
  const name = await digest.name()
  return succeed({ ...tally.told(), records, isPlaced, source: rows.isEmpty() ? "" : name })
}

/** Counts what could not be used, and keeps the first of them. */
function createTally(part: number | null) {
  const bad: BadLine[] = []
  let skipped = 0
  return {
    miss(line: number, fault: Fault): void {
      skipped += 1
      if (bad.length >= MAX_BAD_LINES) return
      const { code, text } = faultToWire(fault)
      bad.push({ ...(part === null ? {} : { part }), line, code, text })
    },
    told: () => ({ bad, skipped }),
  }
}

/** Gathers rows and writes them a batch at a time. */
function createRows(staging: Staging, atomically: (write: () => void) => void, part: number) {
  let [rows, records, chars] = [0, 0, 0]
  let clock = part === 1 ? 0 : TIME_UNKNOWN
  let isPlaced = false
  let batch: (readonly [i: number, at: number, line: string, home: string | null])[] = []
  const flush = (): void => {
    const full = batch
    batch = []
    chars = 0
    if (full.length === 0) return
    atomically(() => {
      for (const row of full) staging.add(part, ...row)
    })
  }
  return {
    flush,
    records: () => records,
    isPlaced: () => isPlaced,
    isEmpty: () => rows === 0,
    /** The row's text. */
    add({ record, line }: ReadRecord): string {
      rows += 1
      if (record.type !== "signature") records += 1
      isPlaced ||= "pos" in record
      clock = timeOf(record) ?? clock
      batch.push([rows, clock, line, homeIn(record)])
      chars += line.length
      if (batch.length >= BATCH_ROWS || chars >= BATCH_CHARS) flush()
      return line
    },
  }
}

/** The session that a file of it is kept in: what is staged says nothing of sessions. */
function homeIn(record: StreamRecord): string | null {
  return record.type === "asset" ? (record.sessionId ?? "") : null
}

interface ReadRecord {
  readonly record: StreamRecord
  /** What is staged of it. */
  readonly line: string
}

interface Numbered {
  /** The line, or the message of a list, that it came from. */
  readonly n: number
  readonly read: Result<ReadRecord>
}

/** Most of a file that is one JSON list, in UTF-16 code units: it has to be read whole. */
const MAX_LIST_CHARS = 16 * 1024 * 1024

/** Reads records from a file of lines, or from one JSON list of messages over many lines. */
function createReader(part: number) {
  let list: string[] | null = null
  let chars = 0
  let isFirst = true
  return {
    *take(line: Line): Generator<Numbered> {
      if (isFirst && startsList(line)) list = []
      isFirst = false
      if (list === null) yield* readLine(line, part)
      else if (line.text.ok) {
        chars += line.text.value.length
        if (chars <= MAX_LIST_CHARS) list.push(line.text.value)
      }
    },
    *end(): Generator<Numbered> {
      if (list === null) return
      if (chars > MAX_LIST_CHARS) yield { n: 1, read: fail({ reason: "body_too_large", max: MAX_LIST_CHARS }) }
      else yield* readValue(1, parseJson(list.join("\n")), part)
    },
  }
}

function startsList({ text }: Line): boolean {
  return text.ok && text.value.trimStart().startsWith("[") && parseJson(text.value) === undefined
}

function* readLine({ n, text }: Line, part: number): Generator<Numbered> {
  if (text.ok) yield* readValue(n, parseJson(text.value), part)
  else yield { n, read: text }
}

function* readValue(n: number, value: unknown, part: number): Generator<Numbered> {
  if (Array.isArray(value) && value.some(isHistoryMessage)) {
    for (const [at, message] of value.entries()) yield* readValue(at + 1, message, part)
  } else if (isHistoryMessage(value)) {
    // A message without an id is named by its line, and each part has lines of its own.
    const name = part === 1 ? n : `${part}-${n}`
    const records = recordsOfHistory(value, name)
    // A role that nobody sees (system) is passed over as any line that cannot be used.
    if (records.length === 0) yield { n, read: fail({ reason: "field_invalid", field: "role" }) }
    for (const record of records) yield { n, read: fitting(record, record) }
  } else {
    const record = parseRecord(value)
    yield { n, read: record.ok ? fitting(record.value, value as object) : record }
  }
}

/** Words are bounded as those that are sent, and a record as a row is. */
function fitting(record: StreamRecord, json: object): Result<ReadRecord> {
  if (record.type === "user_message" && utf8Bytes(record.text) > MAX_MESSAGE_BYTES) {
    return fail({ reason: "message_too_large", max: MAX_MESSAGE_BYTES })
  }
  const line = vouchedIn(json)
  if (utf8Bytes(line) > MAX_STAGED_BYTES) return fail({ reason: "body_too_large", max: MAX_STAGED_BYTES })
  return succeed({ record, line })
}

function timeOf({ timestamp }: StreamRecord): number | null {
  const time = Date.parse(timestamp ?? "")
  return Number.isNaN(time) ? null : time
}

/**
 * What a part is known by, whichever session it came from, without staging it: all that can be used of it.
 *
 * Errors  `import_empty` where nothing of it can be used, and those of an upload that cannot be read.
 * Cost    as staging it, but for the writes.
 */
export async function sourceIn(
  body: ReadableStream<Uint8Array>,
  part: number,
  idleMs: number,
): Promise<Result<string>> {
  const reader = createReader(part)
  const digest = createDigest()
  let records = 0
  const take = (read: Iterable<Numbered>): void => {
    const lines: string[] = []
    for (const { read: one } of read) if (one.ok) lines.push(one.value.line)
    records += lines.length
    digest.add(lines)
  }
  try {
    for await (const lines of linesIn(body, idleMs)) for (const line of lines) take(reader.take(line))
    take(reader.end())
  } catch (error) {
    if (error instanceof Unreadable) return fail(error.fault)
    throw error
  }
  return records === 0 ? fail({ reason: "import_empty" }) : succeed(await digest.name())
}
