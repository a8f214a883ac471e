/** import-progress.ts: reads the progress of an import, as clients receive it, from its rows. */

import { MAX_BAD_LINES } from "../../shared/limits.ts"
import type { ImportProgress } from "../../shared/protocol/http-body.ts"
import type { StagedRows } from "./staged-rows.ts"

const NO_IMPORT: ImportProgress = { state: "none", records: 0, folded: 0, bad: [], skipped: 0, isSealed: false }

/**
 * Reads the progress. `recordsByPart` contains the parts that are being uploaded, with the number of records received
 * so far.
 */
export function readImportProgress(staging: StagedRows, recordsByPart: ReadonlyMap<number, number>): ImportProgress {
  const state = staging.readState()
  if (state === null) return NO_IMPORT
  if (state.step === "staging") return readStagingProgress(staging, state.of, recordsByPart)
  const { step, records, bad, skipped } = state
  if (step === "failed") return { state: step, records, folded: 0, bad, skipped, isSealed: false }
  const folded = step === "done" ? records : staging.readFoldingProgress().folded
  const { messages, kinds = {} } = state
  return {
    state: step,
    records,
    folded,
    bad,
    skipped,
    isSealed: state.isSealed === true,
    ...(messages === undefined ? {} : { messages }),
    ...(Object.keys(kinds).length === 0 ? {} : { kinds }),
  }
}

function readStagingProgress(
  staging: StagedRows,
  of: number,
  recordsByPart: ReadonlyMap<number, number>,
): ImportProgress {
  const parts = staging.readParts()
  const tallies = [...parts.values()]
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((part) => !parts.has(part))
  return {
    state: "staging",
    records: sumNumbers([...tallies.map(({ records }) => records), ...recordsByPart.values()]),
    folded: 0,
    isSealed: false,
    bad: tallies.flatMap(({ bad }) => bad).slice(0, MAX_BAD_LINES),
    skipped: sumNumbers(tallies.map(({ skipped }) => skipped)),
    ...(of > 1 ? { parts: { of, missing } } : {}),
  }
}

function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, count) => total + count, 0)
}
