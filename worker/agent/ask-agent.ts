/**
 * ask-agent.ts: this session asks another agent's, and takes the answer, at once or late.
 *
 * tool → ASKING → the other session (answering.ts) → answer, or later: callback → call filled in, turn of its own
 * A question's id comes from its call, so it can be asked again after any break and has one effect; its row stays open until
 * it has its answer, so that nobody works for a call that is settled, and nobody waits for ever. Questions carry the sessions
 * that led to them: one that would come back to one of these is refused before anybody waits for it.
 */

import { cleanToModel } from "../../shared/sanitize/clean.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed, type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { MAX_AGENT_DEPTH, MAX_AGENT_QUESTIONS } from "../../shared/limits.ts"
import { listCalls, isSettled, createMessage } from "../../shared/protocol/message.ts"
import type { Env } from "../env.ts"
import { bytesToHex } from "../platform/hex.ts"
import { pause } from "../platform/pause.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { AgentQuestion } from "../tool/agents-tool.ts"
import { DeferredResult, createRefusal, type ToolContext, type ToolReturn } from "../tool/tool.ts"
import { truncateMessage } from "../turn/accept-message.ts"
import type { OutboundAsk } from "../store/agent-ask-rows.ts"
import { rejectOnAbort } from "../platform/abort.ts"
import type { SessionRow, StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { TurnScheduler } from "../turn/turn-scheduler.ts"
import type { AskAnswer, AskCallback, AskRequest, SessionGroup } from "../platform/rpc/session-types.ts"

export interface OutboundAsks {
  askAgent(question: AgentQuestion, context: ToolContext): Promise<ToolReturn>
  /** The other side answers late. The same again has no effect. */
  acceptCallback(callback: AskCallback): void
  /** Stops who still works for a call that is settled, and gives up what was waited for too long. */
  sweepAsks(): void
  /** Sessions for whose answer the turn that runs waits. */
  listAwaitedSessions(): string[]
  /** Whether that question is ours and still open. */
  isAskOpen(id: string): boolean
}

export interface OutboundAsksHost {
  readonly env: Env
  readonly store: SessionStore
  readonly session: SessionRow
  readonly agentName: () => string
  readonly turns: () => TurnScheduler
  /** Tokens that a message may have here. */
  readonly maxMessageTokens: () => number
  readonly log: (event: string, detail: Record<string, unknown>) => void
  readonly now: () => number
}

/** How often in a row a session that breaks off is asked again; the waits between double. */
const MAX_RETRIES = 7

export function createOutboundAsks(host: OutboundAsksHost): OutboundAsks {
  const { env, store, session, turns, now, log } = host
  const { tenant, user, family } = session
  const owner = { tenant, user }
  const { agentMs, agentLateMs, agentRetryMs } = readTimeLimits(env)
  /** Questions that this process waits with, or is letting go of. */
  const busyIds = new Set<string>()
  const getSessionStub = (id: string) => env.SESSION.getByName(`${tenant}:${id}`)

  const createAskRequest = async (
    question: AgentQuestion,
    context: ToolContext,
  ): Promise<Result<AskRequest, TurnFault>> => {
    const { call_id, exchange_id, nth } = context
    const inboundAsk = store.agentAsks.findInboundAsk(exchange_id)
    const depth = inboundAsk?.depth ?? 0
    if (depth >= MAX_AGENT_DEPTH) return fail("agent_loop")
    const budget = computeBudgetShare(inboundAsk?.budget ?? MAX_AGENT_QUESTIONS, nth, question.mode)
    if (budget === null) return fail("agent_fan_out")
    const { agent, message, mode } = question
    const to = await computeAgentSessionId(tenant, family, agent)
    const path = [...(inboundAsk?.path ?? []), session.id]
    if (path.includes(to)) return fail("agent_loop")
    const id = await computeAskId(session, call_id)
    const from = { session: session.id, name: host.agentName(), call_id }
    return succeed({ id, owner, to, agent, family, message, mode, from, path, depth: depth + 1, budget })
  }
  /** The question's row is closed once the other side has heard that nobody waits any more. */
  const releaseAsk = async ({ id, session: to }: Pick<OutboundAsk, "id" | "session">): Promise<void> => {
    busyIds.add(id)
    try {
      await getSessionStub(to).cancelAsk(owner, id)
      store.agentAsks.closeOutboundAsk(id)
    } catch (error) {
      log("unask_failed", { id, message: error instanceof Error ? error.message : "unknown" })
    } finally {
      busyIds.delete(id)
    }
  }
  const askOnce = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    const { id, to, agent, mode } = request
    signal.throwIfAborted()
    const accepted = await getSessionStub(to).acceptAsk(request)
    if (!accepted.ok) return createRefusal(accepted.fault, explainRefusal(accepted.fault))
    // It may have begun after somebody stopped this turn.
    if (signal.aborted) await releaseAsk({ id, session: to })
    signal.throwIfAborted()
    if (mode === "async") return new DeferredResult({ mode, status: "queued", responseId: id, session: to })
    const fetchAnswer = async (): Promise<AskAnswer> => await getSessionStub(to).waitForAnswer(owner, id)
    const answer = await rejectOnAbort(fetchAnswer(), signal)
    if (!answer.ok) return createRefusal("agent_failed", answer.details)
    return { agent, session: to, answer: cleanToModel(answer.text) }
  }
  /** Whatever breaks on the way: the same question finds its turn again, or begins it. */
  const askWithRetries = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    for (let retries = 0; ; retries++) {
      try {
        return await askOnce(request, signal)
      } catch (error) {
        if (signal.aborted || retries >= MAX_RETRIES) throw error
        await pause(agentRetryMs * 2 ** retries, signal)
      }
    }
  }
  /** With each agent further from the person half the time, so that whoever asked can use the answer. */
  const askWithTimeout = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), agentMs >> (request.depth - 1))
    try {
      const returned = await askWithRetries(request, AbortSignal.any([signal, timeout.signal]))
      if (!(returned instanceof DeferredResult)) store.agentAsks.closeOutboundAsk(request.id)
      return returned
    } catch (error) {
      // Whoever worked for it may stop, also where nobody waits here any more.
      const releasing = releaseAsk({ id: request.id, session: request.to })
      if (signal.aborted) throw error
      await releasing
      return createRefusal(
        "agent_failed",
        timeout.signal.aborted ? "It did not answer in time." : "It could not be reached.",
      )
    } finally {
      clearTimeout(timer)
    }
  }
  const applyAnswer = (row: OutboundAsk, { stored, reply }: { stored: StoredMessage; reply: AskAnswer }): void => {
    const { id, call_id } = row
    const call = listCalls(stored.message).find((one) => one.call_id === call_id)
    if (call === undefined || call.status === "interrupted") return store.agentAsks.closeOutboundAsk(id)
    // Each of these is done once, however often the answer is told: the row is closed last.
    if (!isSettled(call.status)) turns().fillToolResult(stored, answerToToolResult(row, reply))
    if (store.isOnPath(stored.pos) && store.findById(id) === null) beginAnswerTurn(row, stored, reply)
    store.agentAsks.closeOutboundAsk(id)
  }
  /** The answer begins a turn of its own, so that the agent that asked can say what follows from it. */
  const beginAnswerTurn = (
    { id, call_id, agent: name, budget }: OutboundAsk,
    stored: StoredMessage,
    reply: AskAnswer,
  ): void => {
    const inboundAsk = store.agentAsks.findInboundAsk(stored.message.exchange_id)
    const chain = { path: inboundAsk?.path ?? [], depth: (inboundAsk?.depth ?? 0) + 1, budget }
    const words = truncateMessage(reply.ok ? reply.text : refusalToText(reply), host.maxMessageTokens())
    const agent = { direction: "received", name, exchange: id, call_id } as const
    store.atomically(() => {
      store.agentAsks.addInboundAsk({ id, mode: "callback", session: session.id, call_id, ...chain })
      turns().startOrQueue(createAgentMessage(id, words, agent, now()))
    })
  }
  const findCallMessage = ({ call_id }: OutboundAsk): StoredMessage | null => {
    const pos = /^call_(\d{1,15})_/.exec(call_id)?.[1]
    return pos === undefined ? null : store.findMessageAt(Number(pos))
  }

  return {
    listAwaitedSessions: () =>
      store.agentAsks.listOpenOutboundAsks().flatMap(({ mode, session: to }) => (mode === "sync" ? [to] : [])),
    isAskOpen: (id) => store.agentAsks.listOpenOutboundAsks().some((row) => row.id === id),
    async askAgent(question, context) {
      const request = await createAskRequest(question, context)
      if (!request.ok) return createRefusal(request.fault, explainRefusal(request.fault))
      const { id, to, agent, mode, budget } = request.value
      context.signal.throwIfAborted()
      const until = mode === "async" ? now() + agentLateMs : null
      // Known before it is asked: of two that ask each other at once, one at least sees the other wait.
      store.agentAsks.addOutboundAsk({ id, call_id: context.call_id, session: to, agent, mode, budget, until })
      busyIds.add(id)
      return await askWithTimeout(request.value, context.signal).finally(() => busyIds.delete(id))
    },
    acceptCallback({ id, reply }) {
      const row = store.agentAsks.listOpenOutboundAsks().find((one) => one.id === id)
      const stored = row === undefined ? null : findCallMessage(row)
      if (row !== undefined && stored !== null) applyAnswer(row, { stored, reply })
    },
    sweepAsks() {
      for (const row of store.agentAsks.listOpenOutboundAsks()) {
        if (busyIds.has(row.id)) continue
        const stored = findCallMessage(row)
        const call = stored === null ? undefined : listCalls(stored.message).find((one) => one.call_id === row.call_id)
        if (stored === null || call === undefined || isSettled(call.status)) void releaseAsk(row)
        else if (row.until !== null && row.until <= now()) {
          applyAnswer(row, { stored, reply: { ok: false, details: "It did not answer in time." } })
          void releaseAsk(row)
        }
      }
    },
  }
}

/** A message of role `agent`, as it is stored. */
export function createAgentMessage(
  id: string,
  words: string,
  agent: Parameters<typeof createMessage>[0]["agent"],
  now: number,
) {
  const timestamp = new Date(now).toISOString()
  return createMessage({
    id,
    role: "agent",
    exchange_id: id,
    status: "completed",
    timestamp,
    words,
    agent: agent ?? null,
  })
}

/**
 * Questions that the `nth` one of a turn may bring about: half of what is left each time, so that one message of a person
 * leads to MAX_AGENT_QUESTIONS at most. A late answer begins a turn too, and shares with the one that was asked.
 */
export function computeBudgetShare(budget: number, nth: number, mode: "sync" | "async"): number | null {
  const share = Math.floor(budget / 2 ** nth)
  if (share < 1) return null
  return mode === "sync" ? share - 1 : Math.floor((share - 1) / 2)
}

function refusalToText({ details }: Extract<AskAnswer, { ok: false }>): string {
  return `${turnFaultToText("agent_failed")} ${details}`
}

function answerToToolResult(
  { call_id, agent, session }: OutboundAsk,
  reply: AskAnswer,
): Extract<TurnEvent, { type: "tool_result" }> {
  const base = { type: "tool_result", call_id, card: null } as const
  if (reply.ok) {
    const result = JSON.stringify({ agent, session, answer: cleanToModel(reply.text) })
    return { ...base, status: "ok", result, error: null }
  }
  const result = JSON.stringify(createRefusal("agent_failed", reply.details))
  return {
    ...base,
    status: "failed",
    result,
    error: { code: "agent_failed", message: turnFaultToText("agent_failed") },
  }
}

function explainRefusal(fault: TurnFault): string {
  switch (fault) {
    case "agent_loop":
      return `It would lead back to an agent that waits, or further than ${MAX_AGENT_DEPTH} agents. Answer without it.`
    case "agent_fan_out":
      return "Answer with what you have."
    default:
      return "Try again later, or answer without it."
  }
}

/** How the ids of agents' sessions begin: nobody else may make one. */
export const AGENT_SESSION_PREFIX = "agent-"

/** Each agent has one session in a family, so that it knows what it was asked before. */
async function computeAgentSessionId(tenant: string, family: SessionGroup, agent: string): Promise<string> {
  if (agent === family.agent) return family.session
  return AGENT_SESSION_PREFIX + (await hashParts([tenant, family.session, agent]))
}

/** The same for a call that is run again; another one for a session that was made anew. */
async function computeAskId({ tenant, id, created }: SessionRow, call_id: string): Promise<string> {
  return `ask-${await hashParts([tenant, id, String(created), call_id])}`
}

/** Half of a SHA-256, in hexadecimal. */
async function hashParts(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")))
  return bytesToHex(bytes.slice(0, 16))
}
