/**
 * session-import.ts: runs the import of a file, which is uploaded whole or in numbered parts.
 *
 * upload → staging → all parts staged → folding → a new epoch
 * The state of an import is stored, so the import continues after a restart, and even if no client waits for it. From
 * the first byte until the file is folded or dropped, no turn starts, and messages are queued.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { ImportAnswer, ImportProgress } from "../../shared/protocol/http-body.ts"
import { describeError } from "../platform/log.ts"
import { waitAtMost } from "../platform/timeout.ts"
import { SessionErasedError, type SqlExecutor } from "../store/storage-gate.ts"
import { readImportProgress } from "./import-progress.ts"
import type { Env } from "../env.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import type { SessionRow } from "../store/row-codec.ts"
import { createAssetCopier } from "./copy-assets.ts"
import { createStagedRows } from "./staged-rows.ts"
import { computeStagingEnd, type StagedFile } from "./import-state.ts"
import {
  canRetryFolding,
  completeStaging,
  countFoldingTries,
  dropImport,
  failImport,
  foldStagedImport,
  type ImportHost,
  readUploadTimes,
  stageUploadedPart,
} from "./import-steps.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"
import type { TurnPause } from "./turn-pause.ts"

/** The parts of a live session that an import uses. */
export interface ImportParts extends Omit<ImportHost, "staging" | "assetCopier"> {
  readonly env: Env
  readonly row: SessionRow
  readonly sql: SqlExecutor
  readonly assets: AssetRows
}

export function createImporter({ env, row, sql, assets, ...parts }: ImportParts, pause: TurnPause): Importer {
  const assetCopier = createAssetCopier(env, row, assets)
  return new Importer({ ...parts, staging: createStagedRows(sql), assetCopier }, pause)
}

export class Importer {
  readonly #host: ImportHost
  readonly #pause: TurnPause
  /** Parts that are being uploaded, with the number of records received so far. */
  readonly #recordsByPart = new Map<number, number>()
  #folding: Promise<void> | null = null

  /** `pause` keeps turns from starting. The pause may have begun already. */
  constructor(host: ImportHost, pause: TurnPause) {
    this.#host = host
    this.#pause = pause
  }

  /**
   * Accepts a file or a part, replacing an earlier upload of the same part. Resolves when the part is staged; for a
   * whole file, when the file is folded or after `importResponseMs` (SPEC RE33).
   */
  async importPart(place: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> {
    const known = this.#host.staging.readState()
    if (known?.step === "folding" || known?.step === "done") return await this.#matchKnownFile(known, place, body)
    const refusal = this.#findRefusal(place)
    if (refusal !== null) {
      await body.cancel().catch(() => {})
      return refusal
    }
    this.#pause.begin()
    return await this.#stagePart(place, body)
  }

  readProgress(): ImportProgress {
    return readImportProgress(this.#host.staging, this.#recordsByPart)
  }

  /** Continues an import from its stored state, or drops one that was not completed in time. */
  async resumeImport(): Promise<void> {
    const { staging, times, now } = this.#host
    const state = staging.readState()
    if (state === null || state.step === "done" || state.step === "failed") return
    this.#pause.begin()
    if (state.step !== "staging") return await this.#startFolding()
    // A whole file is lost with the process that received it. For a file in parts, the missing parts may still arrive.
    const isLost = state.of === 1 || computeStagingEnd(state, times) <= now()
    if (this.#recordsByPart.size === 0 && isLost) await this.#drop()
  }

  /** Returns the reason to refuse this part now; null if it is accepted. */
  #findRefusal({ part, of }: ImportPart): Result<never> | null {
    const { staging, store, turns } = this.#host
    const state = staging.readState()
    if ((state === null || state.step === "failed") && !this.#pause.isActive()) {
      if (store.readNewestPos() > 0) return fail({ reason: "session_begun" })
      return turns.isActive() ? fail({ reason: "turn_running" }) : null
    }
    const isOtherFile = state?.step === "staging" && state.of !== of
    return isOtherFile || this.#recordsByPart.has(part) ? fail({ reason: "import_running" }) : null
  }

  /** Compares an upload with the file that is already imported (SPEC RE7). */
  async #matchKnownFile(
    known: StagedFile,
    { part, of }: ImportPart,
    body: ReadableStream<Uint8Array>,
  ): Promise<Result<ImportAnswer>> {
    const { computePartSource } = await import("./stage-upload.ts")
    const source = await computePartSource(body, part, readUploadTimes(this.#host.times))
    if (!source.ok) return source
    const knownSource = known.sources.length === 1 ? known.sources[0] : known.source
    const isSamePart = known.sources.length === of && known.sources[part - 1] === source.value
    const isSame = of === 1 ? knownSource === source.value : isSamePart
    return isSame ? this.#answer(true) : fail({ reason: "session_begun" })
  }

  async #stagePart(place: ImportPart, body: ReadableStream<Uint8Array>): Promise<Result<ImportAnswer>> {
    const host = this.#host
    const staged = await stageUploadedPart(host, place, body, this.#recordsByPart).catch(async (error: unknown) => {
      await this.#dropIfEmpty()
      throw error
    })
    if (!staged.ok) {
      await this.#dropIfEmpty()
      return staged
    }
    host.armAlarm()
    if (this.#recordsByPart.size > 0 || host.staging.readParts().size < place.of) return this.#answer()
    if (!completeStaging(host)) {
      await this.#drop()
      return fail({ reason: "import_empty" })
    }
    const folded = this.#startFolding()
    if (place.of === 1) await waitAtMost(folded, host.times.importResponseMs)
    return this.#answer()
  }

  #answer(duplicate = false): Result<ImportAnswer> {
    return succeed({ ...this.readProgress(), duplicate })
  }

  /** Folds the staged file, unless folding is in progress. Never rejects because of the file. */
  #startFolding(): Promise<void> {
    this.#folding ??= foldStagedImport(this.#host)
      .then(
        () => this.#pause.end(),
        (error: unknown) => this.#handleFoldFailure(error),
      )
      .finally(() => {
        this.#folding = null
      })
    return this.#folding
  }

  async #handleFoldFailure(error: unknown): Promise<void> {
    if (error instanceof SessionErasedError) return
    this.#host.log("import_error", { error: describeError(error) })
    try {
      if (this.#scheduleRetry()) return this.#host.armAlarm()
    } catch {
      // The staged rows are unchanged, so the alarm can retry.
      return this.#host.armAlarm()
    }
    await this.#pause.end()
  }

  /** Counts the failure. Returns false if there is nothing left to fold or the file has failed too often. */
  #scheduleRetry(): boolean {
    const { staging } = this.#host
    const state = staging.readState()
    // The file was folded completely; only the notification of clients failed.
    if (state?.step !== "folding") return false
    const tries = countFoldingTries(staging, state)
    if (canRetryFolding(tries)) {
      staging.setState({ ...state, tries })
      return true
    }
    failImport(this.#host, state)
    return false
  }

  async #drop(): Promise<void> {
    dropImport(this.#host)
    await this.#pause.end()
  }

  /** Drops the import after a failed upload, unless another part is staged or being uploaded. */
  async #dropIfEmpty(): Promise<void> {
    if (this.#recordsByPart.size === 0 && this.#host.staging.readParts().size === 0) await this.#drop()
  }
}
