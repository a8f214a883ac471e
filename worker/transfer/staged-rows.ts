/**
 * staged-rows.ts: the rows of a file that is being imported: its records, its parts, and the state of the import.
 *
 * A staged row is one record. Its number contains its part and its index in the part, so the order of the numbers is
 * the order of the file. The rows are kept until all of them are folded; one small row stores the progress.
 */

import { addTotals, type KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import { MAX_IMPORTED_PENDING_CALLS } from "../../shared/limits.ts"
import { findCutIndex } from "../../shared/text/cut-text.ts"
import { toJsonColumn } from "../store/columns.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"
import { type ImportState, type PartTally, readImportState } from "./import-state.ts"

export interface StagedRow {
  readonly n: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly line: string
  /** For an asset record, the session that stores the asset; otherwise null. */
  readonly home: string | null
}

/** A record with its index in its part. */
export interface NewStagedRow extends Omit<StagedRow, "n"> {
  readonly i: number
}

/** The last folded row, in reading order, and the number of folded records. */
export type FoldingProgress = Pick<StagedRow, "at" | "n"> & { readonly folded: number }

/** Row numbers of part p start at p times this number. A part has far fewer lines than that. */
export const ROWS_PER_PART = 2 ** 32

/** Time of the rows that precede a part's first known time, until the last time of the previous part is known. */
export const UNKNOWN_TIME_MS = Number.MIN_SAFE_INTEGER

/** Maximum size of a batch, in rows and in UTF-16 code units. */
export const BATCH_ROWS = 32
export const BATCH_CHARS = 16 * 1024

/** Number of rows that one statement adds. A statement can have at most 100 parameters. */
const ROWS_PER_STATEMENT = 20

/** Maximum number of rows that one statement changes, which takes a few milliseconds. */
const SLICE_ROWS = 1024

export type StagedRows = ReturnType<typeof createStagedRows>

/** `pieces`: how many rows of `staged_piece` continue the line. */
type SqlStagedRow = { readonly [K in keyof StagedRow]: StagedRow[K] } & { readonly pieces: number }

export function createStagedRows(sql: SqlExecutor) {
  const readState = (): ImportState | null => readImportState(sql)
  const setState = (state: ImportState | null): void => {
    sql.exec("UPDATE session SET import = ?", toJsonColumn(state))
  }
  return {
    ...createRecordWrites(sql),
    ...createRecordReads(sql),
    ...createPartTallies(sql),
    ...createFoldingRows(sql),

    readState,

    setState,

    /** Adds the counts of content that folding has dropped to the counts in the stored state. */
    addKinds(lost: KindTotals): void {
      if (Object.keys(lost).length === 0) return
      const state = readState()
      if (state?.step !== "folding") return
      setState({ ...state, kinds: addTotals([state.kinds ?? {}, lost]) })
    },
  }
}

function getRowRange(part: number): readonly [from: number, to: number] {
  return [part * ROWS_PER_PART, (part + 1) * ROWS_PER_PART]
}

function createRecordWrites(sql: SqlExecutor) {
  return {
    /** Adds records of a part. A line that is larger than a row is stored in pieces. */
    addRows(part: number, rows: readonly NewStagedRow[]): void {
      for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
        const some = rows.slice(start, start + ROWS_PER_STATEMENT)
        const values: SqlStorageValue[] = []
        for (const { i, at, line, home } of some) {
          const n = part * ROWS_PER_PART + i
          const [head = "", ...pieces] = cutIntoPieces(line)
          values.push(n, at, head, home, pieces.length)
          for (const [at, text] of pieces.entries()) {
            sql.exec("INSERT OR REPLACE INTO staged_piece (n, i, text) VALUES (?, ?, ?)", n, at, text)
          }
        }
        const places = some.map(() => "(?, ?, ?, ?, ?)").join(", ")
        sql.exec(`INSERT OR REPLACE INTO staged (n, at, line, home, pieces) VALUES ${places}`, ...values)
      }
    },

    /**
     * Sets the missing times at the start of a part to the last time of the previous part. Changes at most SLICE_ROWS
     * rows, and returns whether there may be more.
     */
    fillMissingTimes(part: number, previousTimeMs: number): boolean {
      const slice = "SELECT n FROM staged WHERE at = ? AND n >= ? AND n < ? LIMIT ?"
      const update = `UPDATE staged SET at = ? WHERE n IN (${slice}) RETURNING n`
      const filled = sql.exec(update, previousTimeMs, UNKNOWN_TIME_MS, ...getRowRange(part), SLICE_ROWS)
      return filled.toArray().length === SLICE_ROWS
    },

    /** Returns the time of the last row of a part; undefined if the part has no rows. */
    readLastTime(part: number): number | undefined {
      const query = "SELECT at FROM staged WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1"
      const [last] = sql.exec<{ at: number }>(query, ...getRowRange(part)).toArray()
      return last?.at
    },

    clear(): void {
      sql.exec("DELETE FROM staged")
      sql.exec("DELETE FROM staged_piece")
      sql.exec("DELETE FROM staged_part")
      sql.exec("DELETE FROM folding")
    },
  }
}

/**
 * Maximum length of a row's text, in UTF-16 code units. A row can hold 2 MB, and a code unit takes at most three bytes.
 */
const MAX_PIECE_CHARS = 500_000

function cutIntoPieces(line: string): string[] {
  const pieces: string[] = []
  for (let rest = line; rest !== ""; ) {
    const end = findCutIndex(rest, MAX_PIECE_CHARS)
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return pieces
}

function createRecordReads(sql: SqlExecutor) {
  const joinPieces = ({ pieces, ...row }: SqlStagedRow): StagedRow => {
    if (pieces === 0) return row
    const rest = sql.exec<{ text: string }>("SELECT text FROM staged_piece WHERE n = ? ORDER BY i", row.n).toArray()
    return { ...row, line: row.line + rest.map(({ text }) => text).join("") }
  }

  /** Reads as many rows as fit in a batch, but at least one. */
  function readBatch(query: string, ...values: SqlStorageValue[]): StagedRow[] {
    const rows: SqlStagedRow[] = []
    let chars = 0
    for (const row of sql.exec<SqlStagedRow>(query, ...values, BATCH_ROWS)) {
      rows.push(row)
      chars += row.pieces > 0 ? MAX_PIECE_CHARS : row.line.length
      if (chars >= BATCH_CHARS) break
    }
    // Pieces are joined after the loop, because the next statement ends the cursor.
    return rows.map(joinPieces)
  }

  /** Yields batches of all rows that a query returns after a row number. Each batch is read when it is requested. */
  function* readBatches(query: string): Generator<readonly StagedRow[]> {
    let batch = readBatch(query, 0)
    for (let last = batch.at(-1); last !== undefined; last = batch.at(-1)) {
      yield batch
      batch = readBatch(query, last.n)
    }
  }

  const fileOrderQuery = "SELECT * FROM staged WHERE n > ? ORDER BY n LIMIT ?"
  const assetQuery = "SELECT * FROM staged WHERE home IS NOT NULL AND n > ? ORDER BY n LIMIT ?"
  return {
    /** Returns the next batch by time, then in the order of the file. */
    readNextByTime: (after: Pick<StagedRow, "at" | "n">): StagedRow[] =>
      readBatch("SELECT * FROM staged WHERE (at, n) > (?, ?) ORDER BY at, n LIMIT ?", after.at, after.n),

    /** Returns the next batch in the order of the file. */
    readNextInFileOrder: (afterN: number): StagedRow[] => readBatch(fileOrderQuery, afterN),

    /** Returns all rows in the order of the file. */
    readFileBatches: () => readBatches(fileOrderQuery),

    /** Returns all asset records in the order of the file. */
    readAssetBatches: () => readBatches(assetQuery),

    readLastRow(): StagedRow | null {
      const [row] = sql.exec<SqlStagedRow>("SELECT * FROM staged ORDER BY n DESC LIMIT 1").toArray()
      return row === undefined ? null : joinPieces(row)
    },
  }
}

function createPartTallies(sql: SqlExecutor) {
  return {
    putPart(part: number, tally: PartTally): void {
      sql.exec("INSERT OR REPLACE INTO staged_part (part, tally) VALUES (?, ?)", part, JSON.stringify(tally))
    },

    /** Deletes the tally of a part, so that the part is no longer considered staged. `deleteRows` deletes its rows. */
    deletePartTally(part: number): void {
      sql.exec("DELETE FROM staged_part WHERE part = ?", part)
    },

    /** Deletes rows of a part, at most SLICE_ROWS. Returns whether there may be more. */
    deleteRows(part: number): boolean {
      const slice = "SELECT n FROM staged WHERE n >= ? AND n < ? LIMIT ?"
      const range = getRowRange(part)
      sql.exec(`DELETE FROM staged_piece WHERE n IN (${slice})`, ...range, SLICE_ROWS)
      const deleted = sql.exec(`DELETE FROM staged WHERE n IN (${slice}) RETURNING n`, ...range, SLICE_ROWS)
      return deleted.toArray().length === SLICE_ROWS
    },

    /** Returns the parts that are staged, in order. */
    readParts(): ReadonlyMap<number, PartTally> {
      const rows = sql.exec("SELECT part, tally FROM staged_part ORDER BY part").toArray()
      // `putPart` wrote this column.
      return new Map(rows.map(({ part, tally }) => [Number(part), JSON.parse(String(tally)) as PartTally]))
    },
  }
}

function createFoldingRows(sql: SqlExecutor) {
  return {
    readFoldingProgress(): FoldingProgress {
      const [row] = sql.exec<{ at: number; n: number; folded: number }>("SELECT at, n, folded FROM folding").toArray()
      return row ?? { at: UNKNOWN_TIME_MS, n: 0, folded: 0 }
    },

    setFoldingProgress({ at, n, folded }: FoldingProgress): void {
      sql.exec("INSERT OR REPLACE INTO folding (one, at, n, folded) VALUES (1, ?, ?, ?)", at, n, folded)
    },

    /** Returns folded calls whose final result is still missing, oldest first. */
    listWaitingCalls: () =>
      sql
        .exec<{ id: string; call_id: string; result: string }>(
          `SELECT t.id, c.call_id, c.result FROM tool_calls c JOIN transcript t ON t.pos = c.pos
           WHERE c.status = 'waiting' AND c.result IS NOT NULL ORDER BY c.pos DESC, c.part DESC LIMIT ?`,
          MAX_IMPORTED_PENDING_CALLS,
        )
        .toArray()
        .reverse(),

    /**
     * Returns the number of messages in the transcript, which contains only what was folded. Cost: one row per message.
     */
    countMessages: (): number => Number(sql.exec("SELECT COUNT(*) AS messages FROM transcript").one()["messages"]),

    /** Deletes the transcript, which contains only what was folded. `seq` keeps the assigned seqs from being reused. */
    undoFolding(seq: number): void {
      for (const table of ["transcript", "leaf", "tool_calls", "version", "late"]) sql.exec(`DELETE FROM ${table}`)
      // The sweep of incomplete uploads deletes the copied assets.
      sql.exec("UPDATE asset SET state = 'pending', created = 0 WHERE origin = 'import'")
      sql.exec("UPDATE session SET tip = NULL, late_seq = ?", seq)
    },
  }
}
