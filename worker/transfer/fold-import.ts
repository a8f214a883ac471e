/**
 * fold-import.ts: staged rows become the transcript of a session that has none.
 *
 * staged rows → (seal) → (time, then file order; ours: file order) → ASSEMBLE → one transaction a turn → store
 * A turn, and how far folding is, change in one write, so that it goes on there after any restart.
 */

import { type Assembled, createAssembler, type Late } from "../../shared/ingest/assembler.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import { MAX_ID_CHARS, MAX_RECORD_POS, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { createTranscriber } from "../../shared/segment/segmenter.ts"
import type { Carrier } from "./copy-assets.ts"
import { createPartWriter, createRecorder } from "../turn/turn-recorder.ts"
import { versionPlace } from "../store/row-codec.ts"
import { createDigest, createSeal, vouchedIn } from "./export-seal.ts"
import { type Folding, PART_ROWS, type Staged, type StagedLine, type Staging } from "./staged-rows.ts"
import type { Store } from "../store/session-store.ts"

export interface FoldingHost {
  readonly store: Store
  readonly staging: Staging
  readonly nextSeq: () => number
  readonly carrier: Carrier
  /** Whom the directives of what nobody vouches for are put to. */
  readonly resolver: Resolver
  /** The tenant's key, with which our own exports are sealed. */
  readonly key: () => Promise<CryptoKey>
}

/** Batches after which others have their turn on this thread: a page is read, progress is asked for. */
const BREATHE_EVERY = 8

function createBreath(): () => Promise<void> {
  let batches = 0
  return async () => {
    batches += 1
    if (batches % BREATHE_EVERY === 0) await new Promise((resolve) => setTimeout(resolve))
  }
}

/**
 * Looks whether our own seal vouches for all of a file, and what it says of the session.
 *
 * Cost    a file that ends without a seal: one row. Else linear; the memory of one batch.
 * Source  SPEC RE6, RE8.
 */
export async function lookAtSeal({ staging, key }: FoldingHost, staged: Staged): Promise<Staged> {
  const last = staging.last()
  const json = last === null ? undefined : parseJson(last.line)
  const signature = parseRecord(json)
  if (last === null || !signature.ok || signature.value.type !== "signature") return { ...staged, isSealed: false }
  const { tip, value, title } = signature.value
  // A position says nothing where the file does not say what stands at it.
  const told = { ...staged, tip: staged.isPlaced ? tip : null, title: title.slice(0, MAX_TITLE_CHARS).toWellFormed() }
  if (staged.skipped > 0) return { ...told, isSealed: false }
  const seal = createSeal()
  const breathe = createBreath()
  for (let lines = staging.nextOfFile(0); lines.length > 0; lines = staging.nextOfFile(lines.at(-1)?.n ?? last.n)) {
    seal.add(lines.filter(({ n }) => n < last.n).map(({ line }) => line))
    await breathe()
  }
  const { value: _, ...head } = json as { readonly value?: unknown }
  seal.add([vouchedIn(head)])
  return { ...told, isSealed: (await seal.value(await key())) === value }
}

/** What all parts of a file are known by where it comes whole. Cost: linear; the memory of one batch. */
export async function sourceOfAll({ staging }: FoldingHost): Promise<string> {
  const digest = createDigest()
  const breathe = createBreath()
  for (let lines = staging.nextOfFile(0); lines.length > 0; lines = staging.nextOfFile(lines.at(-1)?.n ?? 0)) {
    digest.add(lines.map(({ line }) => line))
    await breathe()
  }
  return await digest.name()
}

/** What folding came to beside the transcript: results and words that came too late to change anything. */
export interface Folded {
  readonly drift: number
}

/**
 * Folds what is staged, a turn at a time; between batches others have their turn on this thread.
 *
 * Cost    linear; the memory of one turn and one batch. A file that says versions takes a few bytes a message more.
 * Source  SPEC RE6.
 */
export async function foldStaged(host: FoldingHost, staged: Staged): Promise<Folded> {
  const { store, staging } = host
  const assembler = createAssembler({ has: store.isTaken, add: () => {} }, staging.waiting(), staged.isSealed === true)
  const writer = createTranscriptWriter(host, staged.isSealed === true)
  const numberOf = countIn(staging)
  const breathe = createBreath()
  let place = staging.folding()
  let last: Pick<StagedLine, "at" | "n"> = place
  let open = 0
  let drift = 0
  const write = (done: readonly (Assembled | Late)[], at: Folding): void => {
    store.atomically(() => {
      for (const one of done) drift += writer.take(one)
      if (at !== place) staging.setFolding(at)
    })
    place = at
  }
  // What says where it stands is read as it stands there: a question that waited is older than the answer before it.
  const next = (): StagedLine[] => (staged.isPlaced ? staging.nextOfFile(last.n) : staging.next(last))
  for (let lines = next(); lines.length > 0; lines = next()) {
    for (const line of lines) {
      const record = recordIn(line)
      const done = record === null ? [] : assembler.take(record, numberOf(line.n))
      // The record that closes a turn belongs to the next one.
      const isClosed = done.some((one) => one.kind === "message")
      if (done.length > 0) write(done, isClosed ? { ...last, folded: place.folded + open } : place)
      if (isClosed) open = 0
      if (record !== null && record.type !== "signature") open += 1
      last = { at: line.at, n: line.n }
    }
    await breathe()
  }
  write(assembler.end(), { ...last, folded: staged.records })
  return { drift }
}

/** The place of a row in the whole file, from its number. */
function countIn(staging: Staging): (n: number) => number {
  const before = new Map<number, number>()
  let records = 0
  for (const [part, tally] of staging.parts()) {
    before.set(part, records)
    records += tally.records
  }
  return (n) => (n % PART_ROWS) + (before.get(Math.floor(n / PART_ROWS)) ?? 0)
}

/** Our own row: what was staged was read before. */
function recordIn({ line, at }: StagedLine): StreamRecord | null {
  const record = parseRecord(parseJson(line))
  return record.ok ? { ...record.value, timestamp: new Date(at).toISOString() } : null
}

/** What nobody vouches for is granted anew, by what this session has. */
function grantedIn(message: Message, resolver: Resolver): Message {
  if (message.role !== "assistant") return message
  const transcriber = createTranscriber()
  transcriber.advance(message, undefined, resolver)
  return transcriber.granted(message)
}

/** Writes assembled messages under the parents and positions that their file names, or one after the other. */
function createTranscriptWriter({ store, nextSeq, resolver }: FoldingHost, isSealed: boolean) {
  /** Where the first version stands, by `versionPlace`; looked for when a file says that there are versions. */
  let firsts: Map<number, number> | null = null
  /** Where the newest message of all stands, and that of the active path: nobody else writes meanwhile. */
  let [newest, path] = [store.newestPos(), store.tip()]

  const changeLate = ({ id, events }: Late): number => {
    const known = store.find(id)
    const stored = known?.pos === null || known === null ? null : store.at(known.pos)
    if (stored === null) return events.length
    const recorder = createRecorder(store, stored, nextSeq)
    let lost = 0
    for (const event of events) {
      const before = recorder.message()
      recorder.feed(event)
      if (recorder.message() === before) lost += 1
    }
    recorder.flush()
    return lost
  }
  /** In which place it is a version beside others, and its number: the next that is free, whatever its file says. */
  const versionOf = (pos: number, parent: number | null, { version, role }: Assembled["message"]) => {
    const place = versionPlace(parent, role)
    if (version > 1) firsts ??= store.firstVersions()
    const first = firsts?.get(place)
    if (first === undefined) firsts?.set(place, pos)
    return first === undefined || version === 1 ? null : { first, n: store.countVersions(parent) + 1 }
  }
  /** What it was said under may be a line that could not be used: then what is here is not to be lost behind it. */
  const parentFor = (under: number | null, pos: number): number | null => {
    if (under === null || under === path) return under
    return under < pos && store.isAt(under) ? under : path
  }
  const insert = ({ message: said, pos: told, parent: under, tip }: Assembled): void => {
    // As its file says, if that fits behind what is here; else after the newest of the path.
    const isTold = told !== null && told > newest && told <= MAX_RECORD_POS / 2 && under !== undefined
    const pos = isTold ? told : newest + 1
    const message = isSealed ? said : grantedIn(said, resolver)
    const parent = isTold ? parentFor(under, pos) : path
    const seq = nextSeq()
    const origin = message.role === "user" ? null : isSealed ? message.origin : "import"
    const version = versionOf(pos, parent, message)
    const stored = { pos, parent, seq, deadline: null, message: { ...message, origin, version: version?.n ?? 1 } }
    try {
      store.insertMessage(stored, true)
    } catch (error) {
      // No two messages have one id: what a file names twice is kept under another.
      if (!store.isTaken(message.id)) throw error
      const id = `${message.id.slice(0, MAX_ID_CHARS - 18)}-${pos}`
      store.insertMessage({ ...stored, message: { ...stored.message, id } }, true)
    }
    newest = pos
    path = pos
    const write = createPartWriter(store, pos, () => "", true)
    for (const [at, part] of message.parts.entries()) {
      write(seq, at, part, undefined, part.type === "tool_call" ? "" : part.text)
    }
    if (version !== null) store.addVersion(parent, version.first, version.n, pos)
    if (tip !== null) store.leaveVersion(pos, tip)
  }
  return {
    /** Writes one; how much of it came too late to change anything. */
    take(one: Assembled | Late): number {
      if (one.kind === "late") return changeLate(one) + one.lost
      insert(one)
      return one.lost
    },
  }
}
