/**
 * agent-ask-rows.ts: the rows of what agents ask each other.
 *
 * `begun`: turns that an agent began here, and whom their answers are owed. `asked`: what this session asked others, until
 * it has its answer. Neither process has to live for the other side to come to its end.
 */

import type { AgentTag, Channel } from "../../shared/protocol/event.ts"
import { parseJsonColumn, columnToNumberOrNull, type Row, columnToText } from "./row-codec.ts"

/** A turn that an agent began: by asking, or (`callback`) by answering. */
export interface InboundAsk {
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
export interface OutboundAsk {
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
export function selectChannel(ask: InboundAsk | null, tag: AgentTag | null): Channel {
  switch (ask?.mode) {
    case "sync":
      return "subagent"
    case "async":
      return "agent"
    case "callback":
      // What this session asked in a turn that was not a person's.
      return ask.path.length === 0 ? "user" : "agent"
    case undefined:
      // From a file: nobody waits for it, but nor did a person ask.
      return tag === null ? "user" : "agent"
  }
}

export type AgentAskRows = ReturnType<typeof createAgentAskRows>

export function createAgentAskRows(queryAll: (query: string, ...values: SqlStorageValue[]) => Row[]) {
  return {
    /** The turn of this exchange, if an agent began it. */
    findInboundAsk(exchange: string): InboundAsk | null {
      const [row] = queryAll("SELECT * FROM begun WHERE id = ?", exchange)
      return row === undefined ? null : rowToInboundAsk(row)
    },

    addInboundAsk({ id, mode, session, call_id, path, depth, budget }: InboundAsk): void {
      queryAll(
        "INSERT OR IGNORE INTO begun (id, mode, session, call_id, path, depth, budget, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[id, mode, session, call_id, JSON.stringify(path), depth, budget, mode === "callback" ? 0 : 1],
      )
    },

    /** Those whose answer was not handed over yet. */
    listOwedAnswers: (): InboundAsk[] => queryAll("SELECT * FROM begun WHERE owed = 1").map(rowToInboundAsk),

    hasOwedAnswers: (): boolean => queryAll("SELECT 1 FROM begun WHERE owed = 1 LIMIT 1").length > 0,

    markAnswerDelivered(id: string): void {
      queryAll("UPDATE begun SET owed = 0 WHERE id = ? AND owed = 1", id)
    },

    /** A question that goes out now; one that goes out again stays as it is. */
    addOutboundAsk({ id, call_id, session, agent, mode, budget, until }: OutboundAsk): void {
      queryAll(
        "INSERT OR IGNORE INTO asked (id, call_id, session, agent, mode, budget, until, open) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
        ...[id, call_id, session, agent, mode, budget, until],
      )
    },

    /** Those that have no answer yet. */
    listOpenOutboundAsks: (): OutboundAsk[] => queryAll("SELECT * FROM asked WHERE open = 1").map(rowToOutboundAsk),

    closeOutboundAsk(id: string): void {
      queryAll("UPDATE asked SET open = 0 WHERE id = ? AND open = 1", id)
    },

    /** When the next of them is given up; null where none is. */
    nextExpiryMs: (): number | null =>
      columnToNumberOrNull(queryAll("SELECT min(until) AS at FROM asked WHERE open = 1")[0]?.["at"]),

    /** Sessions that were ever asked: they go when this one goes. */
    listAskedSessions: (): string[] =>
      queryAll("SELECT DISTINCT session FROM asked").map((row) => columnToText(row["session"])),
  }
}

function rowToInboundAsk(row: Row): InboundAsk {
  return {
    id: columnToText(row["id"]),
    mode: columnToText(row["mode"]) as InboundAsk["mode"],
    session: columnToText(row["session"]),
    call_id: columnToText(row["call_id"]),
    path: parseJsonColumn<string[]>(row["path"]) ?? [],
    depth: Number(row["depth"]),
    budget: Number(row["budget"]),
  }
}

function rowToOutboundAsk(row: Row): OutboundAsk {
  return {
    id: columnToText(row["id"]),
    call_id: columnToText(row["call_id"]),
    session: columnToText(row["session"]),
    agent: columnToText(row["agent"]),
    mode: columnToText(row["mode"]) as OutboundAsk["mode"],
    budget: Number(row["budget"]),
    until: columnToNumberOrNull(row["until"]),
  }
}
