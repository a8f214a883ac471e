/**
 * context-summary.ts: summarises older turns when the model's context is nearly full.
 *
 * past turns → SUMMARY (one model call) → event → recorder
 * The summary is stored with the answer that uses it first, and shown there as a collapsed block. It replaces no message:
 * the transcript stays complete. If the model fails, the turn continues with the newest turns that fit.
 */

import { MAX_SUMMARY_CHARS, SUMMARY_KEEP_SHARE, SUMMARY_START_SHARE } from "../../shared/limits.ts"
import type { Message, Summary } from "../../shared/protocol/message.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { type Model, type ModelEvent, type ModelMessage, readStatus } from "../model/model-adapter.ts"
import { createSummaryPrompt } from "../model/system-prompt.ts"
import { createTokenEstimate, estimatePromptTokens, estimateTokens } from "../model/token-estimate.ts"
import { iterateUntilAborted } from "../platform/abort.ts"
import { describeModelCall } from "../telemetry/genai-attributes.ts"
import type { TraceSpan } from "../telemetry/spans.ts"
import { fitResults } from "./model-context.ts"
import type { PastTurn, PastTurns } from "./past-turns.ts"
import { endCall, publishChanges, type TurnHost, type TurnRun } from "./turn-run.ts"

export interface SummaryPlan {
  /** The messages to summarise, oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly previous: Summary | null
  /** Position of the newest message that the summary covers. */
  readonly upto: number
}

/**
 * Decides whether the turns before an answer nearly fill `budget` tokens, and which of them to summarise. Null: none.
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

/** Budgets to read back while looking for the last summary. If earlier summaries failed, older turns are left out. */
const MAX_BUDGETS_READ = 4

/** The newest whole turns that fit, oldest first. The newest one is always included, if necessary with cut results. */
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
  const describeSpan = () => describeModelCall(model, "summary")
  const text = await run.span.run("chat", describeSpan, (span) => requestSummary(host, run, model, plan, span))
  if (run.abort.signal.aborted) return
  if (text === "") return log("summary_failed", { upto: plan.upto })
  run.recorder.feed({ type: "summary", text, upto: plan.upto })
  publishChanges(host, run)
}

/** The summary's text; empty if the model failed. */
async function requestSummary(
  host: TurnHost,
  run: TurnRun,
  model: Model,
  { messages, previous }: SummaryPlan,
  span: TraceSpan,
): Promise<string> {
  const { signal } = run.abort
  const previousSummary: ModelMessage[] = previous === null ? [] : [{ role: "user", content: previous.text }]
  const instruction: ModelMessage = { role: "user", content: "Now write that summary." }
  const request = {
    purpose: "summary" as const,
    system: createSummaryPrompt(),
    messages: [...previousSummary, ...messages, instruction],
    tools: [],
    signal,
  }
  run.usage.beginCall(model, createTokenEstimate(request))
  try {
    return await readSummary(host, run, iterateUntilAborted(model.stream(request), signal))
  } finally {
    endCall(run, span)
  }
}

async function readSummary(host: TurnHost, run: TurnRun, events: AsyncIterable<ModelEvent>): Promise<string> {
  let text = ""
  for await (const event of events) {
    run.usage.observe(event)
    if (event.type === "text_delta") text += event.delta
    if (event.type === "fault") {
      host.log("model_fault", { fault: event.fault, status: readStatus(event.detail) })
      return ""
    }
    if (event.type === "finish" || text.length > MAX_SUMMARY_CHARS) break
  }
  return cutText(text.trim().toWellFormed(), MAX_SUMMARY_CHARS)
}
