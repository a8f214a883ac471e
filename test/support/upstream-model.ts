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

/** The text of `steady`: one chunk per character, 75 ms apart, so 3.75 s in total. */
const STEADY_TEXT = "x".repeat(50)

const SCENARIOS: Record<string, (call: Call) => void> = {
  ok: (call) => stream(call, [text("Hello"), text(", "), text("world."), finish("stop"), USAGE]),
  "usage-parts": (call) =>
    stream(call, [
      delta({ reasoning_content: "Hm." }),
      text("Yes."),
      finish("stop"),
      usage({ prompt_tokens: 2_000, completion_tokens: 90, ...USAGE_DETAILS }),
    ]),
  // Some servers report usage in each chunk. This stream breaks off.
  "usage-cut": (call) =>
    stream(
      call,
      [1, 2].map((count) => ({
        ...text("one "),
        ...usage({ prompt_tokens: 50, completion_tokens: count }),
        choices: text("one ")["choices"],
      })),
      { isDone: false },
    ),
  "usage-length": (call) =>
    stream(call, [text("Long"), finish("length"), usage({ prompt_tokens: 9, completion_tokens: 4 })]),
  "no-usage": (call) => stream(call, [text("Hello."), finish("stop")]),
  reasoning: (call) =>
    stream(call, [
      delta({ reasoning_content: "Let me " }),
      delta({ reasoning_content: "see." }),
      text("Yes."),
      finish("stop"),
    ]),
  parallel: (call) =>
    stream(call, [
      text("I will look."),
      toolDelta(0, '{"loca', "call_a"),
      toolDelta(1, '{"location":', "call_b"),
      toolDelta(0, 'tion":"London"}'),
      toolDelta(1, '"Tokyo"}'),
      finish("tool_calls"),
      USAGE,
    ]),
  "bad-args": (call) => stream(call, [toolDelta(0, '{"location": Lon', "call_a"), finish("tool_calls")]),
  cards: playCards,
  "split-utf8": (call) => bytewise(call, [text("Grüße, 東京 🌦️!"), finish("stop")]),
  length: (call) => stream(call, [text("And so it"), finish("length"), USAGE]),
  filtered: (call) => stream(call, [finish("content_filter")]),
  refusal: (call) => stream(call, [delta({ refusal: "I cannot help with that." }), finish("stop")]),
  "cut-off": (call) => stream(call, [text("And then")], { isDone: false }),
  "cut-off-call": (call) => stream(call, [toolDelta(0, '{"location":"Par', "call_a")], { isDone: false }),
  reset: (call) => {
    begin(call)
    call.reply.write(line(text("And then")), () => setTimeout(() => call.reply.destroy(), 50))
  },
  "error-in-stream": (call) =>
    stream(call, [text("So"), { error: { message: "Overloaded", type: "overloaded_error" } }]),
  "refused-in-stream": (call) => stream(call, [{ error: { message: "Context too long", code: 400 } }]),
  malformed: (call) => {
    begin(call)
    call.reply.end("data: {nonsense\n\ndata: [DONE]\n\n")
  },
  "wrong-shape": (call) => stream(call, [{ choices: "none" }]),
  html: (call) => void call.reply.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>A page"),
  "401": (call) => error(call, 401, "Incorrect API key provided."),
  "404": (call) => error(call, 404, "There is no such model."),
  "429": (call) => error(call, 429, "Slow down.", { "retry-after": "7" }),
  "busy-twice": (call) =>
    call.before < 2
      ? error(call, 429, "Slow down.", { "retry-after": "0" })
      : stream(call, [text("Hello."), finish("stop")]),
  "500": (call) => error(call, 500, "It broke."),
  "503-text": (call) => void call.reply.writeHead(503).end("upstream connect error"),
  redirect: (call) => void call.reply.writeHead(307, { location: "/model/ok/redirected/chat/completions" }).end(),
  "long-line": (call) => {
    begin(call)
    call.reply.write(line(text("So")))
    flood(call, `data: {"id":"`, "x")
  },
  "long-event": (call) => {
    begin(call)
    call.reply.write(line(text("So")))
    flood(call, "", `data: ${"x".repeat(10_000)}\r\n`)
  },
  "deep-chunk": (call) => {
    begin(call)
    call.reply.write(line(text("So")))
    call.reply.write(`data: {"extra":${"[".repeat(100_000)}\n\n`)
  },
  "endless-args": (call) => {
    begin(call)
    call.reply.write(line(toolDelta(0, '{"location":"', "call_a")))
    flood(call, "", line(toolDelta(0, "x".repeat(10_000))))
  },
  "long-error": (call) => {
    call.reply.writeHead(500, { "content-type": "application/json" })
    flood(call, '{"error":{"message":"', "x")
  },
  silent: () => {},
  "silent-stream": (call) => begin(call),
  stall: (call) => {
    begin(call)
    call.reply.write(line(text("One moment")))
  },
  slow: (call) => void drip(call, [text("a"), text("b"), text("c"), text("d"), text("e"), finish("stop")], 300),
  steady: (call) => void drip(call, [...STEADY_TEXT].map(text).concat(finish("stop")), 75),
}

/** A model that obeys trailers: it calls the tool for two cities, then writes spans with the tags of the results. */
function playCards(call: Call): void {
  const body = call.body as { messages: { role: string; content: string }[] }
  const results = body.messages.filter((message) => message.role === "tool")
  if (results.length === 0) {
    const calls = ["London", "Tokyo"].map((city, i) => toolDelta(i, JSON.stringify({ location: city }), `call_${city}`))
    return stream(call, [text("Let me look."), ...calls, finish("tool_calls"), USAGE])
  }
  const outputs = results.map(({ content }) => {
    const tag = /<span id='(\w+)'>/.exec(content)?.[1] ?? "none"
    return text(`Here: <span id='${tag}'>as you see</span> `)
  })
  stream(call, [...outputs, finish("stop"), USAGE])
}

function text(content: string): Chunk {
  return delta({ content })
}

function delta(fields: Chunk): Chunk {
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
  return delta({ tool_calls: [call] })
}

function usage(counts: Chunk): Chunk {
  return { choices: [], usage: counts }
}

function finish(reason: string): Chunk {
  return { ...delta({}), choices: [{ index: 0, delta: {}, finish_reason: reason }] }
}

function begin({ reply }: Call): void {
  reply.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  reply.flushHeaders()
}

function line(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function stream(call: Call, chunks: readonly Chunk[], { isDone } = { isDone: true }): void {
  begin(call)
  call.reply.write(": a comment, as some servers send to keep a connection open\n\n")
  for (const chunk of chunks) call.reply.write(line(chunk))
  call.reply.end(isDone ? "data: [DONE]\n\n" : undefined)
}

/** Writes byte by byte, so that chunks end inside characters. */
function bytewise(call: Call, chunks: readonly Chunk[]): void {
  begin(call)
  call.reply.socket?.setNoDelay(true)
  const bytes = Buffer.from(`${chunks.map(line).join("")}data: [DONE]\n\n`)
  let at = 0
  const next = (): void => {
    if (at >= bytes.length) return void call.reply.end()
    call.reply.write(bytes.subarray(at, at + 1))
    at += 1
    setImmediate(next)
  }
  next()
}

/** Writes `head`, then `unit` again and again, up to 64 MB or until the client closes the connection. */
function flood({ reply }: Call, head: string, unit: string): void {
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

async function drip(call: Call, chunks: readonly Chunk[], everyMs: number): Promise<void> {
  begin(call)
  for (const chunk of chunks) {
    call.reply.write(line(chunk))
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  call.reply.end("data: [DONE]\n\n")
}

function error({ reply }: Call, status: number, message: string, headers: Record<string, string> = {}): void {
  reply.writeHead(status, { "content-type": "application/json", ...headers })
  reply.end(JSON.stringify({ error: { message, type: "error", param: null, code: null } }))
}
