/**
 * apply-record.ts: feeds what a producer outside tells to the run of its answer, within the bounds of one answer.
 *
 * record → foreign → TELLING → run
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { Heard } from "../../shared/ingest/external-record.ts"
import {
  MAX_ANSWER_CHARS,
  MAX_EXTERNAL_CALLS,
  MAX_EXTERNAL_DATA_CHARS,
  MAX_EXTERNAL_PARTS,
} from "../../shared/limits.ts"
import { callsOf, type ToolCall, tooLarge } from "../../shared/protocol/message.ts"
import { createOutput } from "../turn/dispatch-tool.ts"
import type { Producer } from "../turn/external-run.ts"
import { cancelRun, endThinking, finish, publish, type Run, say, showSoon, type TurnHost } from "../turn/turn-run.ts"

/**
 * Does what a record comes to. What one answer may not hold any more ends it: `failed`, `answer_too_long`.
 *
 * Errors  throws what a write throws; the run is spent then.
 * Source  SPEC EX3, EX5, EX10.
 */
export function tell(host: TurnHost, run: Run, producer: Producer, heard: Exclude<Heard, { do: "refuse" }>): void {
  switch (heard.do) {
    case "output":
      return tellOutput(host, run, producer, heard.call, heard.delta)
    case "say":
      for (const event of heard.events) feed(host, run, producer, event)
      if (!isTooMuch(run)) return showSoon(host, run)
      finish(host, run, "failed", "answer_too_long")
      return host.goOn()
    case "end":
      for (const event of heard.events) feed(host, run, producer, event)
      if (isTooMuch(run)) finish(host, run, "failed", "answer_too_long")
      else finish(host, run, heard.status, heard.reason)
      return host.goOn()
    case "cancel":
      // Its own end drops nothing that it has said.
      publish(host, run)
      cancelRun(host, run)
      return host.goOn()
  }
}

function feed(host: TurnHost, run: Run, producer: Producer, event: TurnEvent): void {
  const kept = bounded(run, producer, event)
  hearThought(host, run, kept)
  run.recorder.feed(kept)
}

/** How long it thought, where it does not say. */
function hearThought(host: TurnHost, run: Run, event: TurnEvent): void {
  if (event.type === "thinking_delta") run.thinkingSince ??= host.now()
  else if (event.type === "thinking_done" && event.ms !== undefined) run.thinkingSince = null
  else if (event.type !== "step_start") endThinking(host, run)
}

/** Text is cut where the answer is too long; results beyond what it may hold are failed calls. */
function bounded(run: Run, producer: Producer, event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta": {
      const left = Math.max(MAX_ANSWER_CHARS - run.said, 0)
      run.said += event.delta.length
      return event.delta.length <= left ? event : { ...event, delta: event.delta.slice(0, left) }
    }
    case "tool_call":
      run.said += event.args.length
      return event
    case "tool_result": {
      producer.data += event.result?.length ?? 0
      if (producer.data > MAX_EXTERNAL_DATA_CHARS) return tooLarge(event.call_id)
      // The true size of what a call said, where more came than is kept.
      const size = producer.outputs.get(event.call_id)?.size() ?? null
      return size === null ? event : { ...event, output_size: size }
    }
    default:
      return event
  }
}

function isTooMuch({ said, recorder }: Run): boolean {
  const { parts } = recorder.message()
  if (said > MAX_ANSWER_CHARS || parts.length > MAX_EXTERNAL_PARTS) return true
  return parts.length > MAX_EXTERNAL_CALLS && callsOf(recorder.message()).length > MAX_EXTERNAL_CALLS
}

function tellOutput(host: TurnHost, run: Run, producer: Producer, call: ToolCall, delta: string): void {
  producer.data += delta.length
  if (producer.data > MAX_EXTERNAL_DATA_CHARS) return
  const { call_id } = call
  let output = producer.outputs.get(call_id)
  if (output === undefined) {
    let isKnown = false
    output = createOutput((kept) => {
      if (isKnown) say(host, run, { type: "tool_output_delta", call_id, delta: kept })
    })
    // What another process heard of it counts toward its bound.
    output.say(call.output)
    isKnown = true
    producer.outputs.set(call_id, output)
  }
  output.say(delta)
}
