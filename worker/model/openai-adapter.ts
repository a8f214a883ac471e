/**
 * openai-adapter.ts: any model behind an OpenAI-compatible endpoint.
 *
 * messages → provider package → HTTP stream → MODEL EVENTS
 * The provider package knows the wire; this file gives it the messages, hears its parts, and turns whatever goes wrong
 * into one fault of ours. Tool calls are passed on only with the finish: one that was cut off is never dispatched.
 * Source  SPEC MO5–MO9.
 */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  type LanguageModelV4,
  type LanguageModelV4StreamPart,
  TypeValidationError,
} from "@ai-sdk/provider"
import type { TurnFault } from "../../shared/fault.ts"
import { MODEL_FIRST_BYTE_MS, MODEL_IDLE_MS } from "../../shared/limits.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import type { FileKinds } from "./model-files.ts"
import { createPrompt, toolSpecsToFunctions } from "./openai-prompt.ts"

export interface OpenAiConfig {
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string
  readonly modelName: string
  readonly apiKey?: string | undefined
  /** Images where it is not said. */
  readonly fileKinds?: FileKinds
  /** Shorter in tests. */
  readonly firstByteMs?: number
  readonly idleMs?: number
}

type ModelFault = Extract<ModelEvent, { type: "fault" }>
type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>

export function createOpenAiModel(config: OpenAiConfig): Model {
  const provider = createOpenAICompatible({
    name: "model",
    baseURL: config.baseUrl,
    includeUsage: true,
    ...(config.apiKey === undefined ? {} : { apiKey: config.apiKey }),
    // A redirect would carry the key to an address that nobody chose.
    fetch: (input, init) => fetch(input, { ...init, redirect: "manual" }),
  })
  const model = provider.chatModel(config.modelName)
  const times = { firstByteMs: config.firstByteMs ?? MODEL_FIRST_BYTE_MS, idleMs: config.idleMs ?? MODEL_IDLE_MS }
  const { modelName: name, fileKinds: takes = new Set(["image", "text"]) } = config
  return { name, canContinue: false, fileKinds: takes, stream: (request) => streamModelCall(model, request, times) }
}

/** One model call. The signal's abort is the only thing that is thrown. */
async function* streamModelCall(
  model: LanguageModelV4,
  request: ModelRequest,
  times: SilenceLimits,
): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted()
  const watch = watchSilence(request.signal, times)
  let hasStarted = false
  try {
    const { stream, response } = await model.doStream({
      prompt: await createPrompt(request),
      tools: toolSpecsToFunctions(request.tools),
      abortSignal: watch.signal,
    })
    hasStarted = true
    yield* readModelStream(stream, watch, response?.headers?.["content-type"] ?? "")
    // The upstream may end on its own at the moment of an abort; what was heard then is not an end.
    request.signal.throwIfAborted()
  } catch (error) {
    request.signal.throwIfAborted()
    yield watch.isSilent()
      ? createSilenceFault(times)
      : hasStarted
        ? streamErrorToFault(error)
        : requestErrorToFault(error)
  } finally {
    watch.end()
  }
}

/** Passes parts on as they come; ends with one `finish` or `fault`, unless the watch stopped the stream. */
async function* readModelStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  watch: SilenceWatch,
  contentType: string,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  // Ends a read that is under way, and closes the connection.
  watch.onStop(() => void reader.cancel().catch(() => {}))
  const calls: ModelEvent[] = []
  let hasText = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (watch.signal.aborted) throw new Error("stopped")
      if (done) return yield createFault("model_cut_off", "The stream ended without a finish.")
      if (value.type !== "stream-start") watch.restartTimer()
      switch (value.type) {
        case "text-delta":
          hasText = true
          yield { type: "text_delta", delta: value.delta }
          break
        case "reasoning-delta":
          yield { type: "thinking_delta", delta: value.delta }
          break
        case "tool-call":
          calls.push({ type: "tool_call", name: value.toolName, args: value.input })
          break
        case "error":
          return yield errorPartToFault(value.error, contentType)
        case "finish":
          return yield* finishStream(value, calls, hasText)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function* finishStream(
  { finishReason, usage }: FinishPart,
  calls: readonly ModelEvent[],
  hasText: boolean,
): Generator<ModelEvent> {
  if (finishReason.unified === "length") return yield createFault("model_cut_off", "It reached its longest answer.")
  if (finishReason.unified === "content-filter" && !hasText)
    return yield createFault("model_refused", "Its content filter spoke.")
  yield* calls
  const input = usage.inputTokens.total
  const output = usage.outputTokens.total
  yield {
    type: "finish",
    ...(input === undefined ? {} : { input_tokens: input }),
    ...(output === undefined ? {} : { output_tokens: output }),
  }
}

/** Longest detail of a fault, in characters: for the log, not for storage. */
const MAX_DETAIL_CHARS = 300

function createFault(reason: TurnFault, detail: string): ModelFault {
  return { type: "fault", fault: reason, detail: detail.slice(0, MAX_DETAIL_CHARS) }
}

function createSilenceFault({ firstByteMs, idleMs }: SilenceLimits): ModelFault {
  return createFault("model_timeout", `Silent for ${firstByteMs} ms at first, or for ${idleMs} ms later.`)
}

/** The call brought no stream. */
function requestErrorToFault(error: unknown): ModelFault {
  if (!APICallError.isInstance(error) || error.statusCode === undefined)
    return createFault("model_unreachable", getErrorMessage(error))
  const { statusCode, responseHeaders } = error
  const after = responseHeaders?.["retry-after"]
  const detail = `${statusCode} ${error.message}${after === undefined ? "" : ` (retry after ${after})`}`
  const retry = { afterMs: parseRetryAfterMs(after, Date.now()) }
  if (statusCode === 429) return { ...createFault("model_rate_limited", detail), retry }
  if (statusCode >= 400 && statusCode < 500) return createFault("model_refused", detail)
  if (statusCode < 300) return createFault("model_malformed", detail)
  return statusCode >= 500
    ? { ...createFault("model_unreachable", detail), retry }
    : createFault("model_unreachable", detail)
}

/** `Retry-After` is a number of seconds or a date; null where it is neither. */
export function parseRetryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** The stream itself broke: the connection did, or the package could make nothing of it. */
function streamErrorToFault(error: unknown): ModelFault {
  return createFault(
    InvalidResponseDataError.isInstance(error) ? "model_malformed" : "model_cut_off",
    getErrorMessage(error),
  )
}

/** An error inside the stream: the package's own, or words of the upstream (`{"error": {message, type, code}}`). */
function errorPartToFault(error: unknown, contentType: string): ModelFault {
  if (InvalidResponseDataError.isInstance(error)) {
    // That is how the package says that no finish came. Of an endpoint that speaks no event stream none could come.
    const isStream = contentType.includes("text/event-stream")
    return createFault(isStream ? "model_cut_off" : "model_malformed", `${error.message} (${contentType})`)
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return createFault("model_malformed", error.message)
  }
  const message = getErrorMessage(error)
  const kind = ["code", "type"].map((name) => String(readField(error, name) ?? "")).join(" ")
  if (/\b429\b|rate.?limit|overloaded|quota/i.test(kind)) return createFault("model_rate_limited", message)
  return createFault(/\b4\d\d\b|invalid|auth|permission/i.test(kind) ? "model_refused" : "model_cut_off", message)
}

/** With its cause, where it has one: the package wraps what the network said. */
function getErrorMessage(error: unknown): string {
  const message = readField(error, "message")
  const cause = readField(readField(error, "cause"), "message")
  return `${typeof message === "string" ? message : "unknown"}${typeof cause === "string" ? `: ${cause}` : ""}`
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
}

interface SilenceLimits {
  readonly firstByteMs: number
  readonly idleMs: number
}

interface SilenceWatch {
  /** Aborted by the caller's signal, and by silence. */
  readonly signal: AbortSignal
  isSilent(): boolean
  /** A part came: the silence starts anew. */
  restartTimer(): void
  onStop(stop: () => void): void
  end(): void
}

/** Stops a call that says nothing for too long: at first, and between two parts. */
function watchSilence(signal: AbortSignal, { firstByteMs, idleMs }: SilenceLimits): SilenceWatch {
  const abort = new AbortController()
  const abortCall = (): void => abort.abort()
  let isSilent = false
  const startTimer = (ms: number): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      isSilent = true
      abort.abort()
    }, ms)
  let timer = startTimer(firstByteMs)
  signal.addEventListener("abort", abortCall, { once: true })
  return {
    signal: abort.signal,
    isSilent: () => isSilent,
    restartTimer() {
      clearTimeout(timer)
      timer = startTimer(idleMs)
    },
    onStop: (stop) => abort.signal.addEventListener("abort", stop, { once: true }),
    end() {
      clearTimeout(timer)
      signal.removeEventListener("abort", abortCall)
    },
  }
}
