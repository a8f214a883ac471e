/**
 * import-state.ts: the state of an import, which is stored in the session's row, and the results of staging its parts.
 */

import type { KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import type { BadLine } from "../../shared/protocol/http-body.ts"
import type { ImportPart } from "../platform/rpc/session-types.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"

/** The only part of a file that is sent whole, in one request. */
export const WHOLE_FILE: ImportPart = { part: 1, of: 1 }

/** The result of staging one part. */
export interface PartTally {
  readonly records: number
  readonly skipped: number
  /** The first MAX_BAD_LINES skipped lines. */
  readonly bad: readonly BadLine[]
  /**
   * Counts of content that cannot be shown as it was, by kind. Folding also counts the content that it drops. Absent in
   * a tally stored by an earlier version.
   */
  readonly kinds?: KindTotals
  /** The title that another system gave the conversation. */
  readonly title?: string
  /** Whether the part's records contain positions, as those of our own exports do. */
  readonly isPlaced: boolean
  /** Digest that identifies the part; empty if it has no usable record. */
  readonly source: string
}

/** The stored state of an import. */
export type ImportState = StagingState | StagedFile | FailedImport

/** The state while parts are missing. */
export interface StagingState {
  readonly step: "staging"
  readonly of: number
  /** When a part last started or ended, in milliseconds since 1970. */
  readonly touched: number
  /** When the first part started, in milliseconds since 1970. Absent in a state stored by an earlier version. */
  readonly began?: number
  /** The tenant whose key sealed the file; absent: the session's own. */
  readonly sealedBy?: string
}

/** The state once all parts are staged. */
export interface StagedFile extends Omit<PartTally, "source"> {
  readonly step: "folding" | "done"
  /** Digests of the parts. Uploading the same file again adds nothing; any other file is refused. */
  readonly sources: readonly string[]
  /** Digest of the whole file, if it has more than one part. */
  readonly source?: string
  readonly tries?: FoldingTries
  /**
   * Whether the file has a valid seal of the tenant; if so, its cards are shown as they were. Null until the seal has
   * been checked.
   */
  readonly isSealed: boolean | null
  /** The tenant whose key sealed the file; absent: the session's own. */
  readonly sealedBy?: string
  /** Whether the assets that still exist have been copied. */
  readonly isCarried?: boolean
  /** The end of the file's active path; null if the path ends at the newest message. */
  readonly tip: number | null
  readonly title: string
  /** Number of messages that were imported. Set once the file has been folded. */
  readonly messages?: number
}

/** The number of consecutive failures to fold the records after staged row `at`. */
export interface FoldingTries {
  readonly at: number
  readonly count: number
}

/** The state of an import that could not be folded. No part of the file was kept. */
export interface FailedImport extends Pick<PartTally, "records" | "skipped" | "bad"> {
  readonly step: "failed"
}

/** Returns the state of the session's import; null if there was none. Reads one row. */
export function readImportState(sql: SqlExecutor): ImportState | null {
  const text = sql.exec("SELECT import FROM session").toArray()[0]?.["import"]
  return typeof text === "string" ? (JSON.parse(text) as ImportState) : null
}

/** Returns when a file with missing parts is dropped, in milliseconds since 1970 (SPEC RE31, RE40). */
export function computeStagingEnd({ touched, began = touched }: StagingState, times: TimeLimits): number {
  return Math.min(touched + times.importStagingMs, began + times.importTotalMs)
}
