/**
 * asked.ts: another agent's session asks this one, waits for the answer, or is told it later.
 *
 * the other session (asking.ts) → ASKED → turn → answer, or callback
 * Whom an answer is owed stands in rows: it is handed over once its turn has ended, also by a process that knows nothing
 * of it yet. What goes out holds no spans: a card is a person's.
 */

import { fail, faultToWire, type Result, succeed, type TurnFault, turnFaultText } from "../../shared/fault.ts"
import { MAX_AGENT_REPLY_CHARS, MAX_QUEUED } from "../../shared/limits.ts"
import { stripSpans } from "../../shared/mark.ts"
import { contentOf, isEnded, type Message, openMessage } from "../../shared/message.ts"
import type { Env } from "../env.ts"
import { faultOfContent } from "./accept.ts"
import type { AskRow } from "./ask-rows.ts"
import type { AskReply, AskRequest } from "./asking.ts"
import type { SessionRow } from "./rows.ts"
import type { Store } from "./store.ts"
import type { Turns } from "./turn.ts"

export interface Asked {
  /** Takes a question; the same again has no effect. Errors: `agent_loop`, `agent_busy`, `agent_failed`. */
  take(request: AskRequest): Promise<Result<null, TurnFault>>
  /** The answer to a question, once it is there. */
  reply(id: string): Promise<AskReply>
  /** Hands over the answers that are there. */
  settle(): void
  /** The session is erased: whoever waits for an answer is told that none will come. Never rejects. */
  giveUp(): Promise<void>
}

export interface AskedHost {
  readonly env: Env
  readonly store: Store
  readonly session: SessionRow
  readonly name: () => string
  readonly maxTokens: () => number
  readonly turns: () => Turns
  readonly now: () => number
  /** Sessions for whose answer the turn that runs here waits. */
  readonly waitsFor: () => string[]
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

/** Most sessions that are looked at to find out whether agents would wait for each other in a circle. */
const MAX_LOOKED_AT = 64

export function createAsked(host: AskedHost): Asked {
  const { env, store, session, turns, now } = host
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
      next.push(...(await env.SESSION.getByName(`${session.tenant}:${id}`).waitsFor()))
    }
    return false
  }
  const faultOf = async (request: AskRequest): Promise<TurnFault | null> => {
    if (request.path.includes(session.id)) return "agent_loop"
    if (request.mode === "sync" && turns().isActive() && (await wouldWait(request.path))) return "agent_loop"
    return null
  }
  const tell = async (row: AskRow, reply: AskReply): Promise<void> => {
    telling.add(row.id)
    try {
      const { tenant, user, id } = session
      const callback = { id: row.id, call_id: row.call_id, name: host.name(), session: id, reply }
      await env.SESSION.getByName(`${tenant}:${row.session}`).callback({ tenant, user }, callback)
      store.asks.close(row.id)
    } catch (error) {
      // The alarm tries again.
      host.log("callback_failed", { id: row.id, message: error instanceof Error ? error.message : "unknown" })
    } finally {
      telling.delete(row.id)
    }
  }

  /** Read before the rows go; what cannot be told is found out by whoever asks. */
  const giveUp = async (): Promise<void> => {
    const reply = refused("The conversation was deleted.")
    const rows = store.asks.open().filter(({ mode }) => mode === "async")
    for (const resolve of [...waiting.values()].flat()) resolve(reply)
    waiting.clear()
    await Promise.all(rows.map((row) => tell(row, reply)))
  }

  return {
    giveUp,
    async take(request) {
      const { id, message, mode, path, depth, from } = request
      if (store.find(id) !== null) return succeed(null)
      const fault = await faultOf(request)
      if (fault !== null) return fail(fault)
      // Another of the same may have come while we asked around.
      if (store.find(id) !== null) return succeed(null)
      if (store.countQueued() >= MAX_QUEUED) return fail("agent_busy")
      const refused = faultOfContent(message, host.maxTokens())
      if (refused !== null) {
        host.log("ask_refused", { id, code: faultToWire(refused).code })
        return fail("agent_failed")
      }
      store.asks.add({ id, mode, session: from.session, call_id: from.call_id, path, depth })
      const agent = { direction: "received", name: from.name, exchange: id } as const
      const timestamp = new Date(now()).toISOString()
      const head = { id, role: "agent", exchange_id: id, status: "completed", timestamp } as const
      turns().accept(openMessage({ ...head, agent, words: message.toWellFormed() }))
      return succeed(null)
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
      for (const row of store.asks.open()) {
        const reply = replyIn(store, row.id)
        if (reply === null || telling.has(row.id)) continue
        // Who waits asks again after any break, and finds it in the rows.
        if (row.mode === "sync") store.asks.close(row.id)
        else void tell(row, reply)
      }
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
  const text = bounded(stripSpans(contentOf(answer)).trim())
  if (answer.status === "completed") return { ok: true, text }
  const reason = answer.status === "failed" ? ` (${answer.reason ?? "internal"})` : ""
  return refused(`Its answer was ${answer.status}${reason}.${text === "" ? "" : ` It had said: ${text}`}`)
}

function refused(details: string): AskReply {
  return { ok: false, text: turnFaultText("agent_failed"), details }
}

function bounded(text: string): string {
  if (text.length <= MAX_AGENT_REPLY_CHARS) return text
  const head = text.slice(0, MAX_AGENT_REPLY_CHARS).replace(/[\ud800-\udbff]$/, "")
  return `${head}\n\n[${text.length - head.length} more characters are left out here]`
}
