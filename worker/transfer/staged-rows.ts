/**
 * staged-rows.ts: the rows of a file that is being imported, and how that stands.
 *
 * A row is a record; its number says its part and its place in it, so that rows in the order of their numbers are the
 * file. Rows stay until all of them are folded: how far that is is one small row.
 */

import type { BadLine } from "../../shared/protocol/http-body.ts"
import { MAX_IMPORTED_PENDING_CALLS } from "../../shared/limits.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"
import { toJsonColumn } from "../store/row-codec.ts"

/** What a part came to. */
export interface PartTally {
  readonly records: number
  readonly skipped: number
  /** The first MAX_BAD_LINES of them. */
  readonly bad: readonly BadLine[]
  /** It says where its messages stand, as ours do. */
  readonly isPlaced: boolean
  /** What it is known by; empty where nothing of it can be used. */
  readonly source: string
}

/** How an import stands, in the session's row. */
export type ImportState =
  | {
      readonly step: "staging"
      readonly of: number
      /** When something of it last came in, in milliseconds since 1970. */
      readonly touched: number
    }
  | StagedFile
  /** It could not be folded, and nothing of it is kept. */
  | (Pick<PartTally, "records" | "skipped" | "bad"> & { readonly step: "failed" })

/** All of a file is here. */
export interface StagedFile extends Omit<PartTally, "source"> {
  readonly step: "folding" | "done"
  /** What its parts are known by: the same again adds nothing, another is refused. */
  readonly sources: readonly string[]
  /** What a file in parts is known by where it comes whole. */
  readonly source?: string
  /** How often folding failed since the row `at` was folded, one time after the other. */
  readonly tries?: { readonly at: number; readonly count: number }
  /** Its seal is ours: cards are shown as they were. Null: not looked at yet. */
  readonly isSealed: boolean | null
  /** Its files are here, as far as they are to be had. */
  readonly isCarried?: boolean
  /** Where its active path ended; null: at its newest message. */
  readonly tip: number | null
  readonly title: string
}

export interface StagedRow {
  readonly n: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly line: string
  /** The session whose file it tells of; null: it tells of none. */
  readonly home: string | null
}

/** Where folding is: the last row that is in the transcript, in reading order, and how many are. */
export type FoldingProgress = Pick<StagedRow, "at" | "n"> & { readonly folded: number }

/** Rows of a part have numbers from its own multiple of this on: a part has far fewer lines. */
export const ROWS_PER_PART = 2 ** 32

/** The time of a row that stands before the first time of its part: that of the part before is not known yet. */
export const UNKNOWN_TIME_MS = Number.MIN_SAFE_INTEGER

/** Most that is read at a time, in rows and in UTF-16 code units. */
export const BATCH_ROWS = 32
export const BATCH_CHARS = 16 * 1024

export type StagedRows = ReturnType<typeof createStagedRows>

type SqlStagedRow = { readonly [K in keyof StagedRow]: StagedRow[K] }

export function createStagedRows(sql: SqlExecutor) {
  /** As many rows as fit a batch, one at least. */
  const readBatch = (query: string, ...values: SqlStorageValue[]): StagedRow[] => {
    const lines: StagedRow[] = []
    let chars = 0
    for (const row of sql.exec<SqlStagedRow>(query, ...values, BATCH_ROWS)) {
      lines.push(row)
      chars += row.line.length
      if (chars >= BATCH_CHARS) break
    }
    return lines
  }
  const partRowRange = (part: number): readonly [number, number] => [part * ROWS_PER_PART, (part + 1) * ROWS_PER_PART]
  return {
    /** The `i`-th record of a part. */
    addRow(part: number, i: number, at: number, line: string, home: string | null = null): void {
      const values = [part * ROWS_PER_PART + i, at, line, home]
      sql.exec("INSERT OR REPLACE INTO staged (n, at, line, home) VALUES (?, ?, ?, ?)", ...values)
    },
    clear(): void {
      sql.exec("DELETE FROM staged")
      sql.exec("DELETE FROM staged_part")
      sql.exec("DELETE FROM folding")
    },
    /** Calls that were folded already and whose true result is still to come, the oldest first. */
    listWaitingCalls: () =>
      sql
        .exec<{ id: string; call_id: string; result: string }>(
          `SELECT t.id, c.call_id, c.result FROM tool_calls c JOIN transcript t ON t.pos = c.pos
           WHERE c.status = 'waiting' AND c.result IS NOT NULL ORDER BY c.pos DESC, c.part DESC LIMIT ?`,
          MAX_IMPORTED_PENDING_CALLS,
        )
        .toArray()
        .reverse(),
    /** Takes back what was folded: nothing else stands in a session that a file is folded into. */
    undoFolding(seq: number): void {
      for (const table of ["transcript", "leaf", "tool_calls", "version", "late"]) sql.exec(`DELETE FROM ${table}`)
      // Bytes that came along go with what is announced and never came.
      sql.exec("UPDATE asset SET state = 'pending', created = 0 WHERE origin = 'import'")
      // Numbers that were given are not given again.
      sql.exec("UPDATE session SET tip = NULL, late_seq = ?", seq)
    },
    /** In reading order: by time, then as the file has them. */
    readNextByTime: (after: Pick<StagedRow, "at" | "n">): StagedRow[] =>
      readBatch("SELECT * FROM staged WHERE (at, n) > (?, ?) ORDER BY at, n LIMIT ?", after.at, after.n),
    /** In the order of the file. */
    readNextInFileOrder: (afterN: number): StagedRow[] =>
      readBatch("SELECT * FROM staged WHERE n > ? ORDER BY n LIMIT ?", afterN),
    /** Those that tell of files, in the order of the file. */
    readNextAssets: (afterN: number): StagedRow[] =>
      readBatch("SELECT * FROM staged WHERE home IS NOT NULL AND n > ? ORDER BY n LIMIT ?", afterN),
    readLastRow: (): StagedRow | null =>
      sql.exec<SqlStagedRow>("SELECT * FROM staged ORDER BY n DESC LIMIT 1").toArray()[0] ?? null,
    /** Rows at the head of a part that have no time go with the one before them; the time of its last row. */
    fillMissingTimes(part: number, previousTimeMs: number): number {
      const [from, to] = partRowRange(part)
      sql.exec("UPDATE staged SET at = ? WHERE at = ? AND n >= ? AND n < ?", previousTimeMs, UNKNOWN_TIME_MS, from, to)
      const last = sql.exec("SELECT at FROM staged WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1", from, to)
      return Number(last.toArray()[0]?.["at"] ?? previousTimeMs)
    },
    putPart(part: number, tally: PartTally): void {
      sql.exec("INSERT OR REPLACE INTO staged_part (part, tally) VALUES (?, ?)", part, JSON.stringify(tally))
    },
    deletePart(part: number): void {
      const [from, to] = partRowRange(part)
      sql.exec("DELETE FROM staged_part WHERE part = ?", part)
      sql.exec("DELETE FROM staged WHERE n >= ? AND n < ?", from, to)
    },
    readParts(): ReadonlyMap<number, PartTally> {
      const rows = sql.exec("SELECT part, tally FROM staged_part ORDER BY part").toArray()
      // Our own row: `putPart` wrote it.
      return new Map(rows.map(({ part, tally }) => [Number(part), JSON.parse(String(tally)) as PartTally]))
    },
    readFoldingProgress(): FoldingProgress {
      const [row] = sql.exec<{ at: number; n: number; folded: number }>("SELECT at, n, folded FROM folding").toArray()
      return row ?? { at: UNKNOWN_TIME_MS, n: 0, folded: 0 }
    },
    setFoldingProgress({ at, n, folded }: FoldingProgress): void {
      sql.exec("INSERT OR REPLACE INTO folding (one, at, n, folded) VALUES (1, ?, ?, ?)", at, n, folded)
    },
    readState(): ImportState | null {
      const text = sql.exec("SELECT import FROM session").toArray()[0]?.["import"]
      return typeof text === "string" ? (JSON.parse(text) as ImportState) : null
    },
    setState(state: ImportState | null): void {
      sql.exec("UPDATE session SET import = ?", toJsonColumn(state))
    },
  }
}
