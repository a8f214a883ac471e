/**
 * agent-ask-rows.ts: the rows of what agents ask each other.
 *
 * `begun`: turns that an agent began here, and whom their answers are owed. `asked`: what this session asked others, until
 * it has its answer. Neither process has to live for the other side to come to its end.
 */

import type { AgentTag, Channel } from "../../shared/protocol/event.ts"
import { fromJson, numberOrNull, type Row, text } from "./row-codec.ts"

/** A turn that an agent began: by asking, or (`callback`) by answering. */
export interface Begun {
  /** Of the message that began it, and of the exchange on both sides. */
  readonly id: string
  readonly mode: "sync" | "async" | "callback"
  /** The session and the call that its answer is owed; of a callback, the call that it answered. */
  readonly session: string
  readonly call_id: string
  /** Sessions that led here, the first one first. */
  readonly path: readonly string[]
  /** How many agents asked or answered one another since a person spoke. */
  readonly depth: number
  /** Questions between agents that it may still bring about. */
  readonly budget: number
}

/** A question of ours that has no answer yet. */
export interface Asked {
  readonly id: string
  readonly call_id: string
  /** The session and the agent that were asked. */
  readonly session: string
  readonly agent: string
  readonly mode: "sync" | "async"
  /** For the turn that its late answer begins. */
  readonly budget: number
  /** When it is given up, in milliseconds since 1970; null where the turn itself waits for it. */
  readonly until: number | null
}

/** On which channel the tools of a turn are dispatched: only one that a person began may cue cards. DESIGN §8. */
export function channelOf(begun: Begun | null, answer: AgentTag | null): Channel {
  switch (begun?.mode) {
    case "sync":
      return "subagent"
    case "async":
      return "agent"
    case "callback":
      // What this session asked in a turn that was not a person's.
      return begun.path.length === 0 ? "user" : "agent"
    case undefined:
      // From a file: nobody waits for it, but nor did a person ask.
      return answer === null ? "user" : "agent"
  }
}

export type AskRows = ReturnType<typeof createAskRows>

export function createAskRows(all: (query: string, ...values: SqlStorageValue[]) => Row[]) {
  return {
    /** The turn of this exchange, if an agent began it. */
    begunBy(exchange: string): Begun | null {
      const [row] = all("SELECT * FROM begun WHERE id = ?", exchange)
      return row === undefined ? null : begunOf(row)
    },

    addBegun({ id, mode, session, call_id, path, depth, budget }: Begun): void {
      all(
        "INSERT OR IGNORE INTO begun (id, mode, session, call_id, path, depth, budget, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[id, mode, session, call_id, JSON.stringify(path), depth, budget, mode === "callback" ? 0 : 1],
      )
    },

    /** Those whose answer was not handed over yet. */
    owed: (): Begun[] => all("SELECT * FROM begun WHERE owed = 1").map(begunOf),

    hasOwed: (): boolean => all("SELECT 1 FROM begun WHERE owed = 1 LIMIT 1").length > 0,

    handOver(id: string): void {
      all("UPDATE begun SET owed = 0 WHERE id = ? AND owed = 1", id)
    },

    /** A question that goes out now; one that goes out again stays as it is. */
    addAsked({ id, call_id, session, agent, mode, budget, until }: Asked): void {
      all(
        "INSERT OR IGNORE INTO asked (id, call_id, session, agent, mode, budget, until, open) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
        ...[id, call_id, session, agent, mode, budget, until],
      )
    },

    /** Those that have no answer yet. */
    openAsked: (): Asked[] => all("SELECT * FROM asked WHERE open = 1").map(askedOf),

    closeAsked(id: string): void {
      all("UPDATE asked SET open = 0 WHERE id = ? AND open = 1", id)
    },

    /** When the next of them is given up; null where none is. */
    nextGivenUp: (): number | null => numberOrNull(all("SELECT min(until) AS at FROM asked WHERE open = 1")[0]?.["at"]),

    /** Sessions that were ever asked: they go when this one goes. */
    sessionsAsked: (): string[] => all("SELECT DISTINCT session FROM asked").map((row) => text(row["session"])),
  }
}

function begunOf(row: Row): Begun {
  return {
    id: text(row["id"]),
    mode: text(row["mode"]) as Begun["mode"],
    session: text(row["session"]),
    call_id: text(row["call_id"]),
    path: fromJson<string[]>(row["path"]) ?? [],
    depth: Number(row["depth"]),
    budget: Number(row["budget"]),
  }
}

function askedOf(row: Row): Asked {
  return {
    id: text(row["id"]),
    call_id: text(row["call_id"]),
    session: text(row["session"]),
    agent: text(row["agent"]),
    mode: text(row["mode"]) as Asked["mode"],
    budget: Number(row["budget"]),
    until: numberOrNull(row["until"]),
  }
}
