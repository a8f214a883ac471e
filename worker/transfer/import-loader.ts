/**
 * import-loader.ts: the part of the import code that every session has in memory. The loader loads the rest on the
 * first import.
 *
 * An import that an earlier process has begun pauses turns at once, before the import code is loaded.
 */

import type { Result } from "../../shared/fault.ts"
import type { ImportAnswer, ImportProgress } from "../../shared/protocol/http-body.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"
import { computeStagingEnd, readImportState } from "./import-state.ts"
import type { Importer, ImportParts } from "./session-import.ts"
import { TurnPause } from "./turn-pause.ts"

export class ImportLoader {
  readonly #parts: ImportParts
  readonly #pause: TurnPause
  #importer: Promise<Importer> | null = null

  constructor(parts: ImportParts) {
    this.#parts = parts
    this.#pause = new TurnPause(parts.turns, parts.resume)
  }

  /** See `Importer.importPart`. */
  async importPart(place: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> {
    return await (await this.#load()).importPart(place, body)
  }

  async readProgress(): Promise<ImportProgress> {
    return (await this.#load()).readProgress()
  }

  /** Returns when the object must be woken, in milliseconds since 1970; null if no import is in progress. */
  nextAlarmAt(): number | null {
    const { sql, times, now } = this.#parts
    return computeAlarmTime(sql, times, now)
  }

  /** Continues an import from its stored state, or drops one that was not completed in time. */
  async resumeImport(): Promise<void> {
    const state = readImportState(this.#parts.sql)
    if (state === null || state.step === "done" || state.step === "failed") return
    this.#pause.begin()
    await (await this.#load()).resumeImport()
  }

  #load(): Promise<Importer> {
    this.#importer ??= import("./session-import.ts").then((code) => code.createImporter(this.#parts, this.#pause))
    return this.#importer
  }
}

function computeAlarmTime(sql: SqlExecutor, times: TimeLimits, now: () => number): number | null {
  const state = readImportState(sql)
  if (state?.step === "folding") return now() + times.alarmMs
  return state?.step === "staging" ? computeStagingEnd(state, times) : null
}
