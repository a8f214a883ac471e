/**
 * agent-ask-rows.ts: stores questions between agents.
 *
 * `begun` stores inbound questions: turns that another agent started here, until their answers are delivered. `asked`
 * stores outbound questions, until they are answered. Together they let each side finish after the other restarts. The
 * column `open` of `asked` is 1 while there is no answer, 2 if the answer arrived while the asking version was
 * inactive, and 0 once the question is closed.
 */

import type { AgentTag, Channel } from "../../shared/protocol/event.ts"
import type { AskAnswer, AskLink } from "../platform/rpc/session-types.ts"
import { columnToNumberOrNull, columnToText, parseJsonColumn } from "./columns.ts"
import type { Database, Row } from "./database.ts"

/** A turn that another agent started with a question or, in mode `callback`, with an answer. */
export interface InboundAsk {
  /** The id of the message that started the turn. In both sessions, it is also the id of the exchange. */
  readonly id: string
  readonly mode: "sync" | "async" | "callback"
  /** The session and the call that wait for the answer; in mode `callback`, the call that was answered. */
  readonly session: string
  readonly call_id: string
  /** The sessions that led to this one, in order. */
  readonly path: readonly string[]
  /** Number of questions and answers between agents since the user's last message. */
  readonly depth: number
  /** Number of further questions between agents that this turn may cause. */
  readonly budget: number
}

/** A question from this session to another agent. */
export interface OutboundAsk {
  readonly id: string
  readonly call_id: string
  /** The session and the agent that were asked. */
  readonly session: string
  readonly agent: string
  readonly mode: "sync" | "async"
  /** The budget of the turn that a late answer starts. */
  readonly budget: number
  /** When the question expires, in milliseconds since 1970; null if the turn itself waits for the answer. */
  readonly deadlineMs: number | null
}

/** An answer that arrived while the message version that asked was inactive. */
export interface HeldAnswer {
  readonly ask: OutboundAsk
  readonly answer: AskAnswer
}

/**
 * Returns the channel of a turn's tool calls. Only turns whose answer goes to a user use the channel `user`, in which
 * calls may cue cards (SPEC SG3).
 */
export function selectChannel(ask: InboundAsk | null, tag: AgentTag | null): Channel {
  switch (ask?.mode) {
    case "sync":
      return "subagent"
    case "async":
      return "agent"
    case "callback":
      // The path is empty if the question was asked in a user's turn.
      return ask.path.length === 0 ? "user" : "agent"
    case undefined:
      // An imported agent message has no row here.
      return tag === null ? "user" : "agent"
  }
}

export type AgentAskRows = ReturnType<typeof createAgentAskRows>

export function createAgentAskRows(database: Database) {
  return { ...createInboundAskRows(database), ...createOutboundAskRows(database), ...createAskLinks(database) }
}

function createInboundAskRows({ queryAll, queryFirst }: Database) {
  return {
    /** Returns the question that started the turn of this exchange; null if a user started it. */
    findInboundAsk(exchange: string): InboundAsk | null {
      const row = queryFirst("SELECT * FROM begun WHERE id = ?", exchange)
      return row === null ? null : rowToInboundAsk(row)
    },

    addInboundAsk({ id, mode, session, call_id, path, depth, budget }: InboundAsk): void {
      queryAll(
        "INSERT OR IGNORE INTO begun (id, mode, session, call_id, path, depth, budget, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        mode,
        session,
        call_id,
        JSON.stringify(path),
        depth,
        budget,
        mode === "callback" ? 0 : 1,
      )
    },

    /** Returns questions whose answer has not been delivered yet. */
    listOwedAnswers: (): InboundAsk[] => queryAll("SELECT * FROM begun WHERE owed = 1").map(rowToInboundAsk),

    hasOwedAnswers: (): boolean => queryFirst("SELECT 1 FROM begun WHERE owed = 1 LIMIT 1") !== null,

    markAnswerDelivered(id: string): void {
      queryAll("UPDATE begun SET owed = 0 WHERE id = ? AND owed = 1", id)
    },
  }
}

function createOutboundAskRows({ queryAll, queryFirst }: Database) {
  return {
    /** Adds a question. Adding the same question again has no effect. */
    addOutboundAsk({ id, call_id, session, agent, mode, budget, deadlineMs }: OutboundAsk): void {
      queryAll(
        "INSERT OR IGNORE INTO asked (id, call_id, session, agent, mode, budget, until, open) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
        id,
        call_id,
        session,
        agent,
        mode,
        budget,
        deadlineMs,
      )
    },

    /** Returns questions that have no answer yet. */
    listOpenOutboundAsks: (): OutboundAsk[] => queryAll("SELECT * FROM asked WHERE open = 1").map(rowToOutboundAsk),

    closeOutboundAsk(id: string): void {
      queryAll("UPDATE asked SET open = 0, reply = NULL WHERE id = ? AND open != 0", id)
    },

    /** Stores an answer until the message version that asked is active again. */
    holdAnswer(id: string, answer: AskAnswer): void {
      queryAll("UPDATE asked SET open = 2, reply = ? WHERE id = ? AND open = 1", JSON.stringify(answer), id)
    },

    listHeldAnswers: (): HeldAnswer[] =>
      queryAll("SELECT * FROM asked WHERE open = 2").flatMap((row) => {
        const answer = parseJsonColumn<AskAnswer>(row["reply"])
        return answer === null ? [] : [{ ask: rowToOutboundAsk(row), answer }]
      }),

    /** Returns when the next open question expires, in milliseconds since 1970; null if no open question expires. */
    nextExpiryMs: (): number | null =>
      columnToNumberOrNull(queryFirst("SELECT min(until) AS at FROM asked WHERE open = 1")?.["at"]),

    /** Returns all sessions that were ever asked. They are erased together with this session. */
    listAskedSessions: (): string[] =>
      queryAll("SELECT DISTINCT session FROM asked").map((row) => columnToText(row["session"])),
  }
}

/** Finds the sessions that were ever asked, regardless of the state of the questions. */
function createAskLinks({ queryAll }: Database) {
  return {
    /** Returns the session of an agent that this session has asked before; null if there is none. */
    findSessionOf(agent: string): string | null {
      const [row] = queryAll("SELECT session FROM asked WHERE agent = ? LIMIT 1", agent)
      return row === undefined ? null : columnToText(row["session"])
    },

    /** Returns all questions that this session has asked, for an export of the tenant. */
    listLinks: (): AskLink[] =>
      queryAll("SELECT id, call_id, session, agent, mode, budget FROM asked ORDER BY id") as unknown as AskLink[],

    /** Adds a completed question of an imported session. */
    addLink({ id, call_id, session, agent, mode, budget }: AskLink): void {
      queryAll(
        `INSERT OR IGNORE INTO asked (id, call_id, session, agent, mode, budget, until, open)
         VALUES (?, ?, ?, ?, ?, ?, NULL, 0)`,
        id,
        call_id,
        session,
        agent,
        mode,
        budget,
      )
    },
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
    deadlineMs: columnToNumberOrNull(row["until"]),
  }
}
