/**
 * upstream.ts: the loopback servers of a run: an OpenAI-compatible model that fails on demand, and a counter of side
 * effects.
 *
 * The last user message selects the play: `play <name> <tag>`. `POST /effect/<key>/<call id>` counts one effect.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** The ways in which a model fails. */
export const MODEL_FAULTS = [
  ...(["busy", "busy_retry_after", "busy_once", "broken", "broken_once", "unavailable_retry_after"] as const),
  ...([
    "silent",
    "silent_stream",
    "stall",
    "early_end",
    "early_end_call",
    "malformed",
    "reset",
    "reset_first",
  ] as const),
  ...(["error_in_stream", "page"] as const),
] as const

export type ModelFault = (typeof MODEL_FAULTS)[number]
export type Play = "words" | "thought" | "tools" | "effects" | "asks" | ModelFault

const FAULTS: ReadonlySet<string> = new Set(MODEL_FAULTS)

export interface Upstream {
  readonly url: string
  /** The number of requests for each side effect, by `<key>/<call id>`. */
  readonly effects: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Pause between two chunks, in milliseconds. */
const DRIP_MS = 4
const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }

interface PlayRequest {
  readonly play: Play
  readonly tag: string
  /** The tool results since the last user message. */
  readonly results: readonly string[]
  /** Number of earlier requests for the same step. */
  readonly before: number
}

/** Starts the servers. `onFault` is called once for each turn in which a fault is played. */
export async function startUpstream(onFault: (play: Play) => void): Promise<Upstream> {
  const effects = new Map<string, number>()
  const counts = new Map<string, number>()
  const server = createServer((request, reply) => {
    reply.on("error", () => {})
    void answer(request, reply).catch(() => reply.destroy())
  })
  const answer = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = await bodyOf(request)
    const effect = /^\/effect\/([^/]+\/[^/]+)$/.exec(request.url ?? "")?.[1]
    if (effect !== undefined) {
      effects.set(effect, (effects.get(effect) ?? 0) + 1)
      return void reply.writeHead(200, { "content-type": "application/json" }).end('{"done":true}')
    }
    const requested = readPlayRequest(body, counts)
    if (requested.before === 0 && FAULTS.has(requested.play)) onFault(requested.play)
    await answerRequest(requested, reply)
  }
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    effects,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text
}

function readPlayRequest(body: string, counts: Map<string, number>): PlayRequest {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] }
  const at = messages.findLastIndex(({ role }) => role === "user")
  const words = wordsOf(messages[at]?.content)
  const results = messages
    .slice(at + 1)
    .flatMap((message) => (message.role === "tool" ? [wordsOf(message.content)] : []))
  const { play: name, tag } = playIn(words) ?? { play: "words", tag: "none" }
  const key = `${tag} ${results.length}`
  const before = counts.get(key) ?? 0
  counts.set(key, before + 1)
  return { play: name, tag, results, before }
}

/** Returns the play that a user message requests, or null if it requests none. */
export function playIn(words: string): { readonly play: Play; readonly tag: string } | null {
  const [, name, tag] = /^play (\w+) (\S+)/.exec(words) ?? []
  return name === undefined || tag === undefined ? null : { play: name as Play, tag }
}

/** Returns the text of a message's content, which is either a string or a list of parts. */
function wordsOf(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("")
}

async function answerRequest(playRequest: PlayRequest, reply: ServerResponse): Promise<void> {
  const { tag, before } = playRequest
  switch (playRequest.play) {
    case "words":
      return streamLines(reply, [...formatSpeech(tag, 60), formatFinish("stop")])
    case "thought":
      return streamLines(reply, [...formatThoughts(tag, 30), ...formatSpeech(tag, 30), formatFinish("stop")])
    case "tools":
      return streamLines(reply, toolStep(playRequest, "weather", '{"location":"Oslo"}'))
    case "effects":
      return streamLines(reply, toolStep(playRequest, "probe_effect", JSON.stringify({ key: `${tag}-effect`, ms: 60 })))
    case "asks":
      return streamLines(reply, toolStep(playRequest, "probe_ask", JSON.stringify({ key: `${tag}-ask`, ms: 20 })))
    case "busy":
      return sendRefusal(reply, 429)
    case "busy_retry_after":
      return sendRefusal(reply, 429, "0")
    case "busy_once":
      return before === 0
        ? sendRefusal(reply, 429, "0")
        : streamLines(reply, [...formatSpeech(tag, 20), formatFinish("stop")])
    case "broken":
      return sendRefusal(reply, 500)
    case "broken_once":
      return before === 0
        ? sendRefusal(reply, 502)
        : streamLines(reply, [...formatSpeech(tag, 20), formatFinish("stop")])
    case "unavailable_retry_after":
      return sendRefusal(reply, 503, "1")
    case "silent":
      return
    case "silent_stream":
      reply.writeHead(200, HEADERS).flushHeaders()
      return
    case "stall":
      return streamLines(reply, formatSpeech(tag, 20), "hang")
    case "early_end":
      return streamLines(reply, formatSpeech(tag, 20), "end")
    case "early_end_call":
      return streamLines(reply, [...formatSpeech(tag, 10), formatCall("weather", '{"location":"Par')], "end")
    case "malformed":
      return streamLines(reply, [...formatSpeech(tag, 15), "data: {nonsense\n\n"])
    case "reset":
      return streamLines(reply, formatSpeech(tag, 20), "reset")
    case "reset_first":
      return void reply.destroy()
    case "error_in_stream":
      return streamLines(reply, [
        ...formatSpeech(tag, 15),
        formatLine({ error: { message: "Overloaded", type: "overloaded_error" } }),
      ])
    case "page":
      return void reply.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>A page")
  }
}

function toolStep({ tag, results }: PlayRequest, name: string, args: string): string[] {
  if (results.length === 0) {
    return [...formatThoughts(tag, 8), ...formatSpeech(tag, 12), formatCall(name, args), formatFinish("tool_calls")]
  }
  const [, card = "none"] = /<span id='(\w+)'>/.exec(results.at(-1) ?? "") ?? []
  const words = `So ${tag}: <span id='${card}'>as you can see here</span>`.split(/(?<= )/)
  return [...words.map(formatText), ...formatSpeech(tag, 25), formatFinish("stop")]
}

async function streamLines(
  reply: ServerResponse,
  lines: readonly string[],
  ending: "done" | "end" | "hang" | "reset" = "done",
) {
  reply.writeHead(200, HEADERS).flushHeaders()
  for (const one of lines) {
    if (reply.destroyed) return
    reply.write(one)
    await new Promise((resolve) => setTimeout(resolve, DRIP_MS))
  }
  if (ending === "hang") return
  if (ending === "reset") return void reply.destroy()
  reply.end(ending === "done" ? "data: [DONE]\n\n" : undefined)
}

async function sendRefusal(reply: ServerResponse, status: number, after?: string): Promise<void> {
  const retry = after === undefined ? {} : { "retry-after": after }
  reply.writeHead(status, { "content-type": "application/json", ...retry })
  reply.end(JSON.stringify({ error: { message: "Not now.", type: "error", param: null, code: null } }))
}

function formatSpeech(tag: string, words: number): string[] {
  return Array.from({ length: words }, (_, at) => formatText(`${tag}-${at} `))
}

function formatThoughts(tag: string, words: number): string[] {
  return Array.from({ length: words }, (_, at) =>
    formatLine(createChunk({ reasoning_content: `thought ${tag}-${at} ` })),
  )
}

function formatText(content: string): string {
  return formatLine(createChunk({ content }))
}

function formatCall(name: string, args: string): string {
  const one = { index: 0, id: "call_0", type: "function", function: { name, arguments: args } }
  return formatLine(createChunk({ tool_calls: [one] }))
}

function formatFinish(reason: string): string {
  const usage = {
    prompt_tokens: 40,
    completion_tokens: 12,
    total_tokens: 52,
    prompt_tokens_details: { cached_tokens: 16 },
  }
  return (
    formatLine({ ...createChunk({}), choices: [{ index: 0, delta: {}, finish_reason: reason }] }) +
    formatLine({ choices: [], usage })
  )
}

function createChunk(fields: Record<string, unknown>): Record<string, unknown> {
  const choices = [{ index: 0, delta: fields }]
  return { id: "chat-1", object: "chat.completion.chunk", created: 1, model: "fake", choices }
}

function formatLine(chunk: Record<string, unknown>): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
