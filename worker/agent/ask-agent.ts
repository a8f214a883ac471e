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
import { fail, type Result, succeed, type TurnFault, turnFaultText } from "../../shared/fault.ts"
import { MAX_AGENT_DEPTH, MAX_AGENT_QUESTIONS } from "../../shared/limits.ts"
import { callsOf, isSettled, openMessage } from "../../shared/protocol/message.ts"
import type { Env } from "../env.ts"
import { toHex } from "../platform/hex.ts"
import { pause } from "../platform/pause.ts"
import type { Claims } from "../auth/verify-token.ts"
import { timesFor } from "../platform/time-limits.ts"
import type { AgentQuestion } from "../tool/agents-tool.ts"
import { Deferred, refusal, type ToolContext, type ToolReturn } from "../tool/tool.ts"
import { headOfMessage } from "../turn/accept-message.ts"
import type { Asked } from "../store/agent-ask-rows.ts"
import { orAborted } from "../platform/or-aborted.ts"
import type { Family, SessionRow, StoredMessage } from "../store/row-codec.ts"
import type { Store } from "../store/session-store.ts"
import type { Turns } from "../turn/turn-scheduler.ts"

export type Owner = Pick<Claims, "tenant" | "user">

/** What one session asks another. */
export interface AskRequest {
  /** Of the exchange, and of the question. */
  readonly id: string
  readonly owner: Owner
  /** The session and the agent that are asked, and the family that both are of. */
  readonly to: string
  readonly agent: string
  readonly family: Family
  readonly from: { readonly session: string; readonly name: string; readonly call_id: string }
  readonly message: string
  readonly mode: "sync" | "async"
  readonly path: readonly string[]
  readonly depth: number
  readonly budget: number
}

/** What an agent answered, as clean Markdown without spans; or why it did not. */
export type AskReply = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly details: string }

export interface Callback {
  readonly id: string
  /** The agent that answers, and its session. */
  readonly name: string
  readonly session: string
  readonly reply: AskReply
}

export interface Asking {
  ask(question: AgentQuestion, context: ToolContext): Promise<ToolReturn>
  /** The other side answers late. The same again has no effect. */
  callback(callback: Callback): void
  /** Stops who still works for a call that is settled, and gives up what was waited for too long. */
  sweep(): void
  /** Sessions for whose answer the turn that runs waits. */
  waitsFor(): string[]
  /** Whether that question is ours and still open. */
  isOpen(id: string): boolean
}

export interface AskingHost {
  readonly env: Env
  readonly store: Store
  readonly session: SessionRow
  readonly name: () => string
  readonly turns: () => Turns
  /** Tokens that a message may have here. */
  readonly maxTokens: () => number
  readonly log: (event: string, detail: Record<string, unknown>) => void
  readonly now: () => number
}

/** How often in a row a session that breaks off is asked again; the waits between double. */
const MAX_BREAKS = 7

export function createAsking(host: AskingHost): Asking {
  const { env, store, session, turns, now, log } = host
  const { tenant, user, family } = session
  const owner = { tenant, user }
  const { agentMs, agentLateMs, agentRetryMs } = timesFor(env)
  /** Questions that this process waits with, or is letting go of. */
  const busy = new Set<string>()
  const other = (id: string) => env.SESSION.getByName(`${tenant}:${id}`)

  const requestFor = async (question: AgentQuestion, context: ToolContext): Promise<Result<AskRequest, TurnFault>> => {
    const { call_id, exchange_id, nth } = context
    const led = store.asks.begunBy(exchange_id)
    const depth = led?.depth ?? 0
    if (depth >= MAX_AGENT_DEPTH) return fail("agent_loop")
    const budget = shareOf(led?.budget ?? MAX_AGENT_QUESTIONS, nth, question.mode)
    if (budget === null) return fail("agent_fan_out")
    const { agent, message, mode } = question
    const to = await sessionOf(tenant, family, agent)
    const path = [...(led?.path ?? []), session.id]
    if (path.includes(to)) return fail("agent_loop")
    const id = await askId(session, call_id)
    const from = { session: session.id, name: host.name(), call_id }
    return succeed({ id, owner, to, agent, family, message, mode, from, path, depth: depth + 1, budget })
  }
  /** The question's row is closed once the other side has heard that nobody waits any more. */
  const letGo = async ({ id, session: to }: Pick<Asked, "id" | "session">): Promise<void> => {
    busy.add(id)
    try {
      await other(to).unask(owner, id)
      store.asks.closeAsked(id)
    } catch (error) {
      log("unask_failed", { id, message: error instanceof Error ? error.message : "unknown" })
    } finally {
      busy.delete(id)
    }
  }
  const askOnce = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    const { id, to, agent, mode } = request
    signal.throwIfAborted()
    const taken = await other(to).ask(request)
    if (!taken.ok) return refusal(taken.fault, detailsOf(taken.fault))
    // It may have begun after somebody stopped this turn.
    if (signal.aborted) await letGo({ id, session: to })
    signal.throwIfAborted()
    if (mode === "async") return new Deferred({ mode, status: "queued", responseId: id, session: to })
    const answer = async (): Promise<AskReply> => await other(to).reply(owner, id)
    const reply = await orAborted(answer(), signal)
    if (!reply.ok) return refusal("agent_failed", reply.details)
    return { agent, session: to, answer: cleanToModel(reply.text) }
  }
  /** Whatever breaks on the way: the same question finds its turn again, or begins it. */
  const askAgain = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    for (let breaks = 0; ; breaks++) {
      try {
        return await askOnce(request, signal)
      } catch (error) {
        if (signal.aborted || breaks >= MAX_BREAKS) throw error
        await pause(agentRetryMs * 2 ** breaks, signal)
      }
    }
  }
  /** With each agent further from the person half the time, so that whoever asked can use the answer. */
  const askInTime = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), agentMs >> (request.depth - 1))
    try {
      const asked = await askAgain(request, AbortSignal.any([signal, late.signal]))
      if (!(asked instanceof Deferred)) store.asks.closeAsked(request.id)
      return asked
    } catch (error) {
      // Whoever worked for it may stop, also where nobody waits here any more.
      const released = letGo({ id: request.id, session: request.to })
      if (signal.aborted) throw error
      await released
      return refusal("agent_failed", late.signal.aborted ? "It did not answer in time." : "It could not be reached.")
    } finally {
      clearTimeout(timer)
    }
  }
  const hear = (row: Asked, { stored, reply }: { stored: StoredMessage; reply: AskReply }): void => {
    const { id, call_id } = row
    const call = callsOf(stored.message).find((one) => one.call_id === call_id)
    if (call === undefined || call.status === "interrupted") return store.asks.closeAsked(id)
    // Each of these is done once, however often the answer is told: the row is closed last.
    if (!isSettled(call.status)) turns().fill(stored, resultOf(row, reply))
    if (store.isOnPath(stored.pos) && store.find(id) === null) beginWith(row, stored, reply)
    store.asks.closeAsked(id)
  }
  /** The answer begins a turn of its own, so that the agent that asked can say what follows from it. */
  const beginWith = ({ id, call_id, agent: name, budget }: Asked, stored: StoredMessage, reply: AskReply): void => {
    const led = store.asks.begunBy(stored.message.exchange_id)
    const place = { path: led?.path ?? [], depth: (led?.depth ?? 0) + 1, budget }
    const words = headOfMessage(reply.ok ? reply.text : failureOf(reply), host.maxTokens())
    const agent = { direction: "received", name, exchange: id, call_id } as const
    store.atomically(() => {
      store.asks.addBegun({ id, mode: "callback", session: session.id, call_id, ...place })
      turns().accept(agentMessage(id, words, agent, now()))
    })
  }
  const storedOf = ({ call_id }: Asked): StoredMessage | null => {
    const pos = /^call_(\d{1,15})_/.exec(call_id)?.[1]
    return pos === undefined ? null : store.at(Number(pos))
  }

  return {
    waitsFor: () => store.asks.openAsked().flatMap(({ mode, session: to }) => (mode === "sync" ? [to] : [])),
    isOpen: (id) => store.asks.openAsked().some((row) => row.id === id),
    async ask(question, context) {
      const made = await requestFor(question, context)
      if (!made.ok) return refusal(made.fault, detailsOf(made.fault))
      const { id, to, agent, mode, budget } = made.value
      context.signal.throwIfAborted()
      const until = mode === "async" ? now() + agentLateMs : null
      // Known before it is asked: of two that ask each other at once, one at least sees the other wait.
      store.asks.addAsked({ id, call_id: context.call_id, session: to, agent, mode, budget, until })
      busy.add(id)
      return await askInTime(made.value, context.signal).finally(() => busy.delete(id))
    },
    callback({ id, reply }) {
      const row = store.asks.openAsked().find((one) => one.id === id)
      const stored = row === undefined ? null : storedOf(row)
      if (row !== undefined && stored !== null) hear(row, { stored, reply })
    },
    sweep() {
      for (const row of store.asks.openAsked()) {
        if (busy.has(row.id)) continue
        const stored = storedOf(row)
        const call = stored === null ? undefined : callsOf(stored.message).find((one) => one.call_id === row.call_id)
        if (stored === null || call === undefined || isSettled(call.status)) void letGo(row)
        else if (row.until !== null && row.until <= now()) {
          hear(row, { stored, reply: { ok: false, details: "It did not answer in time." } })
          void letGo(row)
        }
      }
    },
  }
}

/** A message of role `agent`, as it is stored. */
export function agentMessage(
  id: string,
  words: string,
  agent: Parameters<typeof openMessage>[0]["agent"],
  now: number,
) {
  const timestamp = new Date(now).toISOString()
  return openMessage({
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
export function shareOf(budget: number, nth: number, mode: "sync" | "async"): number | null {
  const share = Math.floor(budget / 2 ** nth)
  if (share < 1) return null
  return mode === "sync" ? share - 1 : Math.floor((share - 1) / 2)
}

function failureOf({ details }: Extract<AskReply, { ok: false }>): string {
  return `${turnFaultText("agent_failed")} ${details}`
}

function resultOf({ call_id, agent, session }: Asked, reply: AskReply): Extract<TurnEvent, { type: "tool_result" }> {
  const base = { type: "tool_result", call_id, card: null } as const
  if (reply.ok) {
    const result = JSON.stringify({ agent, session, answer: cleanToModel(reply.text) })
    return { ...base, status: "ok", result, error: null }
  }
  const result = JSON.stringify(refusal("agent_failed", reply.details))
  return { ...base, status: "failed", result, error: { code: "agent_failed", message: turnFaultText("agent_failed") } }
}

function detailsOf(fault: TurnFault): string {
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
export const AGENT_SESSION = "agent-"

/** Each agent has one session in a family, so that it knows what it was asked before. */
async function sessionOf(tenant: string, family: Family, agent: string): Promise<string> {
  if (agent === family.agent) return family.session
  return AGENT_SESSION + (await digest([tenant, family.session, agent]))
}

/** The same for a call that is run again; another one for a session that was made anew. */
async function askId({ tenant, id, created }: SessionRow, call_id: string): Promise<string> {
  return `ask-${await digest([tenant, id, String(created), call_id])}`
}

/** Half of a SHA-256, in hexadecimal. */
async function digest(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")))
  return toHex(bytes.slice(0, 16))
}
