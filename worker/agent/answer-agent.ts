/**
 * answer-agent.ts: another agent's session asks this one, waits for the answer, or is told it later.
 *
 * the other session (asking.ts) → ANSWERING → turn → answer, or callback
 * Whom an answer is owed stands in rows: it is handed over once its turn has ended, also by a process that knows nothing
 * of it yet. What goes out holds no spans: a card is a person's.
 */

import { clean } from "../../shared/sanitize/clean.ts"
import { fail, faultToWire, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import { MAX_AGENT_ANSWER_CHARS, MAX_QUEUED_MESSAGES } from "../../shared/limits.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { stripDirectives } from "../../shared/segment/strip-spans.ts"
import { findContentFault } from "../turn/accept-message.ts"
import type { InboundAsk } from "../store/agent-ask-rows.ts"
import { type OutboundAsksHost, createAgentMessage } from "./ask-agent.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { AskAnswer, AskRequest } from "../platform/rpc/session-types.ts"

export interface InboundAsks {
  /** Takes a question; the same again has no effect. Errors: `agent_loop`, `agent_busy`, `agent_failed`. */
  acceptAsk(request: AskRequest): Promise<Result<null, TurnFault>>
  /** The answer to a question, once it is there. */
  waitForAnswer(id: string): Promise<AskAnswer>
  /** Hands over the answers that are there. */
  deliverAnswers(): void
  /** The session is erased: whoever waits for an answer is told that none will come. Never rejects. */
  rejectWaiting(): Promise<void>
}

export interface InboundAsksHost extends OutboundAsksHost {
  /** Sessions for whose answer the turn that runs here waits. */
  readonly listAwaitedSessions: () => string[]
}

/** Most sessions that are looked at to find out whether agents would wait for each other in a circle. */
const MAX_SESSIONS_CHECKED = 64

export function createInboundAsks(host: InboundAsksHost): InboundAsks {
  const { env, store, session, turns, now } = host
  const { tenant, user } = session
  const waitersById = new Map<string, ((reply: AskAnswer) => void)[]>()
  const deliveringIds = new Set<string>()

  /** Whether what runs here waits, perhaps through others, for one of the sessions that led to a question. */
  const wouldDeadlock = async (path: readonly string[]): Promise<boolean> => {
    const seen = new Set([session.id])
    const next = host.listAwaitedSessions()
    for (let id = next.pop(); id !== undefined && seen.size < MAX_SESSIONS_CHECKED; id = next.pop()) {
      if (path.includes(id)) return true
      if (seen.has(id)) continue
      seen.add(id)
      next.push(...(await env.SESSION.getByName(`${tenant}:${id}`).listAwaitedSessions({ tenant, user })))
    }
    return false
  }
  const findAskFault = async ({ path, mode }: AskRequest): Promise<TurnFault | null> => {
    if (path.includes(session.id)) return "agent_loop"
    if (mode === "sync" && turns().isActive() && (await wouldDeadlock(path))) return "agent_loop"
    return null
  }
  const sendCallback = async (row: InboundAsk, reply: AskAnswer): Promise<void> => {
    deliveringIds.add(row.id)
    try {
      const callback = { id: row.id, name: host.agentName(), session: session.id, reply }
      await env.SESSION.getByName(`${tenant}:${row.session}`).acceptCallback({ tenant, user }, callback)
      store.agentAsks.markAnswerDelivered(row.id)
    } catch (error) {
      // The alarm tries again.
      host.log("callback_failed", { id: row.id, message: error instanceof Error ? error.message : "unknown" })
    } finally {
      deliveringIds.delete(row.id)
    }
  }
  const beginAskedTurn = ({ id, mode, message, path, depth, budget, from }: AskRequest): Result<null, TurnFault> => {
    if (store.countQueued("agent") >= MAX_QUEUED_MESSAGES) return fail("agent_busy")
    // What a model wrote: it goes through the one door for all text.
    const words = clean(stripSpans(message))
    const contentFault = findContentFault(words, host.maxMessageTokens())
    if (contentFault !== null) {
      host.log("ask_refused", { id, code: faultToWire(contentFault).code })
      return fail("agent_failed")
    }
    const agent = { direction: "received", name: from.name, exchange: id } as const
    store.atomically(() => {
      store.agentAsks.addInboundAsk({ id, mode, session: from.session, call_id: from.call_id, path, depth, budget })
      turns().startOrQueue(createAgentMessage(id, words, agent, now()))
    })
    return succeed(null)
  }

  return {
    async acceptAsk(request) {
      if (store.findById(request.id) !== null) return succeed(null)
      const fault = await findAskFault(request)
      if (fault !== null) return fail(fault)
      // Another of the same may have come while we asked around.
      return store.findById(request.id) === null ? beginAskedTurn(request) : succeed(null)
    },
    async waitForAnswer(id) {
      const known = findAnswer(store, id)
      if (known !== null) return known
      return await new Promise((resolve) => {
        waitersById.set(id, [...(waitersById.get(id) ?? []), resolve])
      })
    },
    deliverAnswers() {
      for (const [id, resolvers] of waitersById) {
        const reply = findAnswer(store, id)
        if (reply === null) continue
        waitersById.delete(id)
        for (const resolve of resolvers) resolve(reply)
      }
      for (const row of store.agentAsks.listOwedAnswers()) {
        const reply = findAnswer(store, row.id)
        if (reply === null || deliveringIds.has(row.id)) continue
        // Who waits asks again after any break, and finds it in the rows.
        if (row.mode === "sync") store.agentAsks.markAnswerDelivered(row.id)
        else void sendCallback(row, reply)
      }
    },
    /** Rows are read before they go; who cannot be told gives up by themselves, in time. */
    async rejectWaiting() {
      const reply = createFailedAnswer("The conversation was deleted.")
      const rows = store.agentAsks.listOwedAnswers().filter(({ mode }) => mode === "async")
      for (const resolve of [...waitersById.values()].flat()) resolve(reply)
      waitersById.clear()
      await Promise.all(rows.map((row) => sendCallback(row, reply)))
    },
  }
}

/** The answer to a question, as the one that asked may have it; null while there is none yet. */
function findAnswer(store: SessionStore, id: string): AskAnswer | null {
  const question = store.findById(id)
  if (question === null) return createFailedAnswer("It was not asked here.")
  if (question.pos === null) return question.isWithdrawn ? createFailedAnswer("It was taken back.") : null
  const answer = store.findMessageAt(store.findNewestVersion(question.pos) ?? question.pos + 1)?.message
  if (answer?.exchange_id !== id || !isEnded(answer.status)) return null
  return messageToAnswer(answer)
}

/** Source: SPEC AG7, AG12; seed 000, round 3. */
export function messageToAnswer(answer: Message): AskAnswer {
  const text = truncateAnswer(extractAnswerText(answer))
  if (answer.status === "completed") return { ok: true, text }
  const reason = answer.status === "failed" ? ` (${answer.reason ?? "internal"})` : ""
  return createFailedAnswer(`Its answer was ${answer.status}${reason}.${text === "" ? "" : ` It had said: ${text}`}`)
}

/** Its texts; where it attached something a note says so. */
function extractAnswerText({ parts }: Message): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [stripDirectives(part.text, part.grants)] : []))
  return texts
    .filter((text) => text !== "")
    .join("\n\n")
    .trim()
}

function createFailedAnswer(details: string): AskAnswer {
  return { ok: false, details }
}

function truncateAnswer(text: string): string {
  if (text.length <= MAX_AGENT_ANSWER_CHARS) return text
  const head = text.slice(0, MAX_AGENT_ANSWER_CHARS).replace(/[\ud800-\udbff]$/, "")
  return `${head}\n\n[${text.length - head.length} more characters are left out here]`
}
