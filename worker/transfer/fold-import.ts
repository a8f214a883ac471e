/**
 * fold-import.ts: folds the staged rows of a file into an empty session's transcript.
 *
 * staged rows → by time, or by position in the file → assembler → one transaction per turn → store
 * A turn's transaction also stores the progress, so that folding continues from that point after a restart.
 */

import { type AssembledMessage, createAssembler, type LateEvents } from "../../shared/ingest/assembler.ts"
import { addTotals, type KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import { parseJsonToDepth } from "../../shared/json-depth.ts"
import { interruptPart, type Part } from "../../shared/protocol/message.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import { IdFilter } from "./id-filter.ts"
import type { StagedFile } from "./import-state.ts"
import { type FoldingProgress, ROWS_PER_PART, type StagedRow, type StagedRows } from "./staged-rows.ts"
import { TranscriptWriter, type TranscriptWriterHost } from "./transcript-writer.ts"
import { createYielder, FOLD_YIELD_BATCHES } from "./yielder.ts"

export interface FoldingHost extends TranscriptWriterHost {
  readonly staging: StagedRows
}

/**
 * Folds the staged rows, one turn at a time (SPEC RE6).
 *
 * Cost: linear time, and memory for one turn and one batch. A file with versions needs a few more bytes per message.
 */
export async function foldStagedFile(host: FoldingHost, staged: StagedFile): Promise<void> {
  const fold = new Fold(host, staged)
  const yieldIfDue = createYielder(FOLD_YIELD_BATCHES)
  const yieldNow = createYielder(1)
  for (let rows = fold.readNext(); rows.length > 0; rows = fold.readNext()) {
    // A late event reads its message again, so each one is a separate step (SPEC RE41).
    for (const row of rows) {
      if (!fold.addRow(row)) continue
      await yieldNow()
      fold.lookForMessages()
    }
    await yieldIfDue()
  }
  fold.finish()
  await settleWaitingCalls(host)
}

/**
 * Interrupts the calls whose final result is not in the file, because that result will never arrive (SPEC RE44). Can be
 * repeated.
 */
async function settleWaitingCalls({ store, readSeq }: FoldingHost): Promise<void> {
  const yieldNow = createYielder(1)
  for (let pos = store.findWaitingCallAfter(0); pos !== null; pos = store.findWaitingCallAfter(pos)) {
    const message = store.findMessageAt(pos)?.message
    store.atomically(() => interruptWaitingCalls(store, readSeq(), pos, message?.parts ?? []))
    await yieldNow()
  }
}

function interruptWaitingCalls(store: FoldingHost["store"], seq: number, pos: number, parts: readonly Part[]): void {
  for (const [at, part] of parts.entries()) {
    const interrupted = interruptPart(part)
    if (interrupted === part || interrupted.type !== "tool_call") continue
    store.putCall(pos, at, part.step, seq, interrupted.call, interrupted.times)
  }
}

class Fold {
  readonly #host: FoldingHost
  readonly #staged: StagedFile
  readonly #assembler: ReturnType<typeof createAssembler>
  readonly #writer: TranscriptWriter
  /** The ids that this object has folded. */
  readonly #foldedIds = new IdFilter()
  /** Whether `#foldedIds` contains the ids of all messages. False after a restart, and once a message has been sent. */
  #hasOnlyFolded: boolean
  readonly #toRecordNumber: (n: number) => number
  /** The stored progress. */
  #progress: FoldingProgress
  /** The last row that was added. */
  #last: Pick<StagedRow, "at" | "n">
  /** Records added since the last stored progress. */
  #pendingRecords = 0
  /**
   * Counts of content dropped since the last stored progress, by kind. The counts are stored together with the next
   * progress.
   */
  #lost: KindTotals = {}

  constructor(host: FoldingHost, staged: StagedFile) {
    const { store, staging } = host
    const isSealed = staged.isSealed === true
    this.#host = host
    this.#staged = staged
    this.#hasOnlyFolded = store.readNewestPos() === 0
    const closedIds = { has: (id: string) => this.#isIdTaken(id), add() {} }
    this.#assembler = createAssembler(closedIds, staging.listWaitingCalls(), isSealed)
    this.#writer = new TranscriptWriter(host, isSealed, (id) => this.#foldedIds.add(id))
    this.#toRecordNumber = createRecordNumbering(staging)
    this.#progress = staging.readFoldingProgress()
    this.#last = this.#progress
  }

  /**
   * Returns the next batch. Records with positions are read in file order, in which a question that was queued follows
   * the answer before it.
   */
  readNext(): StagedRow[] {
    const { staging } = this.#host
    this.lookForMessages()
    return this.#staged.isPlaced ? staging.readNextInFileOrder(this.#last.n) : staging.readNextByTime(this.#last)
  }

  /**
   * Checks for new messages. Called after each yield, because a message that was sent in the meantime may have taken an
   * id of the file.
   */
  lookForMessages(): void {
    const { store } = this.#host
    this.#hasOnlyFolded &&= store.countQueued() === 0 && store.readWithdrawnSince(0).length === 0
  }

  /** Assembles a row, and commits the turn that it completes. Returns whether that changed an earlier turn. */
  addRow(row: StagedRow): boolean {
    const record = rowToRecord(row)
    const assembled = record === null ? [] : this.#assembler.addRecord(record, this.#toRecordNumber(row.n))
    // The record that completes a turn belongs to the next turn, so the stored progress ends before this record.
    const isTurnComplete = assembled.some((item) => item.kind === "message")
    if (assembled.length > 0) this.#commit(assembled, isTurnComplete ? this.#nextProgress() : this.#progress)
    if (isTurnComplete) this.#pendingRecords = 0
    if (record !== null && record.type !== "signature") this.#pendingRecords += 1
    this.#last = { at: row.at, n: row.n }
    return assembled.some((item) => item.kind === "late" && item.events.length > 0)
  }

  /** Commits the last turn. */
  finish(): void {
    this.#commit(this.#assembler.end(), { ...this.#last, folded: this.#staged.records })
  }

  #isIdTaken(id: string): boolean {
    return (!this.#hasOnlyFolded || this.#foldedIds.mayHave(id)) && this.#host.store.isIdTaken(id)
  }

  #nextProgress(): FoldingProgress {
    return { ...this.#last, folded: this.#progress.folded + this.#pendingRecords }
  }

  #commit(assembled: readonly (AssembledMessage | LateEvents)[], progress: FoldingProgress): void {
    const { store, staging } = this.#host
    store.atomically(() => {
      const lost = addTotals([this.#lost, ...assembled.map((item) => this.#writer.writeItem(item))])
      if (progress !== this.#progress) {
        staging.setFoldingProgress(progress)
        staging.addKinds(lost)
      }
      this.#lost = progress === this.#progress ? lost : {}
    })
    this.#progress = progress
  }
}

/** Maps the number of a staged row to its index in the whole file. */
function createRecordNumbering(staging: StagedRows): (n: number) => number {
  const recordsBefore = new Map<number, number>()
  let records = 0
  for (const [part, tally] of staging.readParts()) {
    recordsBefore.set(part, records)
    records += tally.records
  }
  return (n) => (n % ROWS_PER_PART) + (recordsBefore.get(Math.floor(n / ROWS_PER_PART)) ?? 0)
}

/** Parses a staged row. It was valid when it was staged. */
function rowToRecord({ line, at }: StagedRow): StreamRecord | null {
  const record = parseRecord(parseJsonToDepth(line))
  if (!record.ok) return null
  const timestamp = new Date(at).toISOString()
  const { value } = record
  if (value.type !== "assistant_message" || value.started === undefined) return { ...value, timestamp }
  const startMs = Date.parse(value.started)
  return { ...value, timestamp, started: Number.isNaN(startMs) ? undefined : new Date(startMs).toISOString() }
}
