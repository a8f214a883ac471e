/**
 * apply-record.ts: applies an external producer's record to the run of its answer, within the limits of one answer.
 */

import type { TurnEvent } from "../../../shared/protocol/event.ts"
import type { RecordEffect } from "../../../shared/ingest/external-record.ts"
import {
  MAX_ANSWER_CHARS,
  MAX_EXTERNAL_CALLS,
  MAX_EXTERNAL_DATA_CHARS,
  MAX_EXTERNAL_PARTS,
} from "../../../shared/limits.ts"
import { listCalls, type ToolCall, createTooLargeResult } from "../../../shared/protocol/message.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { createToolOutput } from "../../turn/dispatch-tool.ts"
import type { Producer } from "../../turn/external-run.ts"
import {
  cancelRun,
  endThinking,
  finishRun,
  publishChanges,
  type TurnRun,
  feedEvent,
  schedulePublish,
  type TurnHost,
} from "../../turn/turn-run.ts"

/**
 * Applies the effect of a record. Beyond the limits, the answer ends as `failed` with `answer_too_long` (SPEC EX3–EX5,
 * EX19–EX21).
 *
 * Throws if a write fails. The run can't be used after that.
 */
export function applyRecord(
  host: TurnHost,
  run: TurnRun,
  producer: Producer,
  action: Exclude<RecordEffect, { do: "refuse" }>,
): void {
  switch (action.do) {
    case "output":
      return appendCallOutput(host, run, producer, action.call, action.delta)
    case "say":
      for (const event of action.events) feedBounded(host, run, producer, event)
      if (!isOverBudget(run)) return schedulePublish(host, run)
      finishRun(host, run, "failed", "answer_too_long")
      return host.resume()
    case "end":
      for (const event of action.events) feedBounded(host, run, producer, event)
      if (isOverBudget(run)) finishRun(host, run, "failed", "answer_too_long")
      else finishRun(host, run, action.status, action.reason)
      return host.resume()
    case "cancel":
      // Unlike a user's cancel, a producer's cancel keeps the text that is still buffered.
      publishChanges(host, run)
      cancelRun(host, run)
      return host.resume()
  }
}

function feedBounded(host: TurnHost, run: TurnRun, producer: Producer, event: TurnEvent): void {
  const bounded = boundEvent(run, producer, event)
  trackThinking(host, run, bounded)
  run.recorder.feed(bounded)
  producer.streamed.addEvent(bounded)
}

/** Measures the thinking time of a producer that does not send it. */
function trackThinking(host: TurnHost, run: TurnRun, event: TurnEvent): void {
  if (event.type === "thinking_delta") run.thinkingSinceMs ??= host.now()
  else if (event.type === "thinking_done" && event.ms !== undefined) run.thinkingSinceMs = null
  else if (event.type !== "step_start") endThinking(host, run)
}

/** Cuts text at the limit of an answer. A tool result over the limit becomes a failed call. */
function boundEvent(run: TurnRun, producer: Producer, event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta": {
      const charsLeft = Math.max(MAX_ANSWER_CHARS - run.generatedChars, 0)
      run.generatedChars += event.delta.length
      return event.delta.length <= charsLeft ? event : { ...event, delta: cutText(event.delta, charsLeft) }
    }
    case "tool_call":
      run.generatedChars += event.args.length
      return event
    case "tool_result": {
      producer.dataChars += event.result?.length ?? 0
      if (producer.dataChars > MAX_EXTERNAL_DATA_CHARS) return createTooLargeResult(event.call_id)
      // The full size of the output, even if only a part of it is stored.
      const size = producer.outputs.get(event.call_id)?.size() ?? null
      return size === null ? event : { ...event, output_size: size }
    }
    default:
      return event
  }
}

function isOverBudget({ generatedChars, recorder }: TurnRun): boolean {
  const { parts } = recorder.currentMessage()
  if (generatedChars > MAX_ANSWER_CHARS || parts.length > MAX_EXTERNAL_PARTS) return true
  return parts.length > MAX_EXTERNAL_CALLS && listCalls(recorder.currentMessage()).length > MAX_EXTERNAL_CALLS
}

function appendCallOutput(host: TurnHost, run: TurnRun, producer: Producer, call: ToolCall, delta: string): void {
  producer.dataChars += delta.length
  if (producer.dataChars > MAX_EXTERNAL_DATA_CHARS) return
  const { call_id } = call
  let output = producer.outputs.get(call_id)
  if (output === undefined) {
    let isRestored = false
    output = createToolOutput((delta) => {
      if (isRestored) feedEvent(host, run, { type: "tool_output_delta", call_id, delta })
    })
    // The stored output counts towards the limit, even though another process received it.
    output.append(call.output)
    isRestored = true
    producer.outputs.set(call_id, output)
  }
  output.append(delta)
}
