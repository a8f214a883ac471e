/**
 * openai-adapter.ts: a model behind an OpenAI-compatible endpoint (SPEC MO5–MO9).
 *
 * messages → provider package → HTTP stream → model events
 * The provider package implements the wire format. This file converts its stream parts to events and any failure to one
 * fault. Tool calls are buffered until the finish, so a call from a stream that was cut off is never dispatched.
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
import { MAX_ANSWER_CHARS, MODEL_FIRST_BYTE_MS, MODEL_IDLE_MS } from "../../shared/limits.ts"
import { fetchBounded, StreamBoundError } from "./bounded-fetch.ts"
import type { Model, ModelEvent, ModelRequest } from "./model-adapter.ts"
import type { FileKinds } from "./model-files.ts"
import { findProviderName } from "./provider-name.ts"
import { createUsageReader } from "./openai-usage.ts"
import { createPrompt, toolSpecsToFunctions } from "./openai-prompt.ts"

export interface OpenAiConfig {
  /** The URL before `/chat/completions`. */
  readonly baseUrl: string
  readonly modelName: string
  readonly apiKey?: string | undefined
  readonly fileKinds: FileKinds
  /** Default: MODEL_FIRST_BYTE_MS. */
  readonly firstByteMs?: number
  /** Default: MODEL_IDLE_MS. */
  readonly idleMs?: number
}

type ModelFault = Extract<ModelEvent, { type: "fault" }>
type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>

export function createOpenAiModel(config: OpenAiConfig): Model {
  const endpoint = createOpenAICompatible({
    name: "model",
    baseURL: config.baseUrl,
    includeUsage: true,
    ...(config.apiKey === undefined ? {} : { apiKey: config.apiKey }),
    fetch: fetchBounded,
  })
  const model = endpoint.chatModel(config.modelName)
  const limits = { firstByteMs: config.firstByteMs ?? MODEL_FIRST_BYTE_MS, idleMs: config.idleMs ?? MODEL_IDLE_MS }
  const { modelName: name, fileKinds } = config
  const provider = findProviderName(new URL(config.baseUrl).hostname)
  return { name, provider, fileKinds, stream: (request) => streamModelCall(model, request, limits) }
}

/** One model call. It throws only if the request's signal is aborted. */
async function* streamModelCall(
  model: LanguageModelV4,
  request: ModelRequest,
  limits: SilenceLimits,
): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted()
  const watch = watchSilence(request.signal, limits)
  let hasStarted = false
  try {
    const { stream, response } = await model.doStream({
      prompt: await createPrompt(request),
      tools: toolSpecsToFunctions(request.tools),
      abortSignal: watch.signal,
      ...(request.effort === undefined ? {} : { reasoning: request.effort }),
      // The package keeps only some counts, and reports none for a response that breaks off.
      includeRawChunks: true,
    })
    hasStarted = true
    yield* readModelStream(stream, watch, response?.headers?.["content-type"] ?? "")
    // If the upstream ends at the moment of an abort, the abort counts.
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
  contentType: string,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  // Ends a pending read and closes the connection.
  watch.onStop(() => void reader.cancel().catch(() => {}))
  const calls: ModelEvent[] = []
  const usage = createUsageReader()
  let hasText = false
  let callChars = 0
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
        case "raw":
          yield* usage.read(value.rawValue)
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
          return yield* finishStream(value, calls, hasText)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function* finishStream(
  { finishReason }: FinishPart,
  calls: readonly ModelEvent[],
  hasText: boolean,
): Generator<ModelEvent> {
  if (finishReason.unified === "length")
    return yield createFault("model_cut_off", "The response reached its length limit.")
  if (finishReason.unified === "content-filter" && !hasText)
    return yield createFault("model_refused", "The content filter blocked the response.")
  yield* calls
  yield { type: "finish" }
}

/** Maximum length of a fault's detail, which is only logged, in characters. */
const MAX_DETAIL_CHARS = 300

function createFault(reason: TurnFault, detail: string): ModelFault {
  return { type: "fault", fault: reason, detail: detail.slice(0, MAX_DETAIL_CHARS) }
}

function createSilenceFault({ firstByteMs, idleMs }: SilenceLimits): ModelFault {
  return createFault("model_timeout", `No first byte within ${firstByteMs} ms, or no data for ${idleMs} ms.`)
}

/** The fault of a request that failed before a stream began. */
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

/** The delay of a `Retry-After` header, which is a number of seconds or a date; null if it is neither. */
export function parseRetryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** The fault of a stream that broke: the connection failed, or the package couldn't read the data. */
function streamErrorToFault(error: unknown): ModelFault {
  // The package wraps the errors of a stream.
  const cause = readField(error, "cause")
  if (cause instanceof StreamBoundError) return createFault(cause.fault, cause.message)
  return createFault(
    InvalidResponseDataError.isInstance(error) ? "model_malformed" : "model_cut_off",
    getErrorMessage(error),
  )
}

/** The fault of an error part: the package's own error, or one from the upstream (`{"error": {message, type, code}}`). */
function errorPartToFault(error: unknown, contentType: string): ModelFault {
  if (InvalidResponseDataError.isInstance(error)) {
    // The package reports a missing finish this way. An endpoint that sends no event stream can't finish at all.
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

/** An error's message and its cause's message, because the package wraps network errors. */
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
  /** Aborted by the request's signal and by silence. */
  readonly signal: AbortSignal
  /** Whether silence aborted the signal. */
  isSilent(): boolean
  /** Called for each part. */
  restartTimer(): void
  onStop(stop: () => void): void
  end(): void
}

/** Aborts a call that sends nothing for too long: before the first part, and between two parts. */
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
