/**
 * page-model.ts: a fake model on loopback, for measurements of the page. It streams the text that the question names,
 * in small deltas at a fixed rate.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { sleep } from "./measure.ts"

/** The number of UTF-16 code units in one delta. */
export const DELTA_CHARS = 10
/** The number of deltas that are written together, so that the same rate needs fewer timers. */
const BURST_DELTAS = 4
const BURST_MS = 9

const TEXT_CHARS = 20_000

const MIXED = [
  "## What I found\n\nThe wind turned in the **night**, and by noon the sky over the bay was clear, with `12 °C` at the pier. ",
  "See [the report](https://example.com/report) for the rest of it.\n\n",
  "- First, call `fetch` once, and keep **what it returned**.\n- Then compare the two values before you go on.\n\n",
  "| City | Wind | Rain |\n|---|---:|---:|\n| Oslo | 4 | 0.2 |\n| Lima | 7 | 0 |\n\n",
  "```ts\nconst total = rows.filter((row) => row.size < limit).length\nreturn total > 0 ? total : null\n```\n\n",
  "> A short quotation, as answers have them.\n\nA paragraph that ends the section, with a few more words in it.\n\n",
].join("")

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1)

/** The texts that the model can stream, keyed by the question that requests them. */
export const TEXTS: Readonly<Record<string, string>> = {
  mixed: MIXED.repeat(Math.ceil(TEXT_CHARS / MIXED.length)).slice(0, TEXT_CHARS),
  table: `| City | Wind | Rain |\n|---|---:|---:|\n${numbers(300)
    .map((n) => `| City number ${n} of the coast | ${n % 17} m/s from the west | ${n % 5} mm since noon |\n`)
    .join("")}`,
  list: numbers(300)
    .map((n) => `- Item ${n} of the list, with **emphasis** and \`code\` in its one line of text\n`)
    .join(""),
}

export interface TextModel {
  /** The value for MODEL_BASE_URL. */
  readonly baseUrl: string
  close(): void
}

export async function startTextModel(): Promise<TextModel> {
  const server = createServer((request, reply) => void streamAnswer(request, reply))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function streamAnswer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  let body = ""
  for await (const chunk of request) body += String(chunk)
  const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly content?: unknown }[] }
  const question = JSON.stringify(messages.findLast(({ content }) => content !== undefined)?.content ?? "")
  const text = Object.entries(TEXTS).find(([name]) => question.includes(name))?.[1] ?? "A short answer."
  reply.writeHead(200, { "content-type": "text/event-stream" })
  const start = performance.now()
  for (let at = 0; at < text.length; at += DELTA_CHARS) {
    const burst = Math.floor(at / DELTA_CHARS / BURST_DELTAS)
    if ((at / DELTA_CHARS) % BURST_DELTAS === 0) await sleep(Math.max(start + burst * BURST_MS - performance.now(), 0))
    reply.write(createEventLine({ content: text.slice(at, at + DELTA_CHARS) }, null))
  }
  reply.end(`${createEventLine({}, "stop")}data: [DONE]\n\n`)
}

function createEventLine(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }]
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "texts", choices })}\n\n`
}
