/**
 * workers-ai.ts: a model of Workers AI through the binding `AI` (SPEC MO18).
 *
 * request of the OpenAI-compatible package → binding → response → OpenAI's stream format
 * Some models stream in OpenAI's format, which is passed on. The others stream in Workers AI's own format, which is
 * converted.
 */

import { isJsonObject, type Json, parseJson } from "../../../shared/json.ts"
import type { Model } from "../model-adapter.ts"
import { boundResponse } from "./bounded-fetch.ts"
import { createOpenAiModel } from "./openai-compatible.ts"
import type { ProviderConfig } from "./provider-config.ts"

/** The part of the binding that is used here. */
export interface WorkersAi {
  run(model: string, input: object, options?: object): Promise<unknown>
}

/** A placeholder, because the binding has no URL. Usage is recorded under the placeholder's host name. */
const PLACEHOLDER_URL = "https://workers-ai"

export function createWorkersAiModel(ai: WorkersAi, config: Omit<ProviderConfig, "baseUrl" | "fetch">): Model {
  return createOpenAiModel({ ...config, baseUrl: PLACEHOLDER_URL, fetch: createRun(ai, config.modelName) })
}

/** Calls the binding as if it were an endpoint. */
function createRun(ai: WorkersAi, modelName: string): typeof fetch {
  return async (_input, init) => {
    const inputs = toInputs(parseJson(String(init?.body)))
    const options = { returnRawResponse: true, signal: init?.signal ?? undefined }
    const response = await ai.run(modelName, inputs, options)
    if (!(response instanceof Response)) throw new TypeError("the binding returned no response")
    const { body, status, headers } = boundResponse(response)
    const isStream = (headers.get("content-type") ?? "").includes("text/event-stream")
    return new Response(isStream && body !== null ? toChatStream(body) : body, { status, headers })
  }
}

/**
 * Converts a request to the binding's inputs. A streamed request can't set a response format, and models with Workers
 * AI's own format require text in each message.
 */
function toInputs(request: Json | undefined): object {
  const { model: _, response_format: __, messages, ...inputs } = Object(request)
  const known: readonly unknown[] = Array.isArray(messages) ? messages : []
  return {
    ...inputs,
    messages: known.map((message) => ({ ...Object(message), content: Object(message).content ?? "" })),
  }
}

/**
 * Converts a stream to OpenAI's format, line by line. A line that exceeds the limit of an event has already failed
 * (`boundResponse`).
 */
function toChatStream(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const convert = createConverter()
  let pieces: string[] = []
  const lines = new TransformStream<string, string>({
    transform(text, controller) {
      const [first = "", ...others] = text.split("\n")
      pieces.push(first)
      for (const piece of others) {
        for (const event of convert(pieces.join(""))) controller.enqueue(`data: ${event}\n\n`)
        pieces = [piece]
      }
    },
    flush(controller) {
      for (const event of convert(pieces.join(""))) controller.enqueue(`data: ${event}\n\n`)
    },
  })
  // The two stream types are not assignable to each other.
  const decoder = new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>
  return body.pipeThrough(decoder).pipeThrough(lines).pipeThrough(new TextEncoderStream())
}

/** Creates a function that converts a line to events of OpenAI's format. */
function createConverter(): (line: string) => Generator<string> {
  let calls = 0
  let isOwnFormat = false
  const toChunk = (delta: object, finish_reason: string | null = null): string =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })
  return function* convert(line) {
    if (!line.startsWith("data:")) return
    const data = line.slice("data:".length).trim()
    if (data === "[DONE]") {
      // Workers AI's own format doesn't say why a stream ends.
      if (isOwnFormat) yield toChunk({}, calls === 0 ? "stop" : "tool_calls")
      return yield data
    }
    const event = parseJson(data)
    if (!isJsonObject(event) || Array.isArray(event["choices"]) || isJsonObject(event["error"])) return yield data
    const error = readError(event)
    if (error !== null) return yield JSON.stringify({ error })
    isOwnFormat = true
    const { response, tool_calls, usage } = event
    // If a token looks like a number, the JSON contains it as a number.
    if (typeof response === "string" || typeof response === "number")
      if (response !== "") yield toChunk({ content: String(response) })
    for (const call of Array.isArray(tool_calls) ? tool_calls : [])
      yield toChunk({ tool_calls: [toCall(Object(call), calls++)] })
    if (isJsonObject(usage)) yield JSON.stringify({ choices: [], usage })
  }
}

/** Converts a call: `{name, arguments}`, or the same inside `function`. The arguments are an object or its JSON. */
function toCall(call: { readonly [field: string]: Json }, index: number): object {
  const { name, arguments: args } = Object(call["function"] ?? call)
  const text = typeof args === "string" ? args : JSON.stringify(args ?? {})
  const id = typeof call["id"] === "string" ? call["id"] : `call_${index}`
  return { index, id, type: "function", function: { name: String(name), arguments: text } }
}

/** Workers AI's error codes for too many requests and for insufficient capacity. */
const BUSY_CODES: ReadonlySet<unknown> = new Set([3036, 3040])

/**
 * Returns the error of an event in Workers AI's own format, converted to OpenAI's format. Returns null if there is no
 * error, or if it already has OpenAI's format.
 */
function readError({ error, errors }: { readonly [field: string]: Json }): object | null {
  if (typeof error === "string") return { message: error }
  const [first] = Array.isArray(errors) ? errors : []
  if (!isJsonObject(first)) return null
  const { message, code } = first
  return { message: String(message), code: String(code), type: BUSY_CODES.has(code) ? "rate_limit" : "error" }
}
