/**
 * model-stream.ts: calls a model through a provider package and reads its stream. All providers use it (SPEC MO5–MO9,
 * MO14).
 *
 * messages → provider package → HTTP stream → model events
 * The provider package implements the wire format. This file converts its stream parts to events and any failure to one
 * fault. Tool calls are buffered until the finish, so a call from a stream that was cut off is never dispatched.
 */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider"
import { MAX_ANSWER_CHARS, MODEL_FIRST_BYTE_MS, MODEL_IDLE_MS } from "../../shared/limits.ts"
import { cleanTokenCounts } from "../../shared/usage/call-usage.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import { createPrompt, toolSpecsToFunctions } from "./model-prompt.ts"
import { StateCollector } from "./provider-state.ts"
import { findProviderName } from "./provider-name.ts"
import type { ProviderConfig } from "./providers/provider-config.ts"
import { type SilenceLimits, type SilenceWatch, watchSilence } from "./silence-watch.ts"
import {
  createFault,
  createSilenceFault,
  errorPartToFault,
  requestErrorToFault,
  streamErrorToFault,
} from "./stream-faults.ts"

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>

/** Reads the usage in the chunks of a stream. */
export interface UsageReader {
  /** Yields the usage in a chunk, if it is present and differs from the last usage. */
  read(chunk: unknown): Generator<ModelEvent>
}

export interface StreamOptions {
  /** For a provider whose package doesn't report all tokens. Default: the usage that the package reports at the end. */
  readonly createUsageReader?: () => UsageReader
  readonly providerOptions?: NonNullable<LanguageModelV4CallOptions["providerOptions"]>
  /** Marks what the provider should cache. By default, the provider decides. */
  readonly markPrompt?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  readonly markTools?: (tools: readonly LanguageModelV4FunctionTool[]) => LanguageModelV4FunctionTool[]
}

const keepPrompt = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt => prompt
const keepTools = (tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] => [...tools]

interface StreamedModel extends StreamOptions {
  readonly model: LanguageModelV4
  readonly limits: SilenceLimits
}

/** Creates a model that uses a provider package. */
export function createStreamedModel(
  model: LanguageModelV4,
  config: ProviderConfig,
  options: StreamOptions = {},
): Model {
  const limits = { firstByteMs: config.firstByteMs ?? MODEL_FIRST_BYTE_MS, idleMs: config.idleMs ?? MODEL_IDLE_MS }
  const { modelName: name, fileKinds } = config
  const provider = findProviderName(new URL(config.baseUrl).hostname)
  const streamed = { model, limits, ...options }
  return { name, provider, fileKinds, stream: (request) => streamModelCall(streamed, request) }
}

type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>

const createFormat = (schema: NonNullable<ModelRequest["schema"]>): ResponseFormat =>
  ({ type: "json", name: "response", schema }) as ResponseFormat

/** Makes one model call. Throws only if the request's signal is aborted. */
async function* streamModelCall(
  { model, limits, createUsageReader, providerOptions, markPrompt = keepPrompt, markTools = keepTools }: StreamedModel,
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted()
  const watch = watchSilence(request.signal, limits)
  let hasStarted = false
  try {
    const { stream, response } = await model.doStream({
      prompt: markPrompt(await createPrompt(request, getStateKey(model))),
      tools: markTools(toolSpecsToFunctions(request.tools)),
      abortSignal: watch.signal,
      ...(request.effort === undefined ? {} : { reasoning: request.effort }),
      ...(request.schema === undefined ? {} : { responseFormat: createFormat(request.schema) }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
      includeRawChunks: createUsageReader !== undefined,
    })
    hasStarted = true
    const usage = createUsageReader?.() ?? null
    yield* readModelStream(
      stream,
      watch,
      { usage, model: getStateKey(model) },
      response?.headers?.["content-type"] ?? "",
    )
    // If the upstream ends at the moment of an abort, the abort takes precedence.
    request.signal.throwIfAborted()
  } catch (error) {
    request.signal.throwIfAborted()
    yield watch.isSilent()
      ? createSilenceFault(limits)
      : hasStarted
        ? streamErrorToFault(error)
        : requestErrorToFault(error)
  } finally {
    watch.end()
  }
}

/** Yields events as parts arrive, and one `finish` or `fault` at the end. Throws if the watch stopped the stream. */
async function* readModelStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  watch: SilenceWatch,
  { usage, model }: { readonly usage: UsageReader | null; readonly model: string },
  contentType: string,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  // Ends a pending read and closes the connection.
  watch.onStop(() => void reader.cancel().catch(() => {}))
  const calls: ModelEvent[] = []
  const states = new StateCollector()
  let hasText = false
  let callChars = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (watch.signal.aborted) throw new Error("stopped")
      if (done) return yield createFault("model_cut_off", "The stream ended without a finish event.")
      if (value.type !== "stream-start") watch.restartTimer()
      states.observe(value)
      switch (value.type) {
        case "text-delta":
          hasText = true
          yield { type: "text_delta", delta: value.delta }
          break
        case "reasoning-delta":
          yield { type: "thinking_delta", delta: value.delta }
          break
        case "raw":
          if (usage !== null) yield* usage.read(value.rawValue)
          break
        case "tool-input-start":
          yield { type: "started" }
          break
        case "tool-input-delta":
          // The package keeps the arguments until they are complete.
          callChars += value.delta.length
          if (callChars > MAX_ANSWER_CHARS) return yield createFault("answer_too_long", "The arguments are too long.")
          break
        case "tool-call":
          calls.push({ type: "tool_call", name: value.toolName, args: value.input })
          break
        case "error":
          return yield errorPartToFault(value.error, contentType)
        case "finish":
          if (usage === null) yield* readUsage(value)
          return yield* finishStream(value, { calls, hasText, model, state: states.read() })
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Yields the usage that a package reports at the end of a stream. */
function* readUsage({ usage: { inputTokens, outputTokens } }: FinishPart): Generator<ModelEvent> {
  const tokens = cleanTokenCounts({
    input: inputTokens.total,
    cached: inputTokens.cacheRead,
    cacheWritten: inputTokens.cacheWrite,
    output: outputTokens.total,
    reasoning: outputTokens.reasoning,
  })
  if (tokens !== null) yield { type: "usage", tokens }
}

interface FinishedStep {
  readonly calls: readonly ModelEvent[]
  readonly hasText: boolean
  readonly model: string
  /** The state that the provider must receive again, as JSON; null if there is none. */
  readonly state: string | null
}

/** Returns the name under which the states of a model are stored. */
function getStateKey({ provider, modelId }: LanguageModelV4): string {
  return `${provider}/${modelId}`
}

function* finishStream(
  { finishReason }: FinishPart,
  { calls, hasText, model, state }: FinishedStep,
): Generator<ModelEvent> {
  if (finishReason.unified === "length")
    return yield createFault("model_cut_off", "The response reached its length limit.")
  if (finishReason.unified === "content-filter" && !hasText)
    return yield createFault("model_refused", "The content filter blocked the response.")
  if (state !== null) yield { type: "state", model, data: state }
  yield* calls
  yield { type: "finish" }
}
