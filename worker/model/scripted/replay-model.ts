/**
 * replay-model.ts: a model that replays a script, for the tests of other projects (`startCuecard({script})`).
 *
 * A script is JSON: one list of model events per model call of a turn. It comes from MODEL_SCRIPT or a `/script`
 * message (scripted-model.ts). Further calls return nothing, which ends the turn. `{type: "pause", ms}` waits.
 */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import { cleanTokenCounts } from "../../../shared/usage/call-usage.ts"
import type { Model, ModelEvent, ModelMessage } from "../model-adapter.ts"
import { ALL_FILE_KINDS } from "../model-files.ts"
import { pause } from "../../platform/pause.ts"
import { splitContinuation } from "./scripted-continuation.ts"

const MAX_PAUSE_MS = 10_000

const eventSchema = v.variant("type", [
  v.object({ type: v.literal("pause"), ms: v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_PAUSE_MS)) }),
  v.object({ type: v.literal("text_delta"), delta: v.string() }),
  v.object({ type: v.literal("thinking_delta"), delta: v.string() }),
  v.object({ type: v.literal("tool_call"), name: v.string(), args: v.string() }),
  v.object({
    type: v.literal("finish"),
    input_tokens: v.exactOptional(v.number()),
    cached_tokens: v.exactOptional(v.number()),
    cache_write_tokens: v.exactOptional(v.number()),
    output_tokens: v.exactOptional(v.number()),
    reasoning_tokens: v.exactOptional(v.number()),
  }),
  v.object({
    type: v.literal("fault"),
    fault: v.picklist([
      ...(["model_unreachable", "model_refused", "model_rate_limited"] as const),
      ...(["model_malformed", "model_timeout", "model_cut_off"] as const),
    ]),
    detail: v.optional(v.string(), "scripted"),
    retry: v.exactOptional(v.object({ afterMs: v.nullable(v.number()) })),
  }),
])

const scriptSchema = v.array(v.array(eventSchema))

export type ModelScript = v.InferOutput<typeof scriptSchema>

/** Parses a script. The fault, for the log, names the invalid position. */
export function parseScript(json: string): Result<ModelScript, string> {
  const script = v.safeParse(scriptSchema, parseJson(json))
  if (script.success) return succeed(script.output)
  return fail(`invalid script (a list of lists of model events): ${v.getDotPath(script.issues[0]) ?? "JSON"}`)
}

/**
 * Creates a model that replays the script in `json`. With an invalid script, each call fails with the reason for the
 * log.
 */
export function createReplayModel(json: string, delayMs: number): Model {
  const script = parseScript(json)
  return {
    name: "replay",
    provider: "scripted",
    fileKinds: ALL_FILE_KINDS,
    stream: ({ messages, signal }) =>
      script.ok ? streamScriptStep(script.value, messages, delayMs, signal) : failCall(script.fault),
  }
}

async function* failCall(detail: string): AsyncGenerator<ModelEvent> {
  yield { type: "fault", fault: "model_refused", detail }
}

/** Replays the list for the next step. The messages determine how many steps are finished. */
export function streamScriptStep(
  script: ModelScript,
  messages: readonly ModelMessage[],
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  return streamEvents(script[countFinishedSteps(messages)] ?? [], delayMs, signal)
}

/**
 * Returns the number of finished steps of this turn: each has one assistant message. A step that is continued also
 * counts.
 */
function countFinishedSteps(request: readonly ModelMessage[]): number {
  const { messages } = splitContinuation(request)
  const currentTurn = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1)
  return currentTurn.filter((message) => message.role === "assistant").length
}

async function* streamEvents(
  events: ModelScript[number],
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  for (const event of events) {
    signal.throwIfAborted()
    if (event.type === "pause") {
      await pause(event.ms, signal)
      continue
    }
    if (event.type === "finish") return yield* finishCall(event)
    yield event
    if (event.type === "fault") return
    await pause(delayMs, signal)
  }
  yield { type: "finish" }
}

type ScriptedFinish = Extract<ModelScript[number][number], { type: "finish" }>

/** Ends a call. A script without token counts behaves like a provider that reports none. */
function* finishCall(finish: ScriptedFinish): Generator<ModelEvent> {
  const { input_tokens: input, cached_tokens: cached, cache_write_tokens: cacheWritten } = finish
  const { output_tokens: output, reasoning_tokens: reasoning } = finish
  const isReported = input !== undefined || output !== undefined
  if (isReported) yield { type: "usage", tokens: cleanTokenCounts({ input, cached, cacheWritten, output, reasoning }) }
  yield { type: "finish" }
}
