/**
 * asking.ts: this session asks another agent's, and takes the answer that comes back late.
 *
 * tool → ASKING → the other session (asked.ts) → answer, or later: callback → call filled in, turn of its own
 * A question's id comes from its call, so it can be asked again after any break and has one effect. Calls carry the
 * sessions that led to them: one that would come back to one of these is refused before anybody waits for it.
 */

import * as v from "valibot"
import { fail, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"
import { MAX_AGENT_CALLS, MAX_AGENT_DEPTH } from "../../shared/limits.ts"
import { callsOf, isSettled, openMessage } from "../../shared/message.ts"
import type { Env } from "../env.ts"
import { pause } from "../model/pause.ts"
import type { Claims } from "../tenant/keys.ts"
import { timesFor } from "../times.ts"
import type { AgentQuestion } from "../tool/agents.ts"
import { Deferred, refusal, type ToolContext, type ToolReturn } from "../tool/tool.ts"
import type { Family, SessionRow } from "./rows.ts"
import type { Store } from "./store.ts"
import type { Turns } from "./turn.ts"

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
}

/** What an agent answered, or why it did not. */
export type AskReply =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly text: string; readonly details: string }

export interface Callback {
  readonly id: string
  readonly call_id: string
  /** The agent that answers, and its session. */
  readonly name: string
  readonly session: string
  readonly reply: AskReply
}

export interface Asking {
  ask(question: AgentQuestion, context: ToolContext): Promise<ToolReturn>
  /** The other side answers late. The same again has no effect. */
  callback(callback: Callback): void
  /** The newest turn was stopped: whoever works for it asynchronously may stop too. */
  release(): void
  /** Sessions for whose answer the turn that runs waits. */
  waitsFor(): string[]
}

export interface AskingHost {
  readonly env: Env
  readonly store: Store
  readonly session: SessionRow
  readonly name: () => string
  readonly turns: () => Turns
  readonly log: (event: string, detail: Record<string, unknown>) => void
  readonly now: () => number
}

/** Questions that a turn may ask which so many agents led to: half as many with each, so that no tree of them explodes. */
export function fanOutAt(depth: number): number {
  return Math.max(MAX_AGENT_CALLS >> depth, 1)
}

/** How often an agent's session that broke off is asked again. */
const MAX_BREAKS = 5

export function createAsking({ env, store, session, name, turns, now, log }: AskingHost): Asking {
  const { tenant, user, family } = session
  const owner = { tenant, user }
  const waiting = new Map<string, string>()
  const { agentRetryMs } = timesFor(env)

  const requestFor = async (question: AgentQuestion, context: ToolContext): Promise<Result<AskRequest, TurnFault>> => {
    const { call_id, exchange_id, nth } = context
    const led = store.asks.of(exchange_id)
    const depth = led?.depth ?? 0
    if (depth >= MAX_AGENT_DEPTH) return fail("agent_loop")
    if (nth > fanOutAt(depth)) return fail("agent_fan_out")
    const { agent, message, mode } = question
    const to = await sessionOf(tenant, family, agent)
    const path = [...(led?.path ?? []), session.id]
    if (path.includes(to)) return fail("agent_loop")
    const id = await askId(session, call_id)
    const from = { session: session.id, name: name(), call_id }
    return succeed({ id, owner, to, agent, family, message, mode, from, path, depth: depth + 1 })
  }
  const askOnce = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    const { id, to, agent, mode } = request
    const other = env.SESSION.getByName(`${tenant}:${to}`)
    const taken = await other.ask(request)
    if (!taken.ok) return refusal(taken.fault, detailsOf(taken.fault))
    if (mode === "async") return new Deferred({ mode, status: "queued", responseId: id, session: to })
    const unask = (): void => void other.unask(owner, id).catch(() => {})
    signal.addEventListener("abort", unask, { once: true })
    const reply = await other.reply(owner, id).finally(() => signal.removeEventListener("abort", unask))
    return reply.ok ? { agent, session: to, answer: reply.text } : refusal("agent_failed", reply.details)
  }
  /** Whatever breaks on the way: the same question finds its turn again, or begins it. */
  const askAgain = async (request: AskRequest, signal: AbortSignal): Promise<ToolReturn> => {
    for (let breaks = 1; ; breaks++) {
      try {
        return await askOnce(request, signal)
      } catch (error) {
        if (signal.aborted || breaks >= MAX_BREAKS) throw error
        await pause(agentRetryMs, signal)
      }
    }
  }

  return {
    waitsFor: () => [...waiting.values()],
    async ask(question, context) {
      const request = await requestFor(question, context)
      if (!request.ok) return refusal(request.fault, detailsOf(request.fault))
      const { id, to, mode } = request.value
      store.asks.addAsked(to)
      // Known before it is asked: of two that ask each other at once, one at least sees the other wait.
      if (mode === "sync") waiting.set(id, to)
      return await askAgain(request.value, context.signal).finally(() => waiting.delete(id))
    },
    release() {
      const stopped = store.at(store.newestPos())
      for (const call of stopped === null ? [] : callsOf(stopped.message)) {
        const queued = call.status === "interrupted" ? v.safeParse(queuedSchema, parseJson(call.result ?? "")) : null
        if (queued?.success !== true) continue
        const { session: to, responseId } = queued.output
        const told = env.SESSION.getByName(`${tenant}:${to}`).unask(owner, responseId)
        // What it does not hear costs its work alone: its answer finds the call settled.
        told.catch(() => log("unask_failed", { id: responseId }))
      }
    },
    callback(callback) {
      const { id, call_id, reply } = callback
      const found = turns().findCall(call_id)
      if (found === null || isSettled(found.call.status)) return
      const { message, pos } = found.stored
      turns().fill(found.stored, resultOf(callback))
      // Another path is active: there is nobody to go on.
      if (!store.isOnPath(pos) || store.find(id) !== null) return
      const led = store.asks.of(message.exchange_id)
      const path = led?.path ?? []
      store.asks.add({ id, mode: "callback", session: session.id, call_id, path, depth: (led?.depth ?? 0) + 1 })
      const agent = { direction: "received", name: callback.name, exchange: id, call_id } as const
      const timestamp = new Date(now()).toISOString()
      const head = { id, role: "agent", exchange_id: id, status: "completed", timestamp } as const
      turns().accept(openMessage({ ...head, agent, words: reply.text }))
    },
  }
}

/** What a call is told for now (`askOnce`). */
const queuedSchema = v.object({ mode: v.literal("async"), responseId: v.string(), session: v.string() })

function resultOf({ call_id, name: agent, session, reply }: Callback) {
  const base = { type: "tool_result", call_id, card: null } as const
  if (reply.ok) {
    const result = JSON.stringify({ agent, session, answer: reply.text })
    return { ...base, status: "ok", result, error: null } as const
  }
  const result = JSON.stringify(refusal("agent_failed", reply.details))
  return { ...base, status: "failed", result, error: { code: "agent_failed", message: reply.text } } as const
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

/** Each agent has one session in a family, so that it knows what it was asked before. */
async function sessionOf(tenant: string, family: Family, agent: string): Promise<string> {
  if (agent === family.agent) return family.session
  return `agent-${(await digest([tenant, family.session, agent])).slice(0, 32)}`
}

/** The same for a call that is run again; another one for a session that was made anew. */
async function askId({ tenant, id, created }: SessionRow, call_id: string): Promise<string> {
  return `ask-${(await digest([tenant, id, String(created), call_id])).slice(0, 32)}`
}

async function digest(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
