/**
 * staging.ts: the rows of a file that is being imported, until each of its turns is folded.
 */

import type { Sql } from "./erase.ts"
import { toJson } from "./rows.ts"

/** How an import stands, in the session's row. */
export interface ImportState {
  /** What the file was known by: the same again adds nothing, another is refused. */
  readonly source: string
  /** Its seal is ours: cards are shown as they were. */
  readonly isSealed: boolean
  readonly records: number
  readonly isDone: boolean
  /** Where its active path ended; null: at its newest message. */
  readonly tip: number | null
  readonly title: string
}

export interface StagedLine {
  readonly n: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly line: string
}

export type Staging = ReturnType<typeof createStaging>

export function createStaging(sql: Sql) {
  const linesOf = (query: string, ...values: SqlStorageValue[]): StagedLine[] =>
    sql.exec<{ n: number; at: number; line: string }>(query, ...values).toArray()
  return {
    add({ n, at, line }: StagedLine): void {
      sql.exec("INSERT OR REPLACE INTO staged (n, at, line) VALUES (?, ?, ?)", n, at, line)
    },
    clear(): void {
      sql.exec("DELETE FROM staged")
    },
    /** In reading order: by time, then as the file has them. */
    next: (after: Pick<StagedLine, "at" | "n">, limit: number): StagedLine[] =>
      linesOf("SELECT n, at, line FROM staged WHERE (at, n) > (?, ?) ORDER BY at, n LIMIT ?", after.at, after.n, limit),
    drop(lines: readonly Pick<StagedLine, "n">[]): void {
      for (const { n } of lines) sql.exec("DELETE FROM staged WHERE n = ?", n)
    },
    state(): ImportState | null {
      const text = sql.exec("SELECT import FROM session").toArray()[0]?.["import"]
      return typeof text === "string" ? (JSON.parse(text) as ImportState) : null
    },
    setState(state: ImportState | null): void {
      sql.exec("UPDATE session SET import = ?", toJson(state))
    },
  }
}
