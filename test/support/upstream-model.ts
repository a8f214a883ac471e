/**
 * upstream-model.ts: an OpenAI-compatible endpoint on loopback, with valid streams and failures.
 */

import type { Call } from "./upstreams.ts"

type Chunk = Record<string, unknown>

export function playModel(call: Call): void {
  if (call.path !== "/chat/completions") return void call.reply.writeHead(404).end()
  const play = SCENARIOS[call.scenario]
  if (play === undefined) return void call.reply.writeHead(404).end()
  play(call)
}

const USAGE = { choices: [], usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 } }

const USAGE_DETAILS = {
  prompt_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 512 },
  completion_tokens_details: { reasoning_tokens: 64 },
}

/**
 * The text of `steady`. Each character is a chunk, and the chunks are sent 75 ms apart, so the text takes 3.75 s in
 * total.
 */
const STEADY_TEXT = "x".repeat(50)

const hasSchema = ({ body }: Call): boolean => Object(body).response_format?.type === "json_schema"

const SCENARIOS: Record<string, (call: Call) => void> = {
  // Responds in the schema that the request contains.
  titled: (call) =>
    streamLines(call, [
      createText(hasSchema(call) ? '{"title": "Rain today"}' : "An answer."),
      createFinish("stop"),
      USAGE,
    ]),
  // Refuses requests with a schema.
  "schema-refused": (call) =>
    hasSchema(call)
      ? void call.reply.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no schema"}}')
      : streamLines(call, [createText("Plain words"), createFinish("stop"), USAGE]),
  ok: (call) =>
    streamLines(call, [createText("Hello"), createText(", "), createText("world."), createFinish("stop"), USAGE]),
  "usage-parts": (call) =>
    streamLines(call, [
      createDelta({ reasoning_content: "Hm." }),
      createText("Yes."),
      createFinish("stop"),
      createUsage({ prompt_tokens: 2_000, completion_tokens: 90, ...USAGE_DETAILS }),
    ]),
  // Some servers report usage in each chunk. This stream breaks off.
  "usage-cut": (call) =>
    streamLines(
      call,
      [1, 2].map((count) => ({
        ...createText("one "),
        ...createUsage({ prompt_tokens: 50, completion_tokens: count }),
        choices: createText("one ")["choices"],
      })),
      { isDone: false },
    ),
  "usage-length": (call) =>
    streamLines(call, [
      createText("Long"),
      createFinish("length"),
      createUsage({ prompt_tokens: 9, completion_tokens: 4 }),
    ]),
  "no-usage": (call) => streamLines(call, [createText("Hello."), createFinish("stop")]),
  reasoning: (call) =>
    streamLines(call, [
      createDelta({ reasoning_content: "Let me " }),
      createDelta({ reasoning_content: "see." }),
      createText("Yes."),
      createFinish("stop"),
    ]),
  parallel: (call) =>
    streamLines(call, [
      createText("I will look."),
      toolDelta(0, '{"loca', "call_a"),
      toolDelta(1, '{"location":', "call_b"),
      toolDelta(0, 'tion":"London"}'),
      toolDelta(1, '"Tokyo"}'),
      createFinish("tool_calls"),
      USAGE,
    ]),
  "bad-args": (call) => streamLines(call, [toolDelta(0, '{"location": Lon', "call_a"), createFinish("tool_calls")]),
  cards: playCards,
  "split-utf8": (call) => sendBytewise(call, [createText("Grüße, 東京 🌦️!"), createFinish("stop")]),
  length: (call) => streamLines(call, [createText("And so it"), createFinish("length"), USAGE]),
  filtered: (call) => streamLines(call, [createFinish("content_filter")]),
  refusal: (call) => streamLines(call, [createDelta({ refusal: "I cannot help with that." }), createFinish("stop")]),
  "cut-off": (call) => streamLines(call, [createText("And then")], { isDone: false }),
  "cut-off-call": (call) => streamLines(call, [toolDelta(0, '{"location":"Par', "call_a")], { isDone: false }),
  reset: (call) => {
    beginStream(call)
    call.reply.write(formatLine(createText("And then")), () => setTimeout(() => call.reply.destroy(), 50))
  },
  "error-in-stream": (call) =>
    streamLines(call, [createText("So"), { error: { message: "Overloaded", type: "overloaded_error" } }]),
  "refused-in-stream": (call) => streamLines(call, [{ error: { message: "Context too long", code: 400 } }]),
  malformed: (call) => {
    beginStream(call)
    call.reply.end("data: {nonsense\n\ndata: [DONE]\n\n")
  },
  "wrong-shape": (call) => streamLines(call, [{ choices: "none" }]),
  html: (call) => void call.reply.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>A page"),
  "401": (call) => sendError(call, 401, "Incorrect API key provided."),
  "404": (call) => sendError(call, 404, "There is no such model."),
  "429": (call) => sendError(call, 429, "Slow down.", { "retry-after": "7" }),
  "busy-twice": (call) =>
    call.before < 2
      ? sendError(call, 429, "Slow down.", { "retry-after": "0" })
      : streamLines(call, [createText("Hello."), createFinish("stop")]),
  "500": (call) => sendError(call, 500, "It broke."),
  "503-text": (call) => void call.reply.writeHead(503).end("upstream connect error"),
  redirect: (call) => void call.reply.writeHead(307, { location: "/model/ok/redirected/chat/completions" }).end(),
  "long-line": (call) => {
    beginStream(call)
    call.reply.write(formatLine(createText("So")))
    sendFlood(call, `data: {"id":"`, "x")
  },
  "long-event": (call) => {
    beginStream(call)
    call.reply.write(formatLine(createText("So")))
    sendFlood(call, "", `data: ${"x".repeat(10_000)}\r\n`)
  },
  "deep-chunk": (call) => {
    beginStream(call)
    call.reply.write(formatLine(createText("So")))
    call.reply.write(`data: {"extra":${"[".repeat(100_000)}\n\n`)
  },
  "endless-args": (call) => {
    beginStream(call)
    call.reply.write(formatLine(toolDelta(0, '{"location":"', "call_a")))
    sendFlood(call, "", formatLine(toolDelta(0, "x".repeat(10_000))))
  },
  "long-error": (call) => {
    call.reply.writeHead(500, { "content-type": "application/json" })
    sendFlood(call, '{"error":{"message":"', "x")
  },
  silent: () => {},
  "silent-stream": (call) => beginStream(call),
  stall: (call) => {
    beginStream(call)
    call.reply.write(formatLine(createText("One moment")))
  },
  slow: (call) =>
    void dripLines(
      call,
      [createText("a"), createText("b"), createText("c"), createText("d"), createText("e"), createFinish("stop")],
      300,
    ),
  steady: (call) => void dripLines(call, [...STEADY_TEXT].map(createText).concat(createFinish("stop")), 75),
}

/**
 * Plays a model that obeys trailers: it calls the tool for two cities, and then writes spans with the tags of the
 * results.
 */
function playCards(call: Call): void {
  const body = call.body as { messages: { role: string; content: string }[] }
  const results = body.messages.filter((message) => message.role === "tool")
  if (results.length === 0) {
    const calls = ["London", "Tokyo"].map((city, i) => toolDelta(i, JSON.stringify({ location: city }), `call_${city}`))
    return streamLines(call, [createText("Let me look."), ...calls, createFinish("tool_calls"), USAGE])
  }
  const outputs = results.map(({ content }) => {
    const tag = /<span id='(\w+)'>/.exec(content)?.[1] ?? "none"
    return createText(`Here: <span id='${tag}'>as you see</span> `)
  })
  streamLines(call, [...outputs, createFinish("stop"), USAGE])
}

function createText(content: string): Chunk {
  return createDelta({ content })
}

function createDelta(fields: Chunk): Chunk {
  return {
    id: "chat-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "fake",
    choices: [{ index: 0, delta: fields }],
  }
}

function toolDelta(index: number, args: string, id?: string): Chunk {
  const head = id === undefined ? {} : { id, type: "function" }
  const call = { index, ...head, function: { ...(id === undefined ? {} : { name: "weather" }), arguments: args } }
  return createDelta({ tool_calls: [call] })
}

function createUsage(counts: Chunk): Chunk {
  return { choices: [], usage: counts }
}

function createFinish(reason: string): Chunk {
  return { ...createDelta({}), choices: [{ index: 0, delta: {}, finish_reason: reason }] }
}

function beginStream({ reply }: Call): void {
  reply.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  reply.flushHeaders()
}

function formatLine(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function streamLines(call: Call, chunks: readonly Chunk[], { isDone } = { isDone: true }): void {
  beginStream(call)
  call.reply.write(": a comment, as some servers send to keep a connection open\n\n")
  for (const chunk of chunks) call.reply.write(formatLine(chunk))
  call.reply.end(isDone ? "data: [DONE]\n\n" : undefined)
}

/** Writes chunks byte by byte, so that reads can end inside characters. */
function sendBytewise(call: Call, chunks: readonly Chunk[]): void {
  beginStream(call)
  call.reply.socket?.setNoDelay(true)
  const bytes = Buffer.from(`${chunks.map(formatLine).join("")}data: [DONE]\n\n`)
  let at = 0
  const next = (): void => {
    if (at >= bytes.length) return void call.reply.end()
    call.reply.write(bytes.subarray(at, at + 1))
    at += 1
    setImmediate(next)
  }
  next()
}

/** Writes `head`, and then `unit` repeatedly, up to 64 MB or until the client closes the connection. */
function sendFlood({ reply }: Call, head: string, unit: string): void {
  const block = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)))
  let left = 64 * 1024 * 1024
  reply.write(head)
  const next = (): void => {
    while (left > 0 && !reply.destroyed) {
      left -= block.length
      if (!reply.write(block)) return void reply.once("drain", next)
    }
    if (!reply.destroyed) reply.end()
  }
  next()
}

async function dripLines(call: Call, chunks: readonly Chunk[], everyMs: number): Promise<void> {
  beginStream(call)
  for (const chunk of chunks) {
    call.reply.write(formatLine(chunk))
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  call.reply.end("data: [DONE]\n\n")
}

function sendError({ reply }: Call, status: number, message: string, headers: Record<string, string> = {}): void {
  reply.writeHead(status, { "content-type": "application/json", ...headers })
  reply.end(JSON.stringify({ error: { message, type: "error", param: null, code: null } }))
}
