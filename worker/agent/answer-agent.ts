/**
 * answer-agent.ts: another agent's session asks this one, waits for the answer, or is told it later.
 *
 * the other session (asking.ts) → ANSWERING → turn → answer, or callback
 * Whom an answer is owed stands in rows: it is handed over once its turn has ended, also by a process that knows nothing
 * of it yet. What goes out holds no spans: a card is a person's.
 */

import { clean } from "../../shared/sanitize/clean.ts"
import { fail, faultToWire, type Result, succeed, type TurnFault } from "../../shared/fault.ts"
import { MAX_AGENT_REPLY_CHARS, MAX_QUEUED } from "../../shared/limits.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { stripDirectives } from "../../shared/segment/strip-spans.ts"
import { faultOfContent } from "../turn/accept-message.ts"
import type { Begun } from "../store/agent-ask-rows.ts"
import { type AskingHost, type AskReply, type AskRequest, agentMessage } from "./ask-agent.ts"
import type { Store } from "../store/session-store.ts"

export interface Answering {
  /** Takes a question; the same again has no effect. Errors: `agent_loop`, `agent_busy`, `agent_failed`. */
  take(request: AskRequest): Promise<Result<null, TurnFault>>
  /** The answer to a question, once it is there. */
  reply(id: string): Promise<AskReply>
  /** Hands over the answers that are there. */
  settle(): void
  /** The session is erased: whoever waits for an answer is told that none will come. Never rejects. */
  giveUp(): Promise<void>
}

export interface AnsweringHost extends AskingHost {
  /** Sessions for whose answer the turn that runs here waits. */
  readonly waitsFor: () => string[]
}

/** Most sessions that are looked at to find out whether agents would wait for each other in a circle. */
const MAX_LOOKED_AT = 64

export function createAnswering(host: AnsweringHost): Answering {
  const { env, store, session, turns, now } = host
  const { tenant, user } = session
  const waiting = new Map<string, ((reply: AskReply) => void)[]>()
  const telling = new Set<string>()

  /** Whether what runs here waits, perhaps through others, for one of the sessions that led to a question. */
  const wouldWait = async (path: readonly string[]): Promise<boolean> => {
    const seen = new Set([session.id])
    const next = host.waitsFor()
    for (let id = next.pop(); id !== undefined && seen.size < MAX_LOOKED_AT; id = next.pop()) {
      if (path.includes(id)) return true
      if (seen.has(id)) continue
      seen.add(id)
      next.push(...(await env.SESSION.getByName(`${tenant}:${id}`).waitsFor({ tenant, user })))
    }
    return false
  }
  const faultOf = async ({ path, mode }: AskRequest): Promise<TurnFault | null> => {
    if (path.includes(session.id)) return "agent_loop"
    if (mode === "sync" && turns().isActive() && (await wouldWait(path))) return "agent_loop"
    return null
  }
  const tell = async (row: Begun, reply: AskReply): Promise<void> => {
    telling.add(row.id)
    try {
      const callback = { id: row.id, name: host.name(), session: session.id, reply }
      await env.SESSION.getByName(`${tenant}:${row.session}`).callback({ tenant, user }, callback)
      store.asks.handOver(row.id)
    } catch (error) {
      // The alarm tries again.
      host.log("callback_failed", { id: row.id, message: error instanceof Error ? error.message : "unknown" })
    } finally {
      telling.delete(row.id)
    }
  }
  const begin = ({ id, mode, message, path, depth, budget, from }: AskRequest): Result<null, TurnFault> => {
    if (store.countQueued("agent") >= MAX_QUEUED) return fail("agent_busy")
    // What a model wrote: it goes through the one door for all text.
    const words = clean(stripSpans(message))
    const refused = faultOfContent(words, host.maxTokens())
    if (refused !== null) {
      host.log("ask_refused", { id, code: faultToWire(refused).code })
      return fail("agent_failed")
    }
    const agent = { direction: "received", name: from.name, exchange: id } as const
    store.atomically(() => {
      store.asks.addBegun({ id, mode, session: from.session, call_id: from.call_id, path, depth, budget })
      turns().accept(agentMessage(id, words, agent, now()))
    })
    return succeed(null)
  }

  return {
    async take(request) {
      if (store.find(request.id) !== null) return succeed(null)
      const fault = await faultOf(request)
      if (fault !== null) return fail(fault)
      // Another of the same may have come while we asked around.
      return store.find(request.id) === null ? begin(request) : succeed(null)
    },
    async reply(id) {
      const known = replyIn(store, id)
      if (known !== null) return known
      return await new Promise((resolve) => {
        waiting.set(id, [...(waiting.get(id) ?? []), resolve])
      })
    },
    settle() {
      for (const [id, resolvers] of waiting) {
        const reply = replyIn(store, id)
        if (reply === null) continue
        waiting.delete(id)
        for (const resolve of resolvers) resolve(reply)
      }
      for (const row of store.asks.owed()) {
        const reply = replyIn(store, row.id)
        if (reply === null || telling.has(row.id)) continue
        // Who waits asks again after any break, and finds it in the rows.
        if (row.mode === "sync") store.asks.handOver(row.id)
        else void tell(row, reply)
      }
    },
    /** Rows are read before they go; who cannot be told gives up by themselves, in time. */
    async giveUp() {
      const reply = refused("The conversation was deleted.")
      const rows = store.asks.owed().filter(({ mode }) => mode === "async")
      for (const resolve of [...waiting.values()].flat()) resolve(reply)
      waiting.clear()
      await Promise.all(rows.map((row) => tell(row, reply)))
    },
  }
}

/** The answer to a question, as the one that asked may have it; null while there is none yet. */
function replyIn(store: Store, id: string): AskReply | null {
  const question = store.find(id)
  if (question === null) return refused("It was not asked here.")
  if (question.pos === null) return question.isWithdrawn ? refused("It was taken back.") : null
  const answer = store.at(store.newestVersion(question.pos) ?? question.pos + 1)?.message
  if (answer?.exchange_id !== id || !isEnded(answer.status)) return null
  return replyOf(answer)
}

/** Source: SPEC AG7; seed 000, round 3. */
export function replyOf(answer: Message): AskReply {
  const text = bounded(wordsOf(answer))
  if (answer.status === "completed") return { ok: true, text }
  const reason = answer.status === "failed" ? ` (${answer.reason ?? "internal"})` : ""
  return refused(`Its answer was ${answer.status}${reason}.${text === "" ? "" : ` It had said: ${text}`}`)
}

/** Its texts; where it attached something a note says so. */
function wordsOf({ parts }: Message): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [stripDirectives(part.text, part.grants)] : []))
  return texts
    .filter((text) => text !== "")
    .join("\n\n")
    .trim()
}

function refused(details: string): AskReply {
  return { ok: false, details }
}

function bounded(text: string): string {
  if (text.length <= MAX_AGENT_REPLY_CHARS) return text
  const head = text.slice(0, MAX_AGENT_REPLY_CHARS).replace(/[\ud800-\udbff]$/, "")
  return `${head}\n\n[${text.length - head.length} more characters are left out here]`
}
