/**
 * program-question.ts: a question to an external agent. A program answers such a question instead of a model. Source:
 * SPEC EA2 to EA5.
 *
 * turn ▶ PROGRAM QUESTION ▶ tenant object ▶ a program's request
 * The stored rows represent the question as an empty answer. The question waits until a program claims it or its time
 * runs out.
 */

import { type Result, fail, succeed } from "../../shared/fault.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import type { Env } from "../env.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { ClaimedQuestion } from "../platform/rpc/session-types.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import { extendDeadline } from "../turn/external-run.ts"
import type { AgentSession } from "./agent-session.ts"

/**
 * Returns the empty answer that no program has claimed; null if there is none. Cost: two row reads if the newest answer
 * is external.
 */
export function findUnclaimedAnswer(store: SessionStore): StoredMessage | null {
  const newest = store.findNewestAnswer()
  if (newest === null || !newest.isExternal || isEnded(newest.status)) return null
  const pos = store.readNewestPos()
  return store.isUnclaimed(pos) ? store.findMessageAt(pos) : null
}

/**
 * Offers the open question, if there is one, to the programs that are waiting for a question. Repeating the call has no
 * effect.
 */
export async function offerQuestion(env: Env, { row, store, turns, agentName }: AgentSession): Promise<void> {
  const answer = turns.host.currentAgent().isExternal ? findUnclaimedAnswer(store) : null
  if (answer === null) return
  const { tenant, user, id: session } = row
  const expires = answer.deadline ?? 0
  await tenantStub(env, tenant).offerQuestion({ id: answer.message.id, agent: agentName(), user, session, expires })
}

/**
 * Assigns the question to a program, which then has to send its first byte within PRODUCER_SILENCE_MS. Only one program
 * gets the question. Errors: `turn_ended` if another program has claimed it or its answer has ended.
 */
export function claimOpenQuestion({ store, turns }: AgentSession, id: string): Result<ClaimedQuestion> {
  const answer = findUnclaimedAnswer(store)
  const run = answer?.message.id === id ? turns.currentRun() : null
  if (answer === null || run === null || run.producer === null) return fail({ reason: "turn_ended" })
  store.claimAnswer(answer.pos)
  extendDeadline(turns.host, run, run.producer, true)
  return succeed({ text: readQuestionText(store, answer) })
}

export function readQuestionText(store: SessionStore, { parent }: StoredMessage): string {
  return (parent === null ? null : store.findMessageAt(parent))?.message.words ?? ""
}
