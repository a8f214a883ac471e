/**
 * context-summary.ts: summarises older turns when the model's context is nearly full.
 *
 * past turns → SUMMARY (one model call) → event → recorder
 * The summary is stored with the answer that uses it first, and shown there as a collapsed block. It replaces no
 * message: the transcript remains complete. If the model fails, the turn continues with the newest turns that fit.
 */

import { SUMMARY_KEEP_SHARE, SUMMARY_START_SHARE } from "../../shared/limits.ts"
import type { Message, Summary } from "../../shared/protocol/message.ts"
import type { Model, ModelMessage } from "../model/model-adapter.ts"
import { estimatePromptTokens, estimateTokens } from "../model/token-estimate.ts"
import { describeModelCall } from "../telemetry/genai-attributes.ts"
import { fitResults } from "./model-context.ts"
import type { PastTurn, PastTurns } from "./past-turns.ts"
import type { SummaryPlan } from "./summary/request-summary.ts"
import { publishChanges, type TurnHost, type TurnRun } from "./turn-run.ts"

/**
 * Decides whether the turns before an answer nearly fill `budget` tokens, and which of them to summarise. Returns null
 * if no turns need to be summarised.
 *
 * Reads turns, newest first, back to the last summary, or until MAX_BUDGETS_READ is exceeded.
 */
export function planSummary(
  current: Message,
  parent: number | null,
  past: PastTurns,
  budget: number,
): SummaryPlan | null {
  if (current.summary !== null) return null
  const oldTurns: PastTurn[] = []
  let previous: Summary | null = null
  let isOwnQuestion = true
  let tokens = 0
  for (const turn of past(parent)) {
    if (previous !== null && turn.newestPos <= previous.upto) break
    tokens += turn.tokens
    const isKept = isOwnQuestion || (oldTurns.length === 0 && tokens <= budget * SUMMARY_KEEP_SHARE)
    isOwnQuestion = false
    if (!isKept) oldTurns.push(turn)
    previous ??= turn.summary
    if (tokens > budget * MAX_BUDGETS_READ) break
  }
  const newest = oldTurns[0]
  if (newest === undefined || tokens <= budget * SUMMARY_START_SHARE) return null
  const messageTokens = budget - (previous === null ? 0 : estimateTokens(previous.text))
  return { messages: fitTurns(oldTurns, messageTokens), previous, upto: newest.newestPos }
}

/**
 * How far to read back for the last summary, as a multiple of the token budget. If earlier summaries failed, older
 * turns are left out.
 */
const MAX_BUDGETS_READ = 4

/**
 * Returns the newest whole turns that fit, oldest first. The newest turn is always included, with shortened results if
 * necessary.
 */
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

/** Requests a summary if one is due, stores it with this run's answer, and publishes it. */
export async function summarizeIfDue(host: TurnHost, run: TurnRun, model: Model): Promise<void> {
  const { pastTurns: past, log } = host
  const { system, tools, contextTokens } = run.agent
  const budget = contextTokens - estimatePromptTokens(system, tools)
  const plan = planSummary(run.recorder.currentMessage(), run.parent, past, budget)
  if (plan === null) return
  const { requestSummary } = await import("./summary/request-summary.ts")
  const describeSpan = () => describeModelCall(model, "summary")
  const text = await run.span.run("chat", describeSpan, (span) => requestSummary(host, run, model, plan, span))
  if (run.abort.signal.aborted) return
  if (text === "") return log("summary_failed", { upto: plan.upto })
  run.recorder.feed({ type: "summary", text, upto: plan.upto })
  publishChanges(host, run)
}
