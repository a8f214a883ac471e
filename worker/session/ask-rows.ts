/**
 * ask-rows.ts: the rows of what agents ask each other: which turn an agent began, and who waits for its answer.
 */

import type { Channel } from "../../shared/event.ts"
import { fromJson, type Row, text } from "./rows.ts"

/** A turn that an agent began, here or (`callback`) by answering. */
export interface AskRow {
  /** Of the question, and of the exchange on both sides. */
  readonly id: string
  readonly mode: "sync" | "async" | "callback"
  /** The session and the call that the answer goes to. */
  readonly session: string
  readonly call_id: string
  /** Sessions that led here, the first one first. */
  readonly path: readonly string[]
  /** How many agents asked or answered one another since a person spoke. */
  readonly depth: number
}

/** On which channel the tools of a turn are dispatched: only a person's own may cue cards. DESIGN §8. */
export function channelOf(ask: AskRow | null): Channel {
  switch (ask?.mode) {
    case "sync":
      return "subagent"
    case "async":
      return "agent"
    case "callback":
    case undefined:
      return "user"
  }
}

export function askOf(row: Row): AskRow {
  return {
    id: text(row["id"]),
    mode: text(row["mode"]) as AskRow["mode"],
    session: text(row["session"]),
    call_id: text(row["call_id"]),
    path: fromJson<string[]>(row["path"]) ?? [],
    depth: Number(row["depth"]),
  }
}

export type AskRows = ReturnType<typeof createAskRows>

export function createAskRows(all: (query: string, ...values: SqlStorageValue[]) => Row[]) {
  return {
    /** The turn of this exchange, if an agent began it. */
    of(exchange: string): AskRow | null {
      const [row] = all("SELECT * FROM ask WHERE id = ?", exchange)
      return row === undefined ? null : askOf(row)
    },

    /** Those whose answer was not handed over yet. */
    open: (): AskRow[] => all("SELECT * FROM ask WHERE open = 1").map(askOf),

    hasOpen: (): boolean => all("SELECT 1 FROM ask WHERE open = 1 LIMIT 1").length > 0,

    add({ id, mode, session, call_id, path, depth }: AskRow): void {
      all(
        "INSERT OR IGNORE INTO ask (id, mode, session, call_id, path, depth, open) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ...[id, mode, session, call_id, JSON.stringify(path), depth, mode === "callback" ? 0 : 1],
      )
    },

    close(id: string): void {
      all("UPDATE ask SET open = 0 WHERE id = ? AND open = 1", id)
    },

    /** Remembers an agent's session, so that it goes when this one goes. */
    addAsked(session: string): void {
      all("INSERT OR IGNORE INTO asked (session) VALUES (?)", session)
    },

    asked: (): string[] => all("SELECT session FROM asked").map((row) => text(row["session"])),
  }
}
