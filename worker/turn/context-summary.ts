/**
 * context-summary.ts: when the model's context is nearly full, what is old is told in short.
 *
 * store → SUMMARY: one model call → event → recorder
 * The summary is stored with the answer that was first told it, and shown there as a fold. It never replaces a message:
 * the transcript stays whole. A model that fails here costs nothing but its help: the newest turns still fit.
 */

import { MAX_SUMMARY_CHARS, SUMMARY_START_SHARE, SUMMARY_KEEP_SHARE } from "../../shared/limits.ts"
import type { Message, Summary } from "../../shared/protocol/message.ts"
import type { Model, ModelMessage } from "../model/model-adapter.ts"
import { createSummaryPrompt } from "../model/system-prompt.ts"
import { estimateTokens, estimatePromptTokens } from "../model/token-estimate.ts"
import { fitResults, type PastTurns, type PastTurn } from "./model-context.ts"
import { publishChanges, type TurnRun, type TurnHost } from "./turn-run.ts"
import { iterateUntilAborted } from "../platform/until-aborted.ts"

/** What is to be told in short. */
export interface SummaryPlan {
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly previous: Summary | null
  /** Position of the newest message that it covers. */
  readonly upto: number
}

/**
 * Whether the turns before an answer come near the budget, and which of them are to be told in short.
 *
 * Shapes  (answer, position of its question, turns before it, tokens for messages) → plan, or null where there is room.
 * Cost    reads turns, newest first, until the last summary or until the budget is full.
 */
export function planSummary(
  current: Message,
  parent: number | null,
  past: PastTurns,
  budget: number,
): SummaryPlan | null {
  if (current.summary !== null) return null
  const old: PastTurn[] = []
  let previous: Summary | null = null
  let isOwnQuestion = true
  let tokens = 0
  for (const turn of past(parent)) {
    if (previous !== null && turn.newestPos <= previous.upto) break
    tokens += turn.tokens
    const isKept = isOwnQuestion || (old.length === 0 && tokens <= budget * SUMMARY_KEEP_SHARE)
    isOwnQuestion = false
    if (!isKept) old.push(turn)
    previous ??= turn.summary
    // Where summaries failed again and again: what lies so far back is given up.
    if (tokens > budget * MAX_BUDGETS_READ) break
  }
  const newest = old[0]
  if (newest === undefined || tokens <= budget * SUMMARY_START_SHARE) return null
  const messageTokens = budget - (previous === null ? 0 : estimateTokens(previous.text))
  return { messages: fitTurns(old, messageTokens), previous, upto: newest.newestPos }
}

/** Budgets that a walk may read before it gives up looking for the last summary. */
const MAX_BUDGETS_READ = 4

/** The newest whole turns that fit, oldest first; the newest of them in any case, with its results cut. */
function fitTurns(newestFirst: readonly PastTurn[], maxTokens: number): ModelMessage[] {
  const fitting: (readonly ModelMessage[])[] = []
  let tokensLeft = maxTokens
  for (const { messages, tokens } of newestFirst) {
    const fitted = tokens <= tokensLeft || fitting.length > 0 ? messages : fitResults(messages, tokensLeft / 2)
    tokensLeft -= tokens
    if (tokensLeft < 0 && fitting.length > 0) break
    fitting.push(fitted)
  }
  return fitting.reverse().flat()
}

/** Asks the model for a summary where one is due, stores it with this run's answer, and shows it. */
export async function summarizeIfDue(host: TurnHost, run: TurnRun, model: Model): Promise<void> {
  const { pastTurns: past, log } = host
  const { system, tools, contextTokens } = run.agent
  const budget = contextTokens - estimatePromptTokens(system, tools)
  const plan = planSummary(run.recorder.currentMessage(), run.parent, past, budget)
  if (plan === null) return
  const text = await requestSummary(host, run, model, plan)
  if (run.abort.signal.aborted) return
  if (text === "") return log("summary_failed", { upto: plan.upto })
  run.recorder.feed({ type: "summary", text, upto: plan.upto })
  publishChanges(host, run)
}

async function requestSummary(
  host: TurnHost,
  run: TurnRun,
  model: Model,
  { messages, previous }: SummaryPlan,
): Promise<string> {
  const { signal } = run.abort
  const previousSummary: ModelMessage[] = previous === null ? [] : [{ role: "user", content: previous.text }]
  const instruction: ModelMessage = { role: "user", content: "Now write that summary." }
  const request = {
    system: createSummaryPrompt(),
    messages: [...previousSummary, ...messages, instruction],
    tools: [],
    signal,
  }
  let text = ""
  for await (const event of iterateUntilAborted(model.stream({ ...request, purpose: "summary" }), signal)) {
    if (event.type === "text_delta") text += event.delta
    if (event.type === "fault") {
      host.log("model_fault", { fault: event.fault, detail: event.detail })
      return ""
    }
    if (event.type === "finish" || text.length > MAX_SUMMARY_CHARS) break
  }
  return text.trim().slice(0, MAX_SUMMARY_CHARS).toWellFormed()
}
