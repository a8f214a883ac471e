/**
 * inbound-asks.ts: the questions that other agents' sessions ask this one.
 *
 * the other session (OutboundAsks) ▶ InboundAsks ▶ turn ▶ answer, or later a callback
 * Each question has a row until its answer is delivered. The answer is delivered after the turn has ended, even if
 * another process began the turn.
 */

import { fail, faultToWire, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import { MAX_QUEUED_MESSAGES } from "../../shared/limits.ts"
import { clean } from "../../shared/sanitize/clean.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { Env } from "../env.ts"
import { describeError } from "../platform/log.ts"
import type { InboundAsk } from "../store/agent-ask-rows.ts"
import { findContentFault } from "../turn/accept-message.ts"
import { createFailedAnswer, findAnswer } from "./agent-answer.ts"
import { createAgentMessage } from "./agent-message.ts"
import type { AgentSession } from "./agent-session.ts"
import type { OutboundAsks } from "./outbound-asks.ts"
import type { AskAnswer, AskRequest } from "../platform/rpc/session-types.ts"

/** Maximum number of sessions visited in the search for a deadlock. */
const MAX_SESSIONS_CHECKED = 64

type ResolveAnswer = (answer: AskAnswer) => void

export class InboundAsks {
  readonly #env: Env
  readonly #session: AgentSession
  readonly #outboundAsks: OutboundAsks
  readonly #waitersById = new Map<string, ResolveAnswer[]>()
  /** Ids of questions whose callbacks are being sent. */
  readonly #deliveringIds = new Set<string>()

  constructor(env: Env, session: AgentSession, outboundAsks: OutboundAsks) {
    this.#env = env
    this.#session = session
    this.#outboundAsks = outboundAsks
  }

  /**
   * Begins or queues a turn for a question. Idempotent: repeating the call has no effect.
   *
   * Errors: `agent_loop`, `agent_busy`, `agent_failed`.
   */
  async acceptAsk(request: AskRequest): Promise<Result<null, TurnFault>> {
    const { store } = this.#session
    if (store.findById(request.id) !== null) return succeed(null)
    if (await this.#isLoop(request)) return fail("agent_loop")
    // The same question may have been accepted during the check.
    return store.findById(request.id) === null ? this.#beginTurn(request) : succeed(null)
  }

  /** Resolves with the answer when the question's turn has ended. */
  async waitForAnswer(id: string): Promise<AskAnswer> {
    const known = findAnswer(this.#session.store, id)
    if (known !== null) return known
    return await new Promise((resolve) => {
      this.#waitersById.set(id, [...(this.#waitersById.get(id) ?? []), resolve])
    })
  }

  /** Delivers all answers whose turns have ended. */
  deliverAnswers(): void {
    const { store } = this.#session
    for (const [id, waiters] of this.#waitersById) {
      const answer = findAnswer(store, id)
      if (answer === null) continue
      this.#waitersById.delete(id)
      for (const resolve of waiters) resolve(answer)
    }
    for (const ask of store.agentAsks.listOwedAnswers()) {
      const answer = findAnswer(store, ask.id)
      if (answer === null || this.#deliveringIds.has(ask.id)) continue
      // A waiting session retries its request after a failure, and then gets the answer from the transcript.
      if (ask.mode === "sync") store.agentAsks.markAnswerDelivered(ask.id)
      else void this.#sendCallback(ask, answer)
    }
  }

  /**
   * Fails all open questions, because the session is being erased. Rows are read synchronously, before they are erased.
   * An asking session that can't be reached relies on its own time limit. Never rejects.
   */
  async rejectWaiting(): Promise<void> {
    const answer = createFailedAnswer("The conversation was deleted.")
    const asks = this.#session.store.agentAsks.listOwedAnswers().filter(({ mode }) => mode === "async")
    for (const resolve of [...this.#waitersById.values()].flat()) resolve(answer)
    this.#waitersById.clear()
    await Promise.all(asks.map((ask) => this.#sendCallback(ask, answer)))
  }

  async #isLoop({ path, mode }: AskRequest): Promise<boolean> {
    const { row, turns } = this.#session
    if (path.includes(row.id)) return true
    return mode === "sync" && turns.isActive() && (await this.#wouldDeadlock(path))
  }

  /**
   * Whether the running turn is waiting, directly or through other sessions, for one of the sessions that led to a
   * question.
   */
  async #wouldDeadlock(path: readonly string[]): Promise<boolean> {
    const { tenant, user, id: ownId } = this.#session.row
    const seen = new Set([ownId])
    const next = this.#outboundAsks.listAwaitedSessions()
    for (let id = next.pop(); id !== undefined && seen.size < MAX_SESSIONS_CHECKED; id = next.pop()) {
      if (path.includes(id)) return true
      if (seen.has(id)) continue
      seen.add(id)
      next.push(...(await sessionStub(this.#env, tenant, id).listAwaitedSessions({ tenant, user })))
    }
    return false
  }

  #beginTurn({ id, mode, message, path, depth, budget, from, trace }: AskRequest): Result<null, TurnFault> {
    const { store, turns, maxMessageTokens } = this.#session
    if (store.countQueued("agent") >= MAX_QUEUED_MESSAGES) return fail("agent_busy")
    // A model wrote the question, so it is cleaned like any model text.
    const text = clean(stripSpans(message))
    const contentFault = findContentFault(text, maxMessageTokens())
    if (contentFault !== null) {
      this.#session.log("ask_refused", { id, code: faultToWire(contentFault).code })
      return fail("agent_failed")
    }
    const agent = { direction: "received", name: from.name, exchange: id } as const
    store.atomically(() => {
      store.agentAsks.addInboundAsk({ id, mode, session: from.session, call_id: from.call_id, path, depth, budget })
      turns.startOrQueue(createAgentMessage(id, text, agent, Date.now(), trace))
    })
    return succeed(null)
  }

  async #sendCallback(ask: InboundAsk, reply: AskAnswer): Promise<void> {
    const { row, store, agentName } = this.#session
    const { tenant, user } = row
    this.#deliveringIds.add(ask.id)
    try {
      const callback = { id: ask.id, name: agentName(), session: row.id, reply }
      await sessionStub(this.#env, tenant, ask.session).acceptCallback({ tenant, user }, callback)
      store.agentAsks.markAnswerDelivered(ask.id)
    } catch (error) {
      // The alarm retries.
      this.#session.log("callback_failed", { id: ask.id, error: describeError(error) })
    } finally {
      this.#deliveringIds.delete(ask.id)
    }
  }
}
