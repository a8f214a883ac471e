/**
 * context-summary.ts: when the model's context is nearly full, what is old is told in short.
 *
 * store → SUMMARY: one model call → event → recorder
 * The summary is stored with the answer that was first told it, and shown there as a fold. It never replaces a message:
 * the transcript stays whole. A model that fails here costs nothing but its help: the newest turns still fit.
 */

import { MAX_SUMMARY_CHARS, SUMMARY_FROM, SUMMARY_KEEPS } from "../../shared/limits.ts"
import type { Message, Summary } from "../../shared/protocol/message.ts"
import type { Model, ModelMessage } from "../model/model-adapter.ts"
import { summaryPrompt } from "../model/system-prompt.ts"
import { tokensOf, tokensOfFrame } from "../model/token-estimate.ts"
import { fitResults, type Past, type PastTurn } from "./model-context.ts"
import { publish, type Run, type TurnHost } from "./turn-run.ts"
import { untilAborted } from "../platform/until-aborted.ts"

/** What is to be told in short. */
export interface SummaryPlan {
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly before: Summary | null
  /** Position of the newest message that it covers. */
  readonly upto: number
}

/**
 * Whether the turns before an answer come near the budget, and which of them are to be told in short.
 *
 * Shapes  (answer, position of its question, turns before it, tokens for messages) → plan, or null where there is room.
 * Cost    reads turns, newest first, until the last summary or until the budget is full.
 */
export function planSummary(current: Message, parent: number | null, past: Past, budget: number): SummaryPlan | null {
  if (current.summary !== null) return null
  const old: PastTurn[] = []
  let before: Summary | null = null
  let isOwn = true
  let tokens = 0
  for (const turn of past(parent)) {
    if (before !== null && turn.newest <= before.upto) break
    tokens += turn.tokens
    const isKept = isOwn || (old.length === 0 && tokens <= budget * SUMMARY_KEEPS)
    isOwn = false
    if (!isKept) old.push(turn)
    before ??= turn.summary
    // Where summaries failed again and again: what lies so far back is given up.
    if (tokens > budget * MAX_WALK) break
  }
  const newest = old[0]
  if (newest === undefined || tokens <= budget * SUMMARY_FROM) return null
  const room = budget - (before === null ? 0 : tokensOf(before.text))
  return { messages: fitTurns(old, room), before, upto: newest.newest }
}

/** Budgets that a walk may read before it gives up looking for the last summary. */
const MAX_WALK = 4

/** The newest whole turns that fit, oldest first; the newest of them in any case, with its results cut. */
function fitTurns(newestFirst: readonly PastTurn[], room: number): ModelMessage[] {
  const fitting: (readonly ModelMessage[])[] = []
  let left = room
  for (const { messages, tokens } of newestFirst) {
    const fitted = tokens <= left || fitting.length > 0 ? messages : fitResults(messages, left / 2)
    left -= tokens
    if (left < 0 && fitting.length > 0) break
    fitting.push(fitted)
  }
  return fitting.reverse().flat()
}

/** Asks the model for a summary where one is due, stores it with this run's answer, and shows it. */
export async function summarise(host: TurnHost, run: Run, model: Model): Promise<void> {
  const { past, log } = host
  const { system, tools, contextTokens } = run.answerer
  const budget = contextTokens - tokensOfFrame(system, tools)
  const plan = planSummary(run.recorder.message(), run.parent, past, budget)
  if (plan === null) return
  const text = await ask(host, run, model, plan)
  if (run.abort.signal.aborted) return
  if (text === "") return log("summary_failed", { upto: plan.upto })
  run.recorder.feed({ type: "summary", text, upto: plan.upto })
  publish(host, run)
}

async function ask(host: TurnHost, run: Run, model: Model, { messages, before }: SummaryPlan): Promise<string> {
  const { signal } = run.abort
  const told: ModelMessage[] = before === null ? [] : [{ role: "user", content: before.text }]
  const asked: ModelMessage = { role: "user", content: "Now write that summary." }
  const request = { system: summaryPrompt(), messages: [...told, ...messages, asked], tools: [], signal }
  let text = ""
  for await (const event of untilAborted(model.stream({ ...request, purpose: "summary" }), signal)) {
    if (event.type === "text_delta") text += event.delta
    if (event.type === "fault") {
      host.log("model_fault", { fault: event.fault, detail: event.detail })
      return ""
    }
    if (event.type === "finish" || text.length > MAX_SUMMARY_CHARS) break
  }
  return text.trim().slice(0, MAX_SUMMARY_CHARS).toWellFormed()
}
