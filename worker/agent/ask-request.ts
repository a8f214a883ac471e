/**
 * ask-request.ts: creates the question that a tool call sends to another agent's session, if the limits allow it.
 *
 * Ids are derived, not random, so a call that runs again after a restart creates a question with the same id.
 */

import { fail, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import { MAX_AGENT_DEPTH, MAX_AGENT_QUESTIONS } from "../../shared/limits.ts"
import { AGENT_SESSION_PREFIX } from "../../shared/protocol/agent-session-id.ts"
import { computeShortHash } from "../platform/crypto/sha256-hex.ts"
import type { SessionRow } from "../store/row-codec.ts"
import type { AgentQuestion } from "../tool/agents-tool.ts"
import type { ToolContext } from "../tool/tool.ts"
import type { AgentSession } from "./agent-session.ts"
import type { AskRequest, SessionGroup } from "../platform/rpc/session-types.ts"

/** Creates the question that a call asks. Errors: `agent_loop`, `agent_fan_out`. */
export async function createAskRequest(
  { row, store, agentName }: AgentSession,
  { agent, message, mode }: AgentQuestion,
  { call_id, exchange_id, nth, trace }: ToolContext,
): Promise<Result<AskRequest, TurnFault>> {
  const { tenant, user, family } = row
  const inboundAsk = store.agentAsks.findInboundAsk(exchange_id)
  const depth = inboundAsk?.depth ?? 0
  if (depth >= MAX_AGENT_DEPTH) return fail("agent_loop")
  const budget = computeBudgetShare(inboundAsk?.budget ?? MAX_AGENT_QUESTIONS, nth, mode)
  if (budget === null) return fail("agent_fan_out")
  // The ids in an imported session group were derived from the tenant that exported the group.
  const to = store.agentAsks.findSessionOf(agent) ?? (await computeAgentSessionId(tenant, family, agent))
  const path = [...(inboundAsk?.path ?? []), row.id]
  if (path.includes(to)) return fail("agent_loop")
  return succeed({
    id: await computeAskId(row, call_id),
    owner: { tenant, user },
    to,
    agent,
    family,
    from: { session: row.id, name: agentName(), call_id },
    message,
    mode,
    path,
    depth: depth + 1,
    budget,
    trace,
  })
}

/**
 * Returns the budget of the `nth` question of a turn; null if the question may not be asked. Each question gets half of
 * the remaining budget, so that one user message leads to at most MAX_AGENT_QUESTIONS questions. A late answer begins a
 * turn too, so an `async` question shares its budget with that turn (SPEC AG11).
 */
export function computeBudgetShare(budget: number, nth: number, mode: "sync" | "async"): number | null {
  const share = Math.floor(budget / 2 ** nth)
  if (share < 1) return null
  return mode === "sync" ? share - 1 : Math.floor((share - 1) / 2)
}

/** Computes the id of an agent's session. An agent has one session in each session group (SPEC AG9). */
async function computeAgentSessionId(tenant: string, family: SessionGroup, agent: string): Promise<string> {
  if (agent === family.agent) return family.session
  return AGENT_SESSION_PREFIX + (await computeShortHash([tenant, family.session, agent].join("\0")))
}

/** Returns the same id for a call that runs again, and a different id if the session was erased and created again. */
async function computeAskId({ tenant, id, created }: SessionRow, call_id: string): Promise<string> {
  return `ask-${await computeShortHash([tenant, id, created, call_id].join("\0"))}`
}
