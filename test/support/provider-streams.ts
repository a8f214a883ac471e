/**
 * provider-streams.ts: streams of the providers. A scenario has the same content for every provider, in that
 * provider's wire format.
 *
 * `<UPSTREAM_URL>/provider/<provider>.<scenario>/<run>/…` plays a stream. The formats follow the providers' API
 * references.
 */

import type { Call } from "./upstreams.ts"

type Json = Record<string, unknown>

/** The events of a scenario, or a response with an error status. */
type Recording = readonly (Json | string)[] | { readonly status: number; readonly body: Json }

/** The signature of the thinking and the calls in `stateful`. */
export const SIGNATURE = "opaque+/=ünïcode\\n"

/** The scenarios that every provider except Workers AI has. */
export const SCENARIOS = ["text", "thinking", "tools", "refusal", "cut-off", "429", "error-in-stream"] as const

/** Plays a scenario. `stateful` plays a call with its state, and then, once it has received the result, text. */
export function playProvider({ scenario, reply, before }: Call): void {
  const [provider = "", name = ""] = scenario.split(".")
  const recording = RECORDINGS[provider]?.[name === "stateful" && before > 0 ? "text" : name]
  if (recording === undefined) return void reply.writeHead(404).end()
  if ("status" in recording) {
    reply.writeHead(recording.status, { "content-type": "application/json", "retry-after": "7" })
    return void reply.end(JSON.stringify(recording.body))
  }
  reply.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of recording) reply.write(formatEvent(provider, event))
  reply.end()
}

function formatEvent(provider: string, event: Json | string): string {
  if (typeof event === "string") return `${event}\n\n`
  const name = provider === "anthropic" || provider === "openai" ? `event: ${String(event["type"])}\n` : ""
  return `${name}data: ${JSON.stringify(event)}\n\n`
}

const LONDON = '{"location":"London"}'
const TITLE = '{"title":"Plans"}'
const TOKYO = '{"location":"Tokyo"}'

// OpenAI's Chat Completions API, and every API that is compatible with it.

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
})
const chatUsage: Json = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 },
}
const chatCall = (index: number, id: string, args: string): Json =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name: "weather", arguments: args } }] })

const COMPATIBLE: Record<string, Recording> = {
  text: [chunk({ content: "Hello" }), chunk({ content: ", world." }), chunk({}, "stop"), chatUsage, "data: [DONE]"],
  thinking: [
    chunk({ reasoning_content: "Let me see." }),
    chunk({ content: "Yes." }),
    chunk({}, "stop"),
    chatUsage,
    "data: [DONE]",
  ],
  tools: [chatCall(0, "a", LONDON), chatCall(1, "b", TOKYO), chunk({}, "tool_calls"), chatUsage, "data: [DONE]"],
  refusal: [chunk({}, "content_filter"), chatUsage, "data: [DONE]"],
  "cut-off": [chunk({ content: "And so it" }), chunk({}, "length"), chatUsage, "data: [DONE]"],
  "429": { status: 429, body: { error: { message: "Slow down.", type: "rate_limit_error" } } },
  "error-in-stream": [chunk({ content: "And" }), { error: { message: "Overloaded", type: "overloaded_error" } }],
}

// OpenAI's Responses API.

const response = (status: string, more: Json = {}): Json => ({
  id: "r1",
  object: "response",
  created_at: 1,
  model: "m",
  status,
  output: [],
  usage: { input_tokens: 21, output_tokens: 7, total_tokens: 28 },
  ...more,
})
const created: Json = { type: "response.created", response: response("in_progress") }
const completed: Json = { type: "response.completed", response: response("completed") }
const message: Json = { type: "message", id: "m1", role: "assistant", status: "in_progress", content: [] }
const responseText = (...deltas: readonly string[]): Json[] => [
  { type: "response.output_item.added", output_index: 0, item: message },
  ...deltas.map((delta) => ({
    type: "response.output_text.delta",
    item_id: "m1",
    output_index: 0,
    content_index: 0,
    delta,
    logprobs: [],
  })),
]
const endOfText = (text: string): Json => ({
  type: "response.output_item.done",
  output_index: 0,
  item: { ...message, status: "completed", content: [{ type: "output_text", text, annotations: [] }] },
})
const responseCall = (output_index: number, id: string, args: string, name = "weather"): Json[] => {
  const item = { type: "function_call", id: `f${id}`, call_id: id, name }
  return [
    { type: "response.output_item.added", output_index, item: { ...item, arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", item_id: `f${id}`, output_index, delta: args },
    { type: "response.output_item.done", output_index, item: { ...item, arguments: args, status: "completed" } },
  ]
}
const signed: Json = { type: "reasoning", id: "rs2", summary: [], encrypted_content: SIGNATURE }
const reasoning: Json = { type: "reasoning", id: "rs1", summary: [], encrypted_content: "opaque" }

const RESPONSES: Record<string, Recording> = {
  text: [created, ...responseText("Hello", ", world."), endOfText("Hello, world."), completed],
  thinking: [
    created,
    { type: "response.output_item.added", output_index: 0, item: reasoning },
    { type: "response.reasoning_summary_part.added", item_id: "rs1", output_index: 0, summary_index: 0, part: {} },
    {
      type: "response.reasoning_summary_text.delta",
      item_id: "rs1",
      output_index: 0,
      summary_index: 0,
      delta: "Let me see.",
    },
    { type: "response.output_item.done", output_index: 0, item: reasoning },
    ...responseText("Yes."),
    endOfText("Yes."),
    completed,
  ],
  tools: [created, ...responseCall(0, "a", LONDON), ...responseCall(1, "b", TOKYO), completed],
  stateful: [
    created,
    { type: "response.output_item.added", output_index: 0, item: signed },
    { type: "response.output_item.done", output_index: 0, item: signed },
    ...responseCall(1, "a", TITLE, "rename_conversation"),
    completed,
  ],
  refusal: [
    created,
    {
      type: "response.incomplete",
      response: response("incomplete", { incomplete_details: { reason: "content_filter" } }),
    },
  ],
  "cut-off": [
    created,
    ...responseText("And so it"),
    endOfText("And so it"),
    {
      type: "response.incomplete",
      response: response("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    },
  ],
  "429": { status: 429, body: { error: { message: "Slow down.", type: "rate_limit_error", code: null, param: null } } },
  "error-in-stream": [
    created,
    ...responseText("And"),
    {
      type: "error",
      sequence_number: 3,
      error: { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Overloaded", param: null },
    },
  ],
}

// Anthropic's Messages API.

const messageStart: Json = {
  type: "message_start",
  message: {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 21, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  },
}
const block = (index: number, content_block: Json, ...deltas: readonly Json[]): Json[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
]
const textBlock = (index: number, ...texts: readonly string[]): Json[] =>
  block(index, { type: "text", text: "" }, ...texts.map((text) => ({ type: "text_delta", text })))
const messageEnd = (stop_reason: string): Json[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
]
const toolBlock = (index: number, id: string, args: string, name = "weather"): Json[] =>
  block(index, { type: "tool_use", id, name, input: {} }, { type: "input_json_delta", partial_json: args })

const ANTHROPIC: Record<string, Recording> = {
  text: [messageStart, { type: "ping" }, ...textBlock(0, "Hello", ", world."), ...messageEnd("end_turn")],
  thinking: [
    messageStart,
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Let me see." },
      { type: "signature_delta", signature: "opaque" },
    ),
    ...textBlock(1, "Yes."),
    ...messageEnd("end_turn"),
  ],
  stateful: [
    messageStart,
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Hm." },
      { type: "signature_delta", signature: SIGNATURE },
    ),
    ...block(1, { type: "redacted_thinking", data: SIGNATURE }),
    ...toolBlock(2, "a", TITLE, "rename_conversation"),
    ...messageEnd("tool_use"),
  ],
  tools: [messageStart, ...toolBlock(0, "a", LONDON), ...toolBlock(1, "b", TOKYO), ...messageEnd("tool_use")],
  refusal: [messageStart, ...messageEnd("refusal")],
  "cut-off": [messageStart, ...textBlock(0, "And so it"), ...messageEnd("max_tokens")],
  "429": { status: 429, body: { type: "error", error: { type: "rate_limit_error", message: "Slow down." } } },
  "error-in-stream": [
    messageStart,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "And" } },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ],
}

// Google's Gemini API.

const candidate = (parts: readonly Json[], finishReason?: string): Json => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 7, totalTokenCount: 28 },
  modelVersion: "m",
})

const GOOGLE: Record<string, Recording> = {
  text: [candidate([{ text: "Hello" }]), candidate([{ text: ", world." }], "STOP")],
  thinking: [candidate([{ text: "Let me see.", thought: true }]), candidate([{ text: "Yes." }], "STOP")],
  tools: [
    candidate(
      [
        { functionCall: { name: "weather", args: JSON.parse(LONDON) }, thoughtSignature: "opaque" },
        { functionCall: { name: "weather", args: JSON.parse(TOKYO) } },
      ],
      "STOP",
    ),
  ],
  stateful: [
    candidate([{ text: "Hm.", thought: true }]),
    candidate(
      [{ functionCall: { name: "rename_conversation", args: JSON.parse(TITLE) }, thoughtSignature: SIGNATURE }],
      "STOP",
    ),
  ],
  refusal: [candidate([], "SAFETY")],
  "cut-off": [candidate([{ text: "And so it" }], "MAX_TOKENS")],
  "429": { status: 429, body: { error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } } },
  "error-in-stream": [
    candidate([{ text: "And" }]),
    { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } },
  ],
}

// Workers AI: the format of most of its models. Its other models use the format of OpenAI's Chat Completions API.

const WORKERS_AI_USAGE: Json = { response: "", usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 } }
const ownCall = (args: string): Json => ({ name: "weather", arguments: JSON.parse(args) as Json })

const WORKERS_AI: Record<string, Recording> = {
  text: [{ response: "Hello", p: "abcdefgh" }, { response: ", world." }, WORKERS_AI_USAGE, "data: [DONE]"],
  // A token that looks like a number is sent as a number.
  figures: [{ response: "It is " }, { response: 42 }, { response: "." }, WORKERS_AI_USAGE, "data: [DONE]"],
  tools: [{ tool_calls: [ownCall(LONDON), ownCall(TOKYO)] }, WORKERS_AI_USAGE, "data: [DONE]"],
  broken: [{ response: "And so it" }],
  "429": { status: 429, body: { internalCode: 3040, name: "AiError", description: "Capacity temporarily exceeded." } },
  "error-in-stream": [{ response: "And" }, { errors: [{ code: 3040, message: "Capacity temporarily exceeded." }] }],
}

const RECORDINGS: Record<string, Record<string, Recording>> = {
  "openai-compatible": COMPATIBLE,
  openai: RESPONSES,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  "workers-ai": WORKERS_AI,
  "workers-ai-chat": COMPATIBLE,
}
