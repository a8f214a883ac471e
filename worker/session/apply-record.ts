/**
 * apply-record.ts: feeds what a producer outside tells to the run of its answer, within the bounds of one answer.
 *
 * record → foreign → TELLING → run
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { RecordEffect } from "../../shared/ingest/external-record.ts"
import {
  MAX_ANSWER_CHARS,
  MAX_EXTERNAL_CALLS,
  MAX_EXTERNAL_DATA_CHARS,
  MAX_EXTERNAL_PARTS,
} from "../../shared/limits.ts"
import { listCalls, type ToolCall, createTooLargeResult } from "../../shared/protocol/message.ts"
import { createToolOutput } from "../turn/dispatch-tool.ts"
import type { Producer } from "../turn/external-run.ts"
import {
  cancelRun,
  endThinking,
  finishRun,
  publishChanges,
  type TurnRun,
  feedEvent,
  schedulePublish,
  type TurnHost,
} from "../turn/turn-run.ts"

/**
 * Does what a record comes to. What one answer may not hold any more ends it: `failed`, `answer_too_long`.
 *
 * Errors  throws what a write throws; the run is spent then.
 * Source  SPEC EX3, EX5, EX10, EX19–EX21.
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
      // Its own end drops nothing that it has said.
      publishChanges(host, run)
      cancelRun(host, run)
      return host.resume()
  }
}

function feedBounded(host: TurnHost, run: TurnRun, producer: Producer, event: TurnEvent): void {
  const bounded = boundEvent(run, producer, event)
  trackThinking(host, run, bounded)
  run.recorder.feed(bounded)
}

/** How long it thought, where it does not say. */
function trackThinking(host: TurnHost, run: TurnRun, event: TurnEvent): void {
  if (event.type === "thinking_delta") run.thinkingSinceMs ??= host.now()
  else if (event.type === "thinking_done" && event.ms !== undefined) run.thinkingSinceMs = null
  else if (event.type !== "step_start") endThinking(host, run)
}

/** Text is cut where the answer is too long; results beyond what it may hold are failed calls. */
function boundEvent(run: TurnRun, producer: Producer, event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta": {
      const charsLeft = Math.max(MAX_ANSWER_CHARS - run.generatedChars, 0)
      run.generatedChars += event.delta.length
      return event.delta.length <= charsLeft ? event : { ...event, delta: event.delta.slice(0, charsLeft) }
    }
    case "tool_call":
      run.generatedChars += event.args.length
      return event
    case "tool_result": {
      producer.dataChars += event.result?.length ?? 0
      if (producer.dataChars > MAX_EXTERNAL_DATA_CHARS) return createTooLargeResult(event.call_id)
      // The true size of what a call said, where more came than is kept.
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
    output = createToolOutput((kept) => {
      if (isRestored) feedEvent(host, run, { type: "tool_output_delta", call_id, delta: kept })
    })
    // What another process heard of it counts toward its bound.
    output.append(call.output)
    isRestored = true
    producer.outputs.set(call_id, output)
  }
  output.append(delta)
}
