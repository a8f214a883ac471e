/**
 * fold-import.ts: staged rows become the transcript of a session that has none.
 *
 * staged rows → (seal) → (time, then file order; ours: file order) → ASSEMBLE → one transaction a turn → store
 * A turn, and how far folding is, change in one write, so that it goes on there after any restart.
 */

import { type AssembledMessage, createAssembler, type LateEvents } from "../../shared/ingest/assembler.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_ID_CHARS, MAX_RECORD_POS, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { createMessageSegmenter } from "../../shared/segment/segmenter.ts"
import type { AssetCopier } from "./copy-assets.ts"
import { createPartWriter, TurnRecorder } from "../turn/turn-recorder.ts"
import { versionGroupKey } from "../store/row-codec.ts"
import { createRecordDigest, createSeal, recordToSealedLine } from "./export-seal.ts"
import { type FoldingProgress, ROWS_PER_PART, type StagedFile, type StagedRow, type StagedRows } from "./staged-rows.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface FoldingHost {
  readonly store: SessionStore
  readonly staging: StagedRows
  readonly nextSeq: () => number
  readonly carrier: AssetCopier
  /** Whom the directives of what nobody vouches for are put to. */
  readonly resolver: Resolver
  /** The tenant's key, with which our own exports are sealed. */
  readonly getSealKey: () => Promise<CryptoKey>
}

/** Batches after which others have their turn on this thread: a page is read, progress is asked for. */
const YIELD_EVERY_BATCHES = 8

function createYielder(): () => Promise<void> {
  let batches = 0
  return async () => {
    batches += 1
    if (batches % YIELD_EVERY_BATCHES === 0) await new Promise((resolve) => setTimeout(resolve))
  }
}

/**
 * Looks whether our own seal vouches for all of a file, and what it says of the session.
 *
 * Cost    a file that ends without a seal: one row. Else linear; the memory of one batch.
 * Source  SPEC RE6, RE8.
 */
export async function verifySeal({ staging, getSealKey: key }: FoldingHost, staged: StagedFile): Promise<StagedFile> {
  const last = staging.readLastRow()
  const json = last === null ? undefined : parseJson(last.line)
  const signature = parseRecord(json)
  if (last === null || !signature.ok || signature.value.type !== "signature") return { ...staged, isSealed: false }
  const { tip, value, title } = signature.value
  // A position says nothing where the file does not say what stands at it.
  const described = {
    ...staged,
    tip: staged.isPlaced ? tip : null,
    title: title.slice(0, MAX_TITLE_CHARS).toWellFormed(),
  }
  if (staged.skipped > 0) return { ...described, isSealed: false }
  const seal = createSeal()
  const yieldIfDue = createYielder()
  for (
    let lines = staging.readNextInFileOrder(0);
    lines.length > 0;
    lines = staging.readNextInFileOrder(lines.at(-1)?.n ?? last.n)
  ) {
    seal.add(lines.filter(({ n }) => n < last.n).map(({ line }) => line))
    await yieldIfDue()
  }
  const { value: _, ...head } = json as { readonly value?: unknown }
  seal.add([recordToSealedLine(head)])
  return { ...described, isSealed: (await seal.sign(await key())) === value }
}

/** What all parts of a file are known by where it comes whole. Cost: linear; the memory of one batch. */
export async function computeWholeSource({ staging }: FoldingHost): Promise<string> {
  const digest = createRecordDigest()
  const yieldIfDue = createYielder()
  for (
    let lines = staging.readNextInFileOrder(0);
    lines.length > 0;
    lines = staging.readNextInFileOrder(lines.at(-1)?.n ?? 0)
  ) {
    digest.add(lines.map(({ line }) => line))
    await yieldIfDue()
  }
  return await digest.finishAsSourceId()
}

/** What folding came to beside the transcript: results and words that came too late to change anything. */
export interface FoldResult {
  readonly drift: number
}

/**
 * Folds what is staged, a turn at a time; between batches others have their turn on this thread.
 *
 * Cost    linear; the memory of one turn and one batch. A file that says versions takes a few bytes a message more.
 * Source  SPEC RE6.
 */
export async function foldStagedFile(host: FoldingHost, staged: StagedFile): Promise<FoldResult> {
  const { store, staging } = host
  const assembler = createAssembler(
    { has: store.isIdTaken, add: () => {} },
    staging.listWaitingCalls(),
    staged.isSealed === true,
  )
  const writer = createTranscriptWriter(host, staged.isSealed === true)
  const toRecordNumber = createRecordNumbering(staging)
  const yieldIfDue = createYielder()
  let progress = staging.readFoldingProgress()
  let last: Pick<StagedRow, "at" | "n"> = progress
  let pendingRecords = 0
  let drift = 0
  const commitBatch = (assembled: readonly (AssembledMessage | LateEvents)[], at: FoldingProgress): void => {
    store.atomically(() => {
      for (const one of assembled) drift += writer.writeItem(one)
      if (at !== progress) staging.setFoldingProgress(at)
    })
    progress = at
  }
  // What says where it stands is read as it stands there: a question that waited is older than the answer before it.
  const readNext = (): StagedRow[] =>
    staged.isPlaced ? staging.readNextInFileOrder(last.n) : staging.readNextByTime(last)
  for (let lines = readNext(); lines.length > 0; lines = readNext()) {
    for (const line of lines) {
      const record = rowToRecord(line)
      const assembled = record === null ? [] : assembler.addRecord(record, toRecordNumber(line.n))
      // The record that closes a turn belongs to the next one.
      const isClosed = assembled.some((one) => one.kind === "message")
      if (assembled.length > 0)
        commitBatch(assembled, isClosed ? { ...last, folded: progress.folded + pendingRecords } : progress)
      if (isClosed) pendingRecords = 0
      if (record !== null && record.type !== "signature") pendingRecords += 1
      last = { at: line.at, n: line.n }
    }
    await yieldIfDue()
  }
  commitBatch(assembler.end(), { ...last, folded: staged.records })
  return { drift }
}

/** The place of a row in the whole file, from its number. */
function createRecordNumbering(staging: StagedRows): (n: number) => number {
  const before = new Map<number, number>()
  let records = 0
  for (const [part, tally] of staging.readParts()) {
    before.set(part, records)
    records += tally.records
  }
  return (n) => (n % ROWS_PER_PART) + (before.get(Math.floor(n / ROWS_PER_PART)) ?? 0)
}

/** Our own row: what was staged was read before. */
function rowToRecord({ line, at }: StagedRow): StreamRecord | null {
  const record = parseRecord(parseJson(line))
  return record.ok ? { ...record.value, timestamp: new Date(at).toISOString() } : null
}

/** What nobody vouches for is granted anew, by what this session has. */
function regrantMessage(message: Message, resolver: Resolver): Message {
  if (message.role !== "assistant") return message
  const transcriber = createMessageSegmenter()
  transcriber.advance(message, undefined, resolver)
  return transcriber.applyGrants(message)
}

/** Writes assembled messages under the parents and positions that their file names, or one after the other. */
function createTranscriptWriter({ store, nextSeq, resolver }: FoldingHost, isSealed: boolean) {
  /** Where the first version stands, by `versionPlace`; looked for when a file says that there are versions. */
  let firstVersions: Map<number, number> | null = null
  /** Where the newest message of all stands, and that of the active path: nobody else writes meanwhile. */
  let [newestPos, tipPos] = [store.readNewestPos(), store.readTip()]

  const applyLate = ({ id, events }: LateEvents): number => {
    const known = store.findById(id)
    const stored = known?.pos === null || known === null ? null : store.findMessageAt(known.pos)
    if (stored === null) return events.length
    const recorder = new TurnRecorder(store, stored, nextSeq)
    let lostEvents = 0
    for (const event of events) {
      const before = recorder.currentMessage()
      recorder.feed(event)
      if (recorder.currentMessage() === before) lostEvents += 1
    }
    recorder.flush()
    return lostEvents
  }
  /** In which place it is a version beside others, and its number: the next that is free, whatever its file says. */
  const assignVersion = (pos: number, parent: number | null, { version, role }: AssembledMessage["message"]) => {
    const place = versionGroupKey(parent, role)
    if (version > 1) firstVersions ??= store.readFirstVersions()
    const first = firstVersions?.get(place)
    if (first === undefined) firstVersions?.set(place, pos)
    return first === undefined || version === 1 ? null : { first, n: store.countVersions(parent) + 1 }
  }
  /** What it was said under may be a line that could not be used: then what is here is not to be lost behind it. */
  const chooseParent = (fileParent: number | null, pos: number): number | null => {
    if (fileParent === null || fileParent === tipPos) return fileParent
    return fileParent < pos && store.hasMessageAt(fileParent) ? fileParent : tipPos
  }
  const insertAssembled = ({ message: original, pos: filePos, parent: fileParent, tip }: AssembledMessage): void => {
    // As its file says, if that fits behind what is here; else after the newest of the path.
    const isPlacedByFile =
      filePos !== null && filePos > newestPos && filePos <= MAX_RECORD_POS / 2 && fileParent !== undefined
    const pos = isPlacedByFile ? filePos : newestPos + 1
    const message = isSealed ? original : regrantMessage(original, resolver)
    const parent = isPlacedByFile ? chooseParent(fileParent, pos) : tipPos
    const seq = nextSeq()
    const origin = message.role === "user" ? null : isSealed ? message.origin : "import"
    const version = assignVersion(pos, parent, message)
    const stored = { pos, parent, seq, deadline: null, message: { ...message, origin, version: version?.n ?? 1 } }
    try {
      store.insertMessage(stored, true)
    } catch (error) {
      // No two messages have one id: what a file names twice is kept under another.
      if (!store.isIdTaken(message.id)) throw error
      const id = `${message.id.slice(0, MAX_ID_CHARS - 18)}-${pos}`
      store.insertMessage({ ...stored, message: { ...stored.message, id } }, true)
    }
    newestPos = pos
    tipPos = pos
    const writePart = createPartWriter(store, pos, () => "", true)
    for (const [at, part] of message.parts.entries()) {
      writePart(seq, at, part, undefined, part.type === "tool_call" ? "" : part.text)
    }
    if (version !== null) store.addVersion(parent, version.first, version.n, pos)
    if (tip !== null) store.setVersionTip(pos, tip)
  }
  return {
    /** Writes one; how much of it came too late to change anything. */
    writeItem(one: AssembledMessage | LateEvents): number {
      if (one.kind === "late") return applyLate(one) + one.lost
      insertAssembled(one)
      return one.lost
    },
  }
}
