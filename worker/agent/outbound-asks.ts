/**
 * outbound-asks.ts: the questions that this session asks the sessions of other agents.
 *
 * tool ▶ OutboundAsks ▶ the other session (InboundAsks) ▶ answer, or later a callback, which completes the call
 * An open question has a row. The row is closed only when the answer has been applied, or when the other session has
 * been told to stop, so a restart loses neither an answer nor a cancellation.
 */

import { isSettled, listCalls, type ToolCall } from "../../shared/protocol/message.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { Env } from "../env.ts"
import { callIdToPos } from "../platform/call-id.ts"
import { describeError } from "../platform/log.ts"
import { rejectOnAbort } from "../platform/abort.ts"
import { pause } from "../platform/pause.ts"
import { readTimeLimits, type TimeLimits } from "../platform/time-limits.ts"
import { startTimeout } from "../platform/timeout.ts"
import type { OutboundAsk } from "../store/agent-ask-rows.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { AgentQuestion } from "../tool/agents-tool.ts"
import { createRefusal, DeferredResult, type ToolContext, type ToolReturn } from "../tool/tool.ts"
import { truncateMessage } from "../turn/accept-message.ts"
import { createAgentMessage } from "./agent-message.ts"
import { createAskRequest } from "./ask-request.ts"
import { answerToMessageText, answerToToolResult, answerToToolReturn, createAskRefusal } from "./ask-result.ts"
import type { AgentSession } from "./agent-session.ts"
import type { AskAnswer, AskCallback, AskRequest } from "../platform/rpc/session-types.ts"

/** Maximum number of retries. The delay doubles with each retry. */
const MAX_RETRIES = 7

const TIMED_OUT = "It didn't answer within the time limit."

export class OutboundAsks {
  readonly #env: Env
  readonly #session: AgentSession
  readonly #times: TimeLimits
  /** Ids of questions that this process is waiting for or cancelling. */
  readonly #busyIds = new Set<string>()

  constructor(env: Env, session: AgentSession) {
    this.#env = env
    this.#session = session
    this.#times = readTimeLimits(env)
  }

  /**
   * Runs an `agents_message` call. `sync` waits for the answer; `async` returns as soon as the question is accepted.
   */
  async askAgent(question: AgentQuestion, context: ToolContext): Promise<ToolReturn> {
    const request = await createAskRequest(this.#session, question, context)
    if (!request.ok) return createAskRefusal(request.fault)
    const { id, to, agent, mode, budget } = request.value
    context.signal.throwIfAborted()
    const deadlineMs = mode === "async" ? Date.now() + this.#times.agentCallbackMs : null
    // Stored before the request is sent: if two sessions ask each other at once, at least one finds the other waiting.
    this.#rows.addOutboundAsk({ id, call_id: context.call_id, session: to, agent, mode, budget, deadlineMs })
    this.#busyIds.add(id)
    return await this.#askWithTimeout(request.value, context.signal).finally(() => this.#busyIds.delete(id))
  }

  /** Applies a late answer. Idempotent: repeating the call has no effect. */
  acceptCallback({ id, reply }: AskCallback): void {
    const ask = this.#rows.listOpenOutboundAsks().find((open) => open.id === id)
    const stored = ask === undefined ? null : this.#findCallMessage(ask)
    if (ask !== undefined && stored !== null) this.#applyAnswer(ask, stored, reply)
  }

  /** Cancels the questions of calls that have a result, and fails calls whose answer is overdue. */
  sweepAsks(): void {
    for (const ask of this.#rows.listOpenOutboundAsks()) {
      if (this.#busyIds.has(ask.id)) continue
      const stored = this.#findCallMessage(ask)
      const call = stored === null ? undefined : findCall(stored, ask)
      if (stored === null || call === undefined || isSettled(call.status)) void this.#cancelAsk(ask)
      else if (ask.deadlineMs !== null && ask.deadlineMs <= Date.now()) {
        this.#applyAnswer(ask, stored, { ok: false, details: TIMED_OUT })
        void this.#cancelAsk(ask)
      }
    }
  }

  /**
   * Begins the turns for answers that arrived while the message version that asked was inactive, if that version is
   * active now (SPEC VE8).
   */
  beginHeldTurns(): void {
    for (const { ask, answer } of this.#rows.listHeldAnswers()) {
      const stored = this.#findCallMessage(ask)
      if (stored === null) this.#rows.closeOutboundAsk(ask.id)
      else if (this.#session.store.isOnPath(stored.pos)) this.#beginAnswerTurn(ask, stored, answer)
    }
  }

  /** Returns the sessions whose answers the running turn is waiting for. */
  listAwaitedSessions(): string[] {
    return this.#rows.listOpenOutboundAsks().flatMap(({ mode, session }) => (mode === "sync" ? [session] : []))
  }

  /** Whether this session asked the question with this id and has received no answer yet. */
  isAskOpen(id: string): boolean {
    return this.#rows.listOpenOutboundAsks().some((ask) => ask.id === id)
  }

  get #rows() {
    return this.#session.store.agentAsks
  }

  #getStub(id: string) {
    return sessionStub(this.#env, this.#session.row.tenant, id)
  }

  /**
   * Sends the question with a time limit. The limit is halved at each further depth, so that an agent still has time to
   * use the answer that it receives.
   */
  async #askWithTimeout(request: AskRequest, signal: AbortSignal): Promise<ToolReturn> {
    const timeout = startTimeout(signal, this.#times.agentAnswerMs >> (request.depth - 1))
    try {
      const returned = await this.#askWithRetries(request, timeout.signal)
      if (!(returned instanceof DeferredResult)) this.#rows.closeOutboundAsk(request.id)
      return returned
    } catch (error) {
      // The other session must stop the turn that it began for the question, even if this session's turn was stopped.
      const cancelled = this.#cancelAsk({ id: request.id, session: request.to })
      if (signal.aborted) throw error
      await cancelled
      return createRefusal("agent_failed", timeout.hasExpired() ? TIMED_OUT : "It couldn't be reached.")
    } finally {
      timeout.clear()
    }
  }

  /**
   * Sends the question, and retries after a failure. Each attempt sends the same id, so the question takes effect only
   * once.
   */
  async #askWithRetries(request: AskRequest, signal: AbortSignal): Promise<ToolReturn> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#askOnce(request, signal)
      } catch (error) {
        if (signal.aborted || retries >= MAX_RETRIES) throw error
        await pause(this.#times.agentRetryMs * 2 ** retries, signal)
      }
    }
  }

  async #askOnce(request: AskRequest, signal: AbortSignal): Promise<ToolReturn> {
    const { id, owner, to, agent, mode } = request
    signal.throwIfAborted()
    const accepted = await this.#getStub(to).acceptAsk(request)
    if (!accepted.ok) return createAskRefusal(accepted.fault)
    // This turn may have been stopped while the question was being sent.
    if (signal.aborted) await this.#cancelAsk({ id, session: to })
    signal.throwIfAborted()
    if (mode === "async") return new DeferredResult({ mode, status: "queued", responseId: id, session: to })
    const waitForAnswer = async (): Promise<AskAnswer> => await this.#getStub(to).waitForAnswer(owner, id)
    return answerToToolReturn(await rejectOnAbort(waitForAnswer(), signal), { agent, session: to })
  }

  /** Tells the other session to stop. The row remains open until that succeeds. Never rejects. */
  async #cancelAsk({ id, session }: Pick<OutboundAsk, "id" | "session">): Promise<void> {
    const { tenant, user } = this.#session.row
    this.#busyIds.add(id)
    try {
      await this.#getStub(session).cancelAsk({ tenant, user }, id)
      this.#rows.closeOutboundAsk(id)
    } catch (error) {
      this.#session.log("unask_failed", { id, error: describeError(error) })
    } finally {
      this.#busyIds.delete(id)
    }
  }

  /**
   * Applies an answer. Each step takes effect once, even if the process stops in between, because the row is closed
   * last.
   */
  #applyAnswer(ask: OutboundAsk, stored: StoredMessage, answer: AskAnswer): void {
    const { store, turns } = this.#session
    const call = findCall(stored, ask)
    if (call === undefined || call.status === "interrupted") return this.#rows.closeOutboundAsk(ask.id)
    if (!isSettled(call.status)) turns.fillToolResult(stored, answerToToolResult(ask, answer))
    if (store.isOnPath(stored.pos)) this.#beginAnswerTurn(ask, stored, answer)
    else this.#rows.holdAnswer(ask.id, answer)
  }

  /**
   * Begins a turn in which the asking agent can use a late answer (SPEC AG4). Closes the question, so repeated answers
   * to it begin only one turn.
   */
  #beginAnswerTurn({ id, call_id, agent: name, budget }: OutboundAsk, stored: StoredMessage, answer: AskAnswer): void {
    const { row, store, turns, maxMessageTokens } = this.#session
    if (store.findById(id) !== null) return this.#rows.closeOutboundAsk(id)
    const inboundAsk = this.#rows.findInboundAsk(stored.message.exchange_id)
    const path = inboundAsk?.path ?? []
    const depth = (inboundAsk?.depth ?? 0) + 1
    const text = truncateMessage(answerToMessageText(answer), maxMessageTokens())
    const agent = { direction: "received", name, exchange: id, call_id } as const
    store.atomically(() => {
      this.#rows.addInboundAsk({ id, mode: "callback", session: row.id, call_id, path, depth, budget })
      this.#rows.closeOutboundAsk(id)
      turns.startOrQueue(createAgentMessage(id, text, agent, Date.now(), stored.message.trace))
    })
  }

  #findCallMessage({ call_id }: OutboundAsk): StoredMessage | null {
    const pos = callIdToPos(call_id)
    return pos === null ? null : this.#session.store.findMessageAt(pos)
  }
}

function findCall({ message }: StoredMessage, { call_id }: OutboundAsk): ToolCall | undefined {
  return listCalls(message).find((call) => call.call_id === call_id)
}
