/**
 * replay.ts: a model that says what it was told to say, event by event; for tests from outside (`startCuecard({script})`).
 *
 * MODEL_SCRIPT is JSON: one list of model events per model call of a turn. A turn with more calls than lists is over.
 */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"
import type { Model, ModelEvent, ModelMessage } from "./adapter.ts"
import { pause } from "./pause.ts"

const eventSchema = v.variant("type", [
  v.object({ type: v.literal("text_delta"), delta: v.string() }),
  v.object({ type: v.literal("thinking_delta"), delta: v.string() }),
  v.object({ type: v.literal("tool_call"), name: v.string(), args: v.string() }),
  v.object({
    type: v.literal("finish"),
    input_tokens: v.exactOptional(v.number()),
    output_tokens: v.exactOptional(v.number()),
  }),
  v.object({
    type: v.literal("fault"),
    fault: v.picklist([
      ...(["model_unreachable", "model_refused", "model_rate_limited"] as const),
      ...(["model_malformed", "model_timeout", "model_cut_off"] as const),
    ]),
    detail: v.optional(v.string(), "scripted"),
  }),
])

const scriptSchema = v.array(v.array(eventSchema))

/** The model of a script; the fault, for the log, says where it is no script. */
export function replayModel(json: string, delayMs: number): Result<Model, string> {
  const script = v.safeParse(scriptSchema, parseJson(json))
  if (!script.success)
    return fail(`MODEL_SCRIPT is not a list of lists of model events: ${v.getDotPath(script.issues[0]) ?? "JSON"}`)
  const steps: readonly (readonly ModelEvent[])[] = script.output
  return succeed({
    name: "replay",
    continues: false,
    stream: ({ messages, signal }) => play(steps[stepsDone(messages)] ?? [], delayMs, signal),
  })
}

/** Steps of this turn that are over: each left one assistant message. */
function stepsDone(messages: readonly ModelMessage[]): number {
  const since = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1)
  return since.filter((message) => message.role === "assistant").length
}

async function* play(events: readonly ModelEvent[], delayMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (const event of events) {
    signal.throwIfAborted()
    yield event
    if (event.type === "finish" || event.type === "fault") return
    await pause(delayMs, signal)
  }
  yield { type: "finish" }
}
