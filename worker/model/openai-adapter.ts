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
import type { Takes } from "./model-files.ts"
import { promptOf, toolsOf } from "./openai-prompt.ts"

export interface OpenAiConfig {
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string
  readonly modelName: string
  readonly apiKey?: string | undefined
  /** Images where it is not said. */
  readonly takes?: Takes
  /** Shorter in tests. */
  readonly firstByteMs?: number
  readonly idleMs?: number
}

type Fault = Extract<ModelEvent, { type: "fault" }>
type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>

export function openAiModel(config: OpenAiConfig): Model {
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
  const { modelName: name, takes = new Set(["image", "text"]) } = config
  return { name, continues: false, takes, stream: (request) => ask(model, request, times) }
}

/** One model call. The signal's abort is the only thing that is thrown. */
async function* ask(model: LanguageModelV4, request: ModelRequest, times: Times): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted()
  const watch = watchSilence(request.signal, times)
  let isHeard = false
  try {
    const { stream, response } = await model.doStream({
      prompt: await promptOf(request),
      tools: toolsOf(request.tools),
      abortSignal: watch.signal,
    })
    isHeard = true
    yield* hear(stream, watch, response?.headers?.["content-type"] ?? "")
    // The upstream may end on its own at the moment of an abort; what was heard then is not an end.
    request.signal.throwIfAborted()
  } catch (error) {
    request.signal.throwIfAborted()
    yield watch.isSilent() ? silence(times) : isHeard ? brokenOff(error) : refused(error)
  } finally {
    watch.end()
  }
}

/** Passes parts on as they come; ends with one `finish` or `fault`, unless the watch stopped the stream. */
async function* hear(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  watch: Watch,
  contentType: string,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  // Ends a read that is under way, and closes the connection.
  watch.onStop(() => void reader.cancel().catch(() => {}))
  const calls: ModelEvent[] = []
  let hasSpoken = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (watch.signal.aborted) throw new Error("stopped")
      if (done) return yield fault("model_cut_off", "The stream ended without a finish.")
      if (value.type !== "stream-start") watch.heard()
      switch (value.type) {
        case "text-delta":
          hasSpoken = true
          yield { type: "text_delta", delta: value.delta }
          break
        case "reasoning-delta":
          yield { type: "thinking_delta", delta: value.delta }
          break
        case "tool-call":
          calls.push({ type: "tool_call", name: value.toolName, args: value.input })
          break
        case "error":
          return yield errorIn(value.error, contentType)
        case "finish":
          return yield* finishWith(value, calls, hasSpoken)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function* finishWith(
  { finishReason, usage }: Finish,
  calls: readonly ModelEvent[],
  hasSpoken: boolean,
): Generator<ModelEvent> {
  if (finishReason.unified === "length") return yield fault("model_cut_off", "It reached its longest answer.")
  if (finishReason.unified === "content-filter" && !hasSpoken)
    return yield fault("model_refused", "Its content filter spoke.")
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

function fault(reason: TurnFault, detail: string): Fault {
  return { type: "fault", fault: reason, detail: detail.slice(0, MAX_DETAIL_CHARS) }
}

function silence({ firstByteMs, idleMs }: Times): Fault {
  return fault("model_timeout", `Silent for ${firstByteMs} ms at first, or for ${idleMs} ms later.`)
}

/** The call brought no stream. */
function refused(error: unknown): Fault {
  if (!APICallError.isInstance(error) || error.statusCode === undefined)
    return fault("model_unreachable", messageOf(error))
  const { statusCode, responseHeaders } = error
  const after = responseHeaders?.["retry-after"]
  const detail = `${statusCode} ${error.message}${after === undefined ? "" : ` (retry after ${after})`}`
  const retry = { afterMs: retryAfterMs(after, Date.now()) }
  if (statusCode === 429) return { ...fault("model_rate_limited", detail), retry }
  if (statusCode >= 400 && statusCode < 500) return fault("model_refused", detail)
  if (statusCode < 300) return fault("model_malformed", detail)
  return statusCode >= 500 ? { ...fault("model_unreachable", detail), retry } : fault("model_unreachable", detail)
}

/** `Retry-After` is a number of seconds or a date; null where it is neither. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** The stream itself broke: the connection did, or the package could make nothing of it. */
function brokenOff(error: unknown): Fault {
  return fault(InvalidResponseDataError.isInstance(error) ? "model_malformed" : "model_cut_off", messageOf(error))
}

/** An error inside the stream: the package's own, or words of the upstream (`{"error": {message, type, code}}`). */
function errorIn(error: unknown, contentType: string): Fault {
  if (InvalidResponseDataError.isInstance(error)) {
    // That is how the package says that no finish came. Of an endpoint that speaks no event stream none could come.
    const isStream = contentType.includes("text/event-stream")
    return fault(isStream ? "model_cut_off" : "model_malformed", `${error.message} (${contentType})`)
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return fault("model_malformed", error.message)
  }
  const said = messageOf(error)
  const kind = ["code", "type"].map((name) => String(fieldOf(error, name) ?? "")).join(" ")
  if (/\b429\b|rate.?limit|overloaded|quota/i.test(kind)) return fault("model_rate_limited", said)
  return fault(/\b4\d\d\b|invalid|auth|permission/i.test(kind) ? "model_refused" : "model_cut_off", said)
}

/** With its cause, where it has one: the package wraps what the network said. */
function messageOf(error: unknown): string {
  const message = fieldOf(error, "message")
  const cause = fieldOf(fieldOf(error, "cause"), "message")
  return `${typeof message === "string" ? message : "unknown"}${typeof cause === "string" ? `: ${cause}` : ""}`
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
}

interface Times {
  readonly firstByteMs: number
  readonly idleMs: number
}

interface Watch {
  /** Aborted by the caller's signal, and by silence. */
  readonly signal: AbortSignal
  isSilent(): boolean
  /** A part came: the silence starts anew. */
  heard(): void
  onStop(stop: () => void): void
  end(): void
}

/** Stops a call that says nothing for too long: at first, and between two parts. */
function watchSilence(signal: AbortSignal, { firstByteMs, idleMs }: Times): Watch {
  const abort = new AbortController()
  const pass = (): void => abort.abort()
  let isSilent = false
  const wait = (ms: number): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      isSilent = true
      abort.abort()
    }, ms)
  let timer = wait(firstByteMs)
  signal.addEventListener("abort", pass, { once: true })
  return {
    signal: abort.signal,
    isSilent: () => isSilent,
    heard() {
      clearTimeout(timer)
      timer = wait(idleMs)
    },
    onStop: (stop) => abort.signal.addEventListener("abort", stop, { once: true }),
    end() {
      clearTimeout(timer)
      signal.removeEventListener("abort", pass)
    },
  }
}
