/**
 * session-import.ts: what comes in for one session: one file, or a file in numbered parts; where it is, and what is next.
 *
 * upload → STAGE → all parts here → FOLD → a new epoch
 * The rows say how it stands, so that it goes on after any restart and whether or not anybody waits for it. From its
 * first byte on, until it is folded or given up, no turn begins: what is sent meanwhile waits in the queue.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { ImportAnswer, ImportProgress } from "../../shared/protocol/frame.ts"
import { MAX_BAD_LINES } from "../../shared/limits.ts"
import type { Times } from "../platform/time-limits.ts"
import { carryAssets } from "./copy-assets.ts"
import { Erased } from "../store/storage-gate.ts"
import { foldStaged, type FoldingHost, lookAtSeal, sourceOfAll } from "./fold-import.ts"
import { sourceIn, stagePart } from "./stage-upload.ts"
import type { Staged } from "./staged-rows.ts"
import type { Turns } from "../turn/turn-scheduler.ts"

/** Failures of one turn after which a file is given up: over minutes, since the alarm tries again each time. */
export const MAX_FOLDING_TRIES = 8

/** Which part of how many; a file that comes whole is the only part of one. */
export interface PartOf {
  readonly part: number
  readonly of: number
}

/** A file that comes whole. */
export const WHOLE: PartOf = { part: 1, of: 1 }

export interface ImportHost extends FoldingHost {
  readonly turns: Turns
  readonly times: Times
  readonly now: () => number
  readonly armAlarm: () => void
  /** Begins what waits. */
  readonly goOn: () => void
  /** Another transcript stands in the rows, all of a file or nothing of it: every client is to read them. */
  readonly onFolded: (staged: Pick<Staged, "tip" | "title">) => Promise<void>
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface Importer {
  /** Takes a file, or a part in the place of what came of it before. Answers when it is staged, and a whole file when it is folded, if that is soon. */
  take(place: PartOf, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>>
  progress(): ImportProgress
  /** When the object has to be woken, in milliseconds since 1970; null: nothing is under way. */
  nextAlarm(): number | null
  /** Goes on with what the rows say, or gives up what was not completed in time. */
  wake(): Promise<void>
}

const NOTHING: ImportProgress = { state: "none", records: 0, folded: 0, bad: [], skipped: 0, isSealed: false }

export function createImporter(host: ImportHost): Importer {
  const { staging, store, times, now } = host
  /** Records of the parts that are coming in. */
  const incoming = new Map<number, number>()
  const hold = createHold(host)
  let folding: Promise<void> | null = null

  /** Nothing of it is kept, and the session is as it was. */
  const giveUp = async (): Promise<void> => {
    store.atomically(() => {
      staging.clear()
      staging.setState(null)
    })
    await hold.end()
  }
  /** An upload that failed, with no other part here or on its way. */
  const giveUpIfEmpty = async (): Promise<void> => {
    if (incoming.size === 0 && staging.parts().size === 0) await giveUp()
  }
  const fold = (): Promise<void> => {
    folding ??= foldAll(host)
      .then(hold.end, failed)
      .finally(() => {
        folding = null
      })
    return folding
  }
  const failed = async (error: unknown): Promise<void> => {
    if (error instanceof Erased) return
    host.log("import_error", { message: error instanceof Error ? error.message : "unknown" })
    try {
      // Its rows are as they were: the alarm goes on with them.
      if (isToGoOn(host)) return host.armAlarm()
    } catch {
      return host.armAlarm()
    }
    // What failed after all of it was there, and what fails each time, keeps nobody waiting.
    await hold.end()
  }
  /** Why this part cannot be taken now; null where it can. */
  const refuse = ({ part, of }: PartOf): Result<never> | null => {
    const state = staging.state()
    if ((state === null || state.step === "failed") && !hold.isOn()) {
      if (store.newestPos() > 0) return fail({ reason: "session_begun" })
      return host.turns.isActive() ? fail({ reason: "turn_running" }) : null
    }
    const isOther = state?.step === "staging" && state.of !== of
    return isOther || incoming.has(part) ? fail({ reason: "import_running" }) : null
  }
  const answer = (duplicate = false): Result<ImportAnswer> => succeed({ ...progress(), duplicate })
  const progress = (): ImportProgress => {
    const state = staging.state()
    if (state === null) return NOTHING
    if (state.step === "staging") return stagingProgress(host, state.of, incoming)
    const { step, records, bad, skipped } = state
    if (step === "failed") return { state: step, records, folded: 0, bad, skipped, isSealed: false }
    const { isSealed } = state
    const folded = step === "done" ? records : staging.folding().folded
    return { state: step, records, folded, bad, skipped, isSealed: isSealed === true }
  }
  const takeNew = async (place: PartOf, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> => {
    const staged = await stageInto(host, place, body, incoming).catch(async (error: unknown) => {
      await giveUpIfEmpty()
      throw error
    })
    if (!staged.ok) {
      await giveUpIfEmpty()
      return staged
    }
    host.armAlarm()
    if (incoming.size > 0 || staging.parts().size < place.of) return answer()
    if (!complete(host)) {
      await giveUp()
      return fail({ reason: "import_empty" })
    }
    const folded = fold()
    if (place.of === 1) await within(times.importAnswerMs, folded)
    return answer()
  }

  return {
    progress,
    async take(place, body) {
      const known = staging.state()
      if (known?.step === "folding" || known?.step === "done") {
        return await recognise(host, known, place, body, answer)
      }
      const refused = refuse(place)
      if (refused !== null) {
        await body.cancel().catch(() => {})
        return refused
      }
      hold.begin()
      return await takeNew(place, body)
    },
    nextAlarm() {
      const state = staging.state()
      if (state?.step === "folding") return now() + times.alarmMs
      return state?.step === "staging" ? state.touched + times.importStagedMs : null
    },
    async wake() {
      const state = staging.state()
      if (state === null || state.step === "done" || state.step === "failed") return
      hold.begin()
      if (state.step !== "staging") return await fold()
      // One that came whole is lost with the process that took it; of several parts the others may still come.
      const isLost = state.of === 1 || state.touched + times.importStagedMs <= now()
      if (incoming.size === 0 && isLost) await giveUp()
    },
  }
}

/** Keeps turns from beginning, once however often it is begun. */
function createHold({ turns, goOn }: ImportHost) {
  let on: { readonly held: Promise<void>; readonly end: () => void } | null = null
  return {
    isOn: () => on !== null,
    begin(): void {
      if (on !== null) return
      const { promise, resolve } = Promise.withResolvers<void>()
      on = { held: turns.hold(() => promise), end: resolve }
    },
    async end(): Promise<void> {
      const ending = on
      ending?.end()
      await ending?.held
      on = null
      goOn()
    },
  }
}

/** Stages a part and writes down what it came to. */
async function stageInto(
  { staging, store, times, now }: ImportHost,
  { part, of }: PartOf,
  body: ReadableStream<Uint8Array>,
  incoming: Map<number, number>,
): Promise<Result<null>> {
  const touch = (): void => staging.setState({ step: "staging", of, touched: now() })
  incoming.set(part, 0)
  try {
    store.atomically(() => {
      // What an upload that broke off, or an earlier one of this part, has left behind.
      if (of === 1) staging.clear()
      else staging.dropPart(part)
      touch()
    })
    const onRecords = (records: number): void => void incoming.set(part, records)
    const staged = await stagePart(staging, store.atomically, { part, of, body, idleMs: times.importIdleMs, onRecords })
    store.atomically(() => {
      if (staged.ok) staging.putPart(part, staged.value)
      else staging.dropPart(part)
      touch()
    })
    return staged.ok ? succeed(null) : staged
  } finally {
    incoming.delete(part)
  }
}

/** All parts are here: they become one file. False where nothing of it can be used. */
function complete({ staging, store }: ImportHost): boolean {
  const tallies = [...staging.parts().values()]
  const sum = (key: "records" | "skipped"): number => tallies.reduce((total, tally) => total + tally[key], 0)
  const records = sum("records")
  if (records === 0) return false
  const bad = tallies.flatMap((tally) => tally.bad).slice(0, MAX_BAD_LINES)
  const sources = tallies.map(({ source }) => source)
  store.atomically(() => {
    let clock = 0
    for (const part of staging.parts().keys()) clock = staging.setTimes(part, clock)
    const isPlaced = tallies.some((tally) => tally.isPlaced)
    const told = { records, skipped: sum("skipped"), bad, sources, isPlaced }
    staging.setState({ step: "folding", ...told, isSealed: null, tip: null, title: "" })
  })
  return true
}

/** Folds all that is staged, from wherever that is. */
async function foldAll(host: ImportHost): Promise<void> {
  const { staging, store } = host
  host.armAlarm()
  let state = staging.state()
  if (state?.step !== "folding") return
  if (state.isSealed === null) {
    const source = state.sources.length === 1 ? state.sources[0] : await sourceOfAll(host)
    state = { ...(await lookAtSeal(host, state)), ...(source === undefined ? {} : { source }) }
    staging.setState(state)
  }
  if (state.isCarried !== true) {
    state = await carryAssets(host, state)
    staging.setState(state)
  }
  const { drift } = await foldStaged(host, state)
  const done: Staged = { ...state, step: "done" }
  store.atomically(() => {
    staging.clear()
    staging.setState(done)
  })
  const { records, skipped, isSealed } = done
  host.log("import_end", { records, skipped, drift, sealed: isSealed })
  await host.onFolded(done)
}

/** Counts a failure of folding. False: all of it is there, or it failed so often that nothing of it is kept. */
function isToGoOn({ staging, store, nextSeq, onFolded, log }: ImportHost): boolean {
  const state = staging.state()
  if (state?.step !== "folding") return false
  const at = staging.folding().n
  const count = state.tries?.at === at ? state.tries.count + 1 : 1
  if (count < MAX_FOLDING_TRIES) {
    staging.setState({ ...state, tries: { at, count } })
    return true
  }
  const { records, skipped, bad } = state
  store.atomically(() => {
    staging.undo(nextSeq())
    staging.clear()
    staging.setState({ step: "failed", records, skipped, bad })
  })
  log("import_failed", { records })
  void onFolded({ tip: null, title: "" })
  return false
}

/** A file for a session that was begun from one: the same again adds nothing. */
async function recognise(
  { times }: ImportHost,
  known: Staged,
  { part, of }: PartOf,
  body: ReadableStream<Uint8Array>,
  answer: (duplicate: boolean) => Result<ImportAnswer>,
): Promise<Result<ImportAnswer>> {
  const source = await sourceIn(body, part, times.importIdleMs)
  if (!source.ok) return source
  const whole = known.sources.length === 1 ? known.sources[0] : known.source
  const isCutSo = known.sources.length === of && known.sources[part - 1] === source.value
  const isSame = of === 1 ? whole === source.value : isCutSo
  return isSame ? answer(true) : fail({ reason: "session_begun" })
}

function stagingProgress({ staging }: ImportHost, of: number, incoming: ReadonlyMap<number, number>): ImportProgress {
  const parts = staging.parts()
  const here = [...parts.values()]
  const records = [...here.map((tally) => tally.records), ...incoming.values()].reduce((sum, count) => sum + count, 0)
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((part) => !parts.has(part))
  return {
    ...{ state: "staging", records, folded: 0, isSealed: false },
    bad: here.flatMap((tally) => tally.bad).slice(0, MAX_BAD_LINES),
    skipped: here.reduce((sum, tally) => sum + tally.skipped, 0),
    ...(of > 1 ? { parts: { of, missing } } : {}),
  }
}

/** Waits for it, but not longer; the timer goes with it, since an object with a timer is not let go. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
