/** session-rows.ts: the single row of the `session` table. */

import type { AgentView } from "../settings/agent-config.ts"
import { toJsonColumn } from "./columns.ts"
import type { Database } from "./database.ts"
import { rowToSession, type SessionRow } from "./row-codec.ts"

/**
 * Where a title comes from: the first words of the conversation (`words` before the model is asked for a title, `asked`
 * after that), the model, or a user (`person`).
 */
export type TitleSource = "words" | "asked" | "model" | "person"

/** The tip of a hidden transcript: a path that ends before the first message, whose position is 1. */
const HIDDEN_TIP = 0

export function createSessionRows({ queryAll, queryFirst }: Database) {
  return {
    readSession(): SessionRow | null {
      const row = queryFirst("SELECT * FROM session")
      return row === null ? null : rowToSession(row)
    },

    createSession(
      row: Omit<SessionRow, "tip" | "late_seq" | "switches" | "erasesAt">,
      erasesAt: number | null = null,
    ): void {
      queryAll(
        `INSERT INTO session (one, id, tenant, user, title, epoch, tip, late_seq, created, agent, family, erases_at)
         VALUES (1, ?, ?, ?, ?, ?, NULL, 0, ?, ?, ?, ?)`,
        row.id,
        row.tenant,
        row.user,
        row.title,
        row.epoch,
        row.created,
        toJsonColumn(row.agent),
        toJsonColumn(row.family),
        erasesAt,
      )
    },

    setErasesAt(atMs: number): void {
      queryAll("UPDATE session SET erases_at = ?", atMs)
    },

    setAgent(agent: AgentView): void {
      queryAll("UPDATE session SET agent = ?", JSON.stringify(agent))
    },

    /** Makes the path that ends at `tip` active. Null means that the path ends at the newest row. */
    setActivePath(epoch: string, tip: number | null): void {
      queryAll("UPDATE session SET epoch = ?, tip = ?", epoch, tip)
    },

    /** Hides all messages from history until an import has been folded. `setActivePath` shows them again. */
    setTranscriptHidden(isHidden: boolean): void {
      queryAll("UPDATE session SET tip = ? WHERE tip IS NULL OR tip = ?", isHidden ? HIDDEN_TIP : null, HIDDEN_TIP)
    },

    /** Stores the ids of the newest version switches. Repeating a switch has no effect. */
    setSwitches(ids: readonly string[]): void {
      queryAll("UPDATE session SET switches = ?", JSON.stringify(ids))
    },
  }
}

/** Creates the queries for the title and its source. */
export function createTitleRows({ queryAll, queryFirst }: Pick<Database, "queryAll" | "queryFirst">) {
  return {
    /**
     * Stores the title. `source`: who wrote the title. The server never replaces a title that a user, or a tool on the
     * user's behalf, wrote.
     */
    setTitle(title: string, source: TitleSource = "person"): void {
      queryAll("UPDATE session SET title = ?, title_source = ?", title, source)
    },

    /**
     * Returns the source of the title; null for a title that was set when the session was created, and in sessions of
     * earlier versions.
     */
    readTitleSource(): TitleSource | null {
      return (queryFirst("SELECT title_source FROM session")?.["title_source"] ?? null) as TitleSource | null
    },

    setTitleSource(source: TitleSource): void {
      queryAll("UPDATE session SET title_source = ?", source)
    },
  }
}
