/**
 * agent-rpc.ts: the calls between agent sessions, as the session object receives them.
 */

import { fail, type Result, type TurnFault } from "../../shared/fault.ts"
import { claimOpenQuestion } from "../agent/program-question.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { Env } from "../env.ts"
import type { SessionLifecycle } from "./session-lifecycle.ts"
import type { AskAnswer, AskCallback, AskRequest, ClaimedQuestion } from "../platform/rpc/session-types.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"

/**
 * Creates the agent's session if necessary, and begins or queues a turn in it. Idempotent: repeating the call has no
 * effect.
 */
export async function acceptAsk(
  lifecycle: SessionLifecycle,
  env: Env,
  request: AskRequest,
): Promise<Result<null, TurnFault>> {
  const { owner, agent, family, from } = request
  const isNew = lifecycle.current() === null
  const created = await lifecycle.create(owner, { id: request.to, title: agent, agent, family })
  const session = lifecycle.findOwn(owner)
  if (!created.ok || session === null || !session.isAgentInGroup(agent, family)) return fail("agent_unknown")
  // The asking session may have been erased together with the sessions that it asked. In that case, this session must
  // not be created.
  if (isNew && !(await sessionStub(env, owner.tenant, from.session).isAskOpen(owner, request.id))) {
    await lifecycle.erase(owner, true)
    return fail("agent_failed")
  }
  if (!(await session.refreshAgent())) return fail("agent_unknown")
  const accepted = await session.inboundAsks.acceptAsk(request).catch((error: unknown) => {
    session.resetSeq()
    throw error
  })
  session.advance()
  return accepted
}

export async function waitForAnswer(lifecycle: SessionLifecycle, owner: SessionOwner, id: string): Promise<AskAnswer> {
  const session = lifecycle.findOwn(owner)
  if (session === null) throw new Error("the session does not exist")
  return await session.inboundAsks.waitForAnswer(id)
}

/** Stops the question's turn, or keeps it from starting, because the asking session is no longer waiting. */
export function cancelAsk(lifecycle: SessionLifecycle, owner: SessionOwner, id: string): void {
  const session = lifecycle.findOwn(owner)
  session?.withSeqRollback(() => session.cancelTurn(id))
}

/** Assigns the caller the question that is waiting for a program, and returns it (SPEC EA4). Errors: `turn_ended`. */
export function claimQuestion(lifecycle: SessionLifecycle, owner: SessionOwner, id: string): Result<ClaimedQuestion> {
  const session = lifecycle.findOwn(owner)
  return session === null ? fail({ reason: "turn_ended" }) : claimOpenQuestion(session, id)
}

/** Applies an agent's late answer. Idempotent: repeating the call has no effect. */
export function acceptCallback(lifecycle: SessionLifecycle, owner: SessionOwner, callback: AskCallback): void {
  const session = lifecycle.findOwn(owner)
  session?.withSeqRollback(() => session.outboundAsks.acceptCallback(callback))
  session?.advance()
}
