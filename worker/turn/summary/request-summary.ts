/** request-summary.ts: requests a summary of older turns from the model. Loaded on first use. */

import { MAX_SUMMARY_CHARS } from "../../../shared/limits.ts"
import type { Summary } from "../../../shared/protocol/message.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { type Model, type ModelEvent, type ModelMessage, readStatus } from "../../model/model-adapter.ts"
import { createSummaryPrompt } from "../../model/background-prompts.ts"
import { createTokenEstimate } from "../../model/token-estimate.ts"
import { iterateUntilAborted } from "../../platform/abort.ts"
import type { TraceSpan } from "../../telemetry/spans.ts"
import { endCall, type TurnHost, type TurnRun } from "../turn-run.ts"

export interface SummaryPlan {
  /** The messages to summarise, oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly previous: Summary | null
  /** Position of the newest message that the summary covers. */
  readonly upto: number
}

/** Returns the summary's text; empty if the model failed. */
export async function requestSummary(
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
