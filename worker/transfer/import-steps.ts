/**
 * import-steps.ts: the steps of an import: stage its parts, combine them into a file, fold the file, or drop it.
 *
 * Each step stores its result, so that after a restart an import continues from the last stored result.
 */

import { MAX_BAD_LINES } from "../../shared/limits.ts"
import { addTotals, type KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import { type Result, succeed } from "../../shared/fault.ts"
import type { Log } from "../platform/log.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { TurnScheduler } from "../turn/turn-scheduler.ts"
import { type AssetCopier, copyStagedAssets } from "./copy-assets.ts"
import type { FoldingHost } from "./fold-import.ts"
import type { FoldingTries, StagedFile } from "./import-state.ts"
import type { StagedRows } from "./staged-rows.ts"
import { computeFileSource, verifySeal } from "./verify-seal.ts"
import type { UploadTimes } from "./upload-lines.ts"
import { createYielder } from "./yielder.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"

/**
 * Number of failures at the same turn after which an import fails. The alarm retries after each failure, so the
 * failures are spread over several minutes.
 */
export const MAX_FOLDING_TRIES = 8

export interface ImportHost extends FoldingHost {
  readonly turns: TurnScheduler
  readonly times: TimeLimits
  readonly now: () => number
  readonly armAlarm: () => void
  /** Starts the turns of queued messages. */
  readonly resume: () => void
  readonly assetCopier: AssetCopier
  /** Returns the key that seals a tenant's exports; by default, this tenant's key. */
  readonly getSealKey: (tenant?: string) => Promise<CryptoKey>
  /** Called when the transcript has been emptied, or replaced by the imported one. Clients must load it again. */
  readonly onFolded: (staged: Pick<StagedFile, "tip" | "title">) => Promise<void>
  readonly log: Log
}

/**
 * Stages one part, replacing any earlier upload of the same part. While this runs, `recordsByPart` contains the part's
 * number of records.
 *
 * Errors: those of `stagePart`; after an error, the part is deleted.
 */
export async function stageUploadedPart(
  { staging, store, times, now }: ImportHost,
  { part, of, sealedBy }: ImportPart,
  body: ReadableStream<Uint8Array>,
  recordsByPart: Map<number, number>,
): Promise<Result<null>> {
  const known = staging.readState()
  const began = (known?.step === "staging" && of > 1 ? known.began : undefined) ?? now()
  const seal = sealedBy === undefined ? {} : { sealedBy }
  const markTouched = (): void => staging.setState({ step: "staging", of, touched: now(), began, ...seal })
  recordsByPart.set(part, 0)
  try {
    store.atomically(() => {
      if (of === 1) staging.clear()
      else staging.deletePartTally(part)
      markTouched()
    })
    await deleteRows(staging, part)
    const onRecords = (records: number): void => void recordsByPart.set(part, records)
    const upload = { part, of, body, times: readUploadTimes(times), onRecords }
    // Loaded on demand, because few sessions import a file.
    const { stagePart } = await import("./stage-upload.ts")
    const staged = await stagePart(staging, store.atomically, upload)
    if (!staged.ok) await deleteRows(staging, part)
    store.atomically(() => {
      if (staged.ok) staging.putPart(part, staged.value)
      markTouched()
    })
    return staged.ok ? succeed(null) : staged
  } finally {
    recordsByPart.delete(part)
  }
}

async function deleteRows(staging: StagedRows, part: number): Promise<void> {
  const yieldToOthers = createYielder(1)
  while (staging.deleteRows(part)) await yieldToOthers()
}

export function readUploadTimes({ importIdleMs, importUploadMs }: TimeLimits): UploadTimes {
  return { idleMs: importIdleMs, totalMs: importUploadMs }
}

/**
 * Combines the staged parts into one file that is ready to be folded. Returns false if the file has no usable record.
 */
export function completeStaging({ staging, store }: ImportHost): boolean {
  const tallies = [...staging.readParts().values()]
  const sumTallies = (key: "records" | "skipped"): number => tallies.reduce((total, tally) => total + tally[key], 0)
  const records = sumTallies("records")
  if (records === 0) return false
  const bad = tallies.flatMap((tally) => tally.bad).slice(0, MAX_BAD_LINES)
  const sources = tallies.map(({ source }) => source)
  store.atomically(() => {
    const isPlaced = tallies.some((tally) => tally.isPlaced)
    const kinds = addTotals(tallies.map((tally) => tally.kinds ?? {}))
    const title = tallies.findLast((tally) => (tally.title ?? "") !== "")?.title ?? ""
    const state = staging.readState()
    const seal = state?.step === "staging" && state.sealedBy !== undefined ? { sealedBy: state.sealedBy } : {}
    const summary = { records, skipped: sumTallies("skipped"), bad, kinds, sources, isPlaced }
    staging.setState({ step: "folding", ...summary, ...seal, isSealed: null, tip: null, title })
    store.setTranscriptHidden(true)
  })
  return true
}

/** Verifies the seal, copies the assets and folds the records. Steps that are already done are skipped. */
export async function foldStagedImport(host: ImportHost): Promise<void> {
  const { staging, store } = host
  host.armAlarm()
  let state = staging.readState()
  if (state?.step !== "folding") return
  if (state.isSealed === null) {
    await fillMissingTimes(staging)
    state = await identifyFile(host, state)
    staging.setState(state)
  }
  if (state.isCarried !== true) {
    state = await copyStagedAssets(host, state)
    staging.setState(state)
  }
  // Loaded on demand, because few sessions import a file.
  const { foldStagedFile } = await import("./fold-import.ts")
  await foldStagedFile(host, state)
  // The kinds are read again, because folding adds to those of the stored state.
  const kinds = readKinds(staging)
  const done: StagedFile = { ...state, step: "done", messages: staging.countMessages(), kinds }
  store.atomically(() => {
    staging.clear()
    staging.setState(done)
    store.setTranscriptHidden(false)
  })
  const { records, skipped, isSealed } = done
  host.log("import_end", { records, skipped, kinds: Object.keys(kinds).length, sealed: isSealed })
  await host.onFolded(done)
}

function readKinds(staging: StagedRows): KindTotals {
  const state = staging.readState()
  return state?.step === "folding" ? (state.kinds ?? {}) : {}
}

/** Sets the missing times at the start of each part to the last time of the previous part. Can be repeated. */
async function fillMissingTimes(staging: StagedRows): Promise<void> {
  const yieldToOthers = createYielder(1)
  let timeMs = 0
  for (const part of staging.readParts().keys()) {
    while (staging.fillMissingTimes(part, timeMs)) await yieldToOthers()
    timeMs = staging.readLastTime(part) ?? timeMs
  }
}

/** Adds the digest of the whole file and the result of verifying its seal. */
async function identifyFile({ staging, getSealKey }: ImportHost, state: StagedFile): Promise<StagedFile> {
  const source = state.sources.length === 1 ? state.sources[0] : await computeFileSource(staging)
  const verified = await verifySeal(staging, state, () => getSealKey(state.sealedBy))
  return { ...verified, ...(source === undefined ? {} : { source }) }
}

/** Returns the number of consecutive failures at the current row, including the one that just happened. */
export function countFoldingTries(staging: StagedRows, { tries }: StagedFile): FoldingTries {
  const at = staging.readFoldingProgress().n
  return { at, count: tries?.at === at ? tries.count + 1 : 1 }
}

export function canRetryFolding({ count }: FoldingTries): boolean {
  return count < MAX_FOLDING_TRIES
}

/** Abandons an import that cannot be folded. The session is empty afterwards. */
export function failImport({ staging, store, readSeq, onFolded, log }: ImportHost, state: StagedFile): void {
  const { records, skipped, bad } = state
  store.atomically(() => {
    staging.undoFolding(readSeq())
    staging.clear()
    staging.setState({ step: "failed", records, skipped, bad })
  })
  log("import_failed", { records })
  void onFolded({ tip: null, title: "" })
}

/** Drops an import that was not folded. Afterwards, the session is as it was before the import. */
export function dropImport({ staging, store }: ImportHost): void {
  store.atomically(() => {
    staging.clear()
    staging.setState(null)
  })
}
