/**
 * session-import.ts: what comes in for one session: one file, or a file in numbered parts; where it is, and what is next.
 *
 * upload → STAGE → all parts here → FOLD → a new epoch
 * The rows say how it stands, so that it goes on after any restart and whether or not anybody waits for it. From its
 * first byte on, until it is folded or given up, no turn begins: what is sent meanwhile waits in the queue.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { ImportAnswer, ImportProgress } from "../../shared/protocol/http-body.ts"
import { MAX_BAD_LINES } from "../../shared/limits.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import { copyStagedAssets } from "./copy-assets.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { foldStagedFile, type FoldingHost, verifySeal, computeWholeSource } from "./fold-import.ts"
import { computePartSource, stagePart } from "./stage-upload.ts"
import type { StagedFile } from "./staged-rows.ts"
import type { TurnScheduler } from "../turn/turn-scheduler.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"

/** Failures of one turn after which a file is given up: over minutes, since the alarm tries again each time. */
export const MAX_FOLDING_TRIES = 8

/** A file that comes whole. */
export const WHOLE_FILE: ImportPart = { part: 1, of: 1 }

export interface ImportHost extends FoldingHost {
  readonly turns: TurnScheduler
  readonly times: TimeLimits
  readonly now: () => number
  readonly armAlarm: () => void
  /** Begins what waits. */
  readonly resume: () => void
  /** Another transcript stands in the rows, all of a file or nothing of it: every client is to read them. */
  readonly onFolded: (staged: Pick<StagedFile, "tip" | "title">) => Promise<void>
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface Importer {
  /** Takes a file, or a part in the place of what came of it before. Answers when it is staged, and a whole file when it is folded, if that is soon. */
  importPart(place: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>>
  readProgress(): ImportProgress
  /** When the object has to be woken, in milliseconds since 1970; null: nothing is under way. */
  nextAlarmAt(): number | null
  /** Goes on with what the rows say, or gives up what was not completed in time. */
  resumeImport(): Promise<void>
}

const NO_IMPORT: ImportProgress = { state: "none", records: 0, folded: 0, bad: [], skipped: 0, isSealed: false }

export function createImporter(host: ImportHost): Importer {
  const { staging, store, times, now } = host
  /** Records of the parts that are coming in. */
  const recordsByPart = new Map<number, number>()
  const turnPause = createTurnPause(host)
  let foldingNow: Promise<void> | null = null

  /** Nothing of it is kept, and the session is as it was. */
  const discardImport = async (): Promise<void> => {
    store.atomically(() => {
      staging.clear()
      staging.setState(null)
    })
    await turnPause.end()
  }
  /** An upload that failed, with no other part here or on its way. */
  const discardIfEmpty = async (): Promise<void> => {
    if (recordsByPart.size === 0 && staging.readParts().size === 0) await discardImport()
  }
  const startFolding = (): Promise<void> => {
    foldingNow ??= foldStagedImport(host)
      .then(turnPause.end, handleFoldFailure)
      .finally(() => {
        foldingNow = null
      })
    return foldingNow
  }
  const handleFoldFailure = async (error: unknown): Promise<void> => {
    if (error instanceof SessionErasedError) return
    host.log("import_error", { message: error instanceof Error ? error.message : "unknown" })
    try {
      // Its rows are as they were: the alarm goes on with them.
      if (canRetryFolding(host)) return host.armAlarm()
    } catch {
      return host.armAlarm()
    }
    // What failed after all of it was there, and what fails each time, keeps nobody waiting.
    await turnPause.end()
  }
  /** Why this part cannot be taken now; null where it can. */
  const findRefusal = ({ part, of }: ImportPart): Result<never> | null => {
    const state = staging.readState()
    if ((state === null || state.step === "failed") && !turnPause.isPaused()) {
      if (store.readNewestPos() > 0) return fail({ reason: "session_begun" })
      return host.turns.isActive() ? fail({ reason: "turn_running" }) : null
    }
    const isOther = state?.step === "staging" && state.of !== of
    return isOther || recordsByPart.has(part) ? fail({ reason: "import_running" }) : null
  }
  const createAnswer = (duplicate = false): Result<ImportAnswer> => succeed({ ...readProgress(), duplicate })
  const readProgress = (): ImportProgress => {
    const state = staging.readState()
    if (state === null) return NO_IMPORT
    if (state.step === "staging") return readStagingProgress(host, state.of, recordsByPart)
    const { step, records, bad, skipped } = state
    if (step === "failed") return { state: step, records, folded: 0, bad, skipped, isSealed: false }
    const { isSealed } = state
    const folded = step === "done" ? records : staging.readFoldingProgress().folded
    return { state: step, records, folded, bad, skipped, isSealed: isSealed === true }
  }
  const stageNewPart = async (place: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> => {
    const staged = await stagePartInto(host, place, body, recordsByPart).catch(async (error: unknown) => {
      await discardIfEmpty()
      throw error
    })
    if (!staged.ok) {
      await discardIfEmpty()
      return staged
    }
    host.armAlarm()
    if (recordsByPart.size > 0 || staging.readParts().size < place.of) return createAnswer()
    if (!completeStaging(host)) {
      await discardImport()
      return fail({ reason: "import_empty" })
    }
    const folded = startFolding()
    if (place.of === 1) await waitAtMost(times.importAnswerMs, folded)
    return createAnswer()
  }

  return {
    readProgress,
    async importPart(place, body) {
      const known = staging.readState()
      if (known?.step === "folding" || known?.step === "done") {
        return await matchKnownImport(host, known, place, body, createAnswer)
      }
      const refusal = findRefusal(place)
      if (refusal !== null) {
        await body.cancel().catch(() => {})
        return refusal
      }
      turnPause.begin()
      return await stageNewPart(place, body)
    },
    nextAlarmAt() {
      const state = staging.readState()
      if (state?.step === "folding") return now() + times.alarmMs
      return state?.step === "staging" ? state.touched + times.importStagedMs : null
    },
    async resumeImport() {
      const state = staging.readState()
      if (state === null || state.step === "done" || state.step === "failed") return
      turnPause.begin()
      if (state.step !== "staging") return await startFolding()
      // One that came whole is lost with the process that took it; of several parts the others may still come.
      const isLost = state.of === 1 || state.touched + times.importStagedMs <= now()
      if (recordsByPart.size === 0 && isLost) await discardImport()
    },
  }
}

/** Keeps turns from beginning, once however often it is begun. */
function createTurnPause({ turns, resume: goOn }: ImportHost) {
  let pause: { readonly finished: Promise<void>; readonly end: () => void } | null = null
  return {
    isPaused: () => pause !== null,
    begin(): void {
      if (pause !== null) return
      const { promise, resolve } = Promise.withResolvers<void>()
      pause = { finished: turns.withTurnsPaused(() => promise), end: resolve }
    },
    async end(): Promise<void> {
      const ending = pause
      ending?.end()
      await ending?.finished
      pause = null
      goOn()
    },
  }
}

/** Stages a part and writes down what it came to. */
async function stagePartInto(
  { staging, store, times, now }: ImportHost,
  { part, of }: ImportPart,
  body: ReadableStream<Uint8Array>,
  recordsByPart: Map<number, number>,
): Promise<Result<null>> {
  const markTouched = (): void => staging.setState({ step: "staging", of, touched: now() })
  recordsByPart.set(part, 0)
  try {
    store.atomically(() => {
      // What an upload that broke off, or an earlier one of this part, has left behind.
      if (of === 1) staging.clear()
      else staging.deletePart(part)
      markTouched()
    })
    const onRecords = (records: number): void => void recordsByPart.set(part, records)
    const staged = await stagePart(staging, store.atomically, { part, of, body, idleMs: times.importIdleMs, onRecords })
    store.atomically(() => {
      if (staged.ok) staging.putPart(part, staged.value)
      else staging.deletePart(part)
      markTouched()
    })
    return staged.ok ? succeed(null) : staged
  } finally {
    recordsByPart.delete(part)
  }
}

/** All parts are here: they become one file. False where nothing of it can be used. */
function completeStaging({ staging, store }: ImportHost): boolean {
  const tallies = [...staging.readParts().values()]
  const sum = (key: "records" | "skipped"): number => tallies.reduce((total, tally) => total + tally[key], 0)
  const records = sum("records")
  if (records === 0) return false
  const bad = tallies.flatMap((tally) => tally.bad).slice(0, MAX_BAD_LINES)
  const sources = tallies.map(({ source }) => source)
  store.atomically(() => {
    let clock = 0
    for (const part of staging.readParts().keys()) clock = staging.fillMissingTimes(part, clock)
    const isPlaced = tallies.some((tally) => tally.isPlaced)
    const summary = { records, skipped: sum("skipped"), bad, sources, isPlaced }
    staging.setState({ step: "folding", ...summary, isSealed: null, tip: null, title: "" })
  })
  return true
}

/** Folds all that is staged, from wherever that is. */
async function foldStagedImport(host: ImportHost): Promise<void> {
  const { staging, store } = host
  host.armAlarm()
  let state = staging.readState()
  if (state?.step !== "folding") return
  if (state.isSealed === null) {
    const source = state.sources.length === 1 ? state.sources[0] : await computeWholeSource(host)
    state = { ...(await verifySeal(host, state)), ...(source === undefined ? {} : { source }) }
    staging.setState(state)
  }
  if (state.isCarried !== true) {
    state = await copyStagedAssets(host, state)
    staging.setState(state)
  }
  const { drift } = await foldStagedFile(host, state)
  const done: StagedFile = { ...state, step: "done" }
  store.atomically(() => {
    staging.clear()
    staging.setState(done)
  })
  const { records, skipped, isSealed } = done
  host.log("import_end", { records, skipped, drift, sealed: isSealed })
  await host.onFolded(done)
}

/** Counts a failure of folding. False: all of it is there, or it failed so often that nothing of it is kept. */
function canRetryFolding({ staging, store, nextSeq, onFolded, log }: ImportHost): boolean {
  const state = staging.readState()
  if (state?.step !== "folding") return false
  const at = staging.readFoldingProgress().n
  const count = state.tries?.at === at ? state.tries.count + 1 : 1
  if (count < MAX_FOLDING_TRIES) {
    staging.setState({ ...state, tries: { at, count } })
    return true
  }
  const { records, skipped, bad } = state
  store.atomically(() => {
    staging.undoFolding(nextSeq())
    staging.clear()
    staging.setState({ step: "failed", records, skipped, bad })
  })
  log("import_failed", { records })
  void onFolded({ tip: null, title: "" })
  return false
}

/** A file for a session that was begun from one: the same again adds nothing. */
async function matchKnownImport(
  { times }: ImportHost,
  known: StagedFile,
  { part, of }: ImportPart,
  body: ReadableStream<Uint8Array>,
  createAnswer: (duplicate: boolean) => Result<ImportAnswer>,
): Promise<Result<ImportAnswer>> {
  const source = await computePartSource(body, part, times.importIdleMs)
  if (!source.ok) return source
  const whole = known.sources.length === 1 ? known.sources[0] : known.source
  const isSamePart = known.sources.length === of && known.sources[part - 1] === source.value
  const isSame = of === 1 ? whole === source.value : isSamePart
  return isSame ? createAnswer(true) : fail({ reason: "session_begun" })
}

function readStagingProgress(
  { staging }: ImportHost,
  of: number,
  recordsByPart: ReadonlyMap<number, number>,
): ImportProgress {
  const parts = staging.readParts()
  const here = [...parts.values()]
  const records = [...here.map((tally) => tally.records), ...recordsByPart.values()].reduce(
    (sum, count) => sum + count,
    0,
  )
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((part) => !parts.has(part))
  return {
    state: "staging",
    records,
    folded: 0,
    isSealed: false,
    bad: here.flatMap((tally) => tally.bad).slice(0, MAX_BAD_LINES),
    skipped: here.reduce((sum, tally) => sum + tally.skipped, 0),
    ...(of > 1 ? { parts: { of, missing } } : {}),
  }
}

/** Waits for it, but not longer; the timer goes with it, since an object with a timer is not let go. */
async function waitAtMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
