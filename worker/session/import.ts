/**
 * import.ts: a file of records becomes the transcript of a session that has none, or that was begun from the same file.
 *
 * bytes → lines → staged rows → (time, then file order) → ASSEMBLE → one transaction a turn → store
 * The file is staged whole before any of it is folded, so what cannot be used changes nothing. Folding goes on from the
 * staged rows after any restart: a turn, and the rows that it came from, change in one write.
 */

import { type Assembled, createAssembler, type Late } from "../../shared/assemble.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"
import { MAX_BAD_LINES, MAX_IMPORT_BYTES, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { isHistoryMessage, recordsOfHistory } from "../../shared/ingest/history.ts"
import { parseRecord, type StreamRecord } from "../../shared/record.ts"
import { type Line, linesIn, TooLarge } from "./lines.ts"
import { createPartWriter, createRecorder } from "./record.ts"
import { createSeal } from "./seal.ts"
import type { ImportState, StagedLine, Staging } from "./staging.ts"
import type { Store } from "./store.ts"

export interface BadLine {
  readonly line: number
  readonly code: string
  readonly text: string
}

export interface Imported {
  readonly records: number
  /** The first of the lines that could not be used; `skipped` counts them all. */
  readonly bad: readonly BadLine[]
  readonly skipped: number
  readonly isSealed: boolean
  /** It was here before: nothing was added. */
  readonly duplicate: boolean
}

export interface ImportHost {
  readonly store: Store
  readonly staging: Staging
  readonly nextSeq: () => number
  /** The tenant's key, with which our own exports are sealed. */
  readonly key: CryptoKey
}

/** Records that are written in one go while staging, and read in one go while folding. */
const BATCH = 500

/**
 * Stages a file.
 *
 * Shapes  byte stream → Imported.
 * Errors  `import_too_large`, `import_empty` (no line of it can be used), `session_begun`; nothing is changed then.
 * Cost    linear; the memory of BATCH lines.
 * Source  SPEC RE6–RE10.
 */
export async function stageFile(host: ImportHost, body: ReadableStream<Uint8Array>): Promise<Result<Imported>> {
  const { store, staging } = host
  const known = staging.state()
  if (known === null && store.newestPos() > 0) return fail({ reason: "session_begun" })
  try {
    return known === null ? await stage(host, body) : await recognise(known, body)
  } catch (error) {
    if (known === null) staging.clear()
    if (error instanceof TooLarge) return fail({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
    throw error
  }
}

/** What could not be used so far. */
interface Tally {
  readonly bad: BadLine[]
  skipped: number
}

function count(tally: Tally, line: number, fault: Fault): void {
  tally.skipped += 1
  if (tally.bad.length >= MAX_BAD_LINES) return
  const { code, text } = faultToWire(fault)
  tally.bad.push({ line, code, text })
}

/** A file for a session that was begun from one: the same again adds nothing, so its first record is enough. */
async function recognise(known: ImportState, body: ReadableStream<Uint8Array>): Promise<Result<Imported>> {
  const tally: Tally = { bad: [], skipped: 0 }
  for await (const { n, read } of recordsIn(linesIn(body))) {
    if (!read.ok) {
      count(tally, n, read.fault)
      continue
    }
    if (sourceOf(read.value.json) !== known.source) return fail({ reason: "session_begun" })
    return succeed({ ...tally, records: known.records, isSealed: known.isSealed, duplicate: true })
  }
  return fail({ reason: "import_empty" })
}

async function stage(host: ImportHost, body: ReadableStream<Uint8Array>): Promise<Result<Imported>> {
  const { store, staging, key } = host
  const tally: Tally = { bad: [], skipped: 0 }
  const seal = createSeal()
  let [records, clock] = [0, 0]
  let source = ""
  let signature: Extract<StreamRecord, { type: "signature" }> | null = null
  let batch: StagedLine[] = []
  const flush = (): void => {
    store.atomically(() => batch.forEach(staging.add))
    batch = []
  }
  // An upload that broke off may have left rows behind.
  staging.clear()
  for await (const { n, read } of recordsIn(linesIn(body))) {
    if (!read.ok) {
      count(tally, n, read.fault)
      continue
    }
    const { record, json } = read.value
    if (record.type === "signature") {
      const { value: _, ...head } = json as { value?: unknown }
      seal.add(head)
      signature = record
      continue
    }
    seal.add(json)
    // What follows a seal is not vouched for.
    signature = null
    if (records === 0) source = sourceOf(json)
    records += 1
    clock = timeOf(record) ?? clock
    batch.push({ n: records, at: clock, line: JSON.stringify({ ...json, timestamp: new Date(clock).toISOString() }) })
    if (batch.length >= BATCH) flush()
  }
  if (records === 0) return fail({ reason: "import_empty" })
  flush()
  const isSealed = tally.skipped === 0 && signature !== null && (await seal.value(key)) === signature.value
  const title = (signature?.title ?? "").slice(0, MAX_TITLE_CHARS).toWellFormed()
  staging.setState({ source, isSealed, records, isDone: false, tip: signature?.tip ?? null, title })
  return succeed({ ...tally, records, isSealed, duplicate: false })
}

interface Read {
  readonly record: StreamRecord
  readonly json: object
}

interface Numbered {
  /** The line, or the message of a list, that it came from. */
  readonly n: number
  readonly read: Result<Read>
}

/** Most of a file that is one JSON list, in UTF-16 code units: it has to be read whole. */
const MAX_LIST_CHARS = 16 * 1024 * 1024

/** The records of a file of lines, or of one JSON list of messages over many lines. */
async function* recordsIn(lines: AsyncIterable<Line>): AsyncGenerator<Numbered> {
  let list: string[] | null = null
  let chars = 0
  let isFirst = true
  for await (const line of lines) {
    if (
      isFirst &&
      line.text.ok &&
      line.text.value.trimStart().startsWith("[") &&
      parseJson(line.text.value) === undefined
    )
      list = []
    isFirst = false
    if (list === null) yield* readLine(line)
    else if (line.text.ok) {
      chars += line.text.value.length
      if (chars <= MAX_LIST_CHARS) list.push(line.text.value)
    }
  }
  if (list === null) return
  if (chars > MAX_LIST_CHARS) yield { n: 1, read: fail({ reason: "body_too_large", max: MAX_LIST_CHARS }) }
  else yield* readValue(1, parseJson(list.join("\n")))
}

function* readLine({ n, text }: Line): Generator<Numbered> {
  if (text.ok) yield* readValue(n, parseJson(text.value))
  else yield { n, read: text }
}

function* readValue(n: number, value: unknown): Generator<Numbered> {
  if (Array.isArray(value) && value.some(isHistoryMessage)) {
    for (const [at, message] of value.entries()) yield* readValue(at + 1, message)
  } else if (isHistoryMessage(value)) {
    for (const record of recordsOfHistory(value, n)) yield { n, read: succeed({ record, json: record }) }
  } else {
    const record = parseRecord(value)
    yield { n, read: record.ok ? succeed({ record: record.value, json: value as object }) : record }
  }
}

/** What a file is known by: its first record, whichever session it came from. */
function sourceOf(json: object): string {
  const { sessionId: _, ...first } = json as { sessionId?: unknown }
  return JSON.stringify(first).slice(0, 2_000)
}

function timeOf({ timestamp }: StreamRecord): number | null {
  const time = Date.parse(timestamp ?? "")
  return Number.isNaN(time) ? null : time
}

/**
 * Folds what is staged, a turn at a time; between two of them others have their turn on this thread.
 *
 * Cost    linear; the memory of one turn and BATCH lines, and a few bytes for each message.
 * Source  SPEC RE6.
 */
export async function foldStaged(host: ImportHost): Promise<ImportState | null> {
  const { store, staging } = host
  const state = staging.state()
  if (state === null || state.isDone) return null
  const assembler = createAssembler()
  const writer = createTranscriptWriter(host, state.isSealed)
  let used: StagedLine[] = []
  let last: Pick<StagedLine, "at" | "n"> = { at: -1, n: -1 }
  const write = (done: readonly (Assembled | Late)[], spent: readonly StagedLine[]): void => {
    store.atomically(() => {
      for (const one of done) writer.take(one)
      staging.drop(spent)
    })
  }
  for (;;) {
    const lines = staging.next(last, BATCH)
    if (lines.length === 0) break
    for (const line of lines) {
      last = line
      const record = parseRecord(parseJson(line.line))
      const done = record.ok ? assembler.take(record.value, line.n) : []
      // The record that closes a turn belongs to the next one: its row stays until that is closed too.
      if (done.some((one) => one.kind === "message")) {
        write(done, used)
        used = []
      } else if (done.length > 0) write(done, [])
      used.push(line)
    }
    await new Promise((resolve) => setTimeout(resolve))
  }
  write(assembler.end(), used)
  const done = { ...state, isDone: true }
  staging.setState(done)
  return done
}

/** Writes assembled messages under the parents and positions that their file names, or one after the other. */
function createTranscriptWriter({ store, nextSeq }: ImportHost, isSealed: boolean) {
  /** Where the first version stands, by its parent and role. */
  const firsts = new Map<string, number>(store.firstVersions())
  const take = (one: Assembled | Late): void => {
    const known = store.find(one.kind === "late" ? one.id : one.message.id)
    if (one.kind === "message") return known === null ? insert(one) : undefined
    const stored = known?.pos === null || known === null ? null : store.at(known.pos)
    if (stored === null) return
    const recorder = createRecorder(store, stored, nextSeq)
    for (const event of one.events) recorder.feed(event)
    recorder.flush()
  }
  const insert = ({ message, pos: told, parent: under, tip }: Assembled): void => {
    const { pos, parent } = placeFor(store, told, under)
    const seq = nextSeq()
    const origin = message.role === "user" ? null : isSealed ? message.origin : "import"
    store.insertMessage({ pos, parent, seq, deadline: null, message: { ...message, origin } })
    const write = createPartWriter(store, pos, () => "")
    for (const [at, part] of message.parts.entries()) {
      write(seq, at, part, undefined, part.type === "tool_call" ? "" : part.text)
    }
    const place = `${parent ?? 0} ${message.role}`
    const first = firsts.get(place)
    if (first === undefined) firsts.set(place, pos)
    else if (message.version > 1) store.addVersion(parent, first, message.version, pos)
    if (tip !== null) store.leaveVersion(pos, tip)
  }
  return { take }
}

/** Where a message goes: as its file says, if that fits behind what is here; else after the newest of the path. */
function placeFor(store: Store, told: number | null, under: number | null | undefined) {
  const newest = store.newestPos()
  if (told === null || told <= newest || under === undefined) return { pos: newest + 1, parent: store.tip() }
  return { pos: told, parent: under !== null && under < told ? under : null }
}
