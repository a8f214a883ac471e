/**
 * agent-session.ts: the part of the live session that this folder uses.
 */

import type { Log } from "../platform/log.ts"
import type { SessionRow } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { TurnScheduler } from "../turn/turn-scheduler.ts"

/** This session, as the sender and receiver of questions. */
export interface AgentSession {
  readonly row: SessionRow
  readonly store: SessionStore
  readonly turns: TurnScheduler
  readonly log: Log
  readonly agentName: () => string
  readonly maxMessageTokens: () => number
}
