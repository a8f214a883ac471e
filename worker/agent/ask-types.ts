/**
 * ask-types.ts: what agent sessions exchange, and what this folder needs of the live session around it.
 */

import type { Claims } from "../auth/verify-token.ts"
import type { SessionGroup, SessionRow } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { TurnScheduler } from "../turn/turn-scheduler.ts"

export type SessionOwner = Pick<Claims, "tenant" | "user">

/** A question from one session to another. */
export interface AskRequest {
  /** Id of the question, and of its exchange in both sessions. */
  readonly id: string
  readonly owner: SessionOwner
  /** The session that is asked, its agent and its session group. */
  readonly to: string
  readonly agent: string
  readonly family: SessionGroup
  readonly from: { readonly session: string; readonly name: string; readonly call_id: string }
  readonly message: string
  readonly mode: "sync" | "async"
  /** The sessions that led to this question, oldest first. */
  readonly path: readonly string[]
  /** Number of questions and late answers since the user's message. */
  readonly depth: number
  /** Number of questions that this one may lead to. */
  readonly budget: number
}

/** An agent's answer as clean Markdown without spans, or the reason why there is none. */
export type AskAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly details: string }

/** A late answer. */
export interface AskCallback {
  /** Id of the question. */
  readonly id: string
  /** The agent that answers, and its session. */
  readonly name: string
  readonly session: string
  readonly reply: AskAnswer
}

/** The session that asks and is asked. */
export interface AgentSession {
  readonly row: SessionRow
  readonly store: SessionStore
  readonly turns: TurnScheduler
  readonly agentName: () => string
  /** Largest size of a message, in tokens. */
  readonly maxMessageTokens: () => number
}
