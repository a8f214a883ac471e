/**
 * stamps.ts: a fake model on loopback that writes the send time into each delta, and a parser for these timestamps.
 *
 * The format is `<n>:<microseconds>,`. The time comes from the clock of this process, in which the clients run too.
 */

import { createServer, type ServerResponse } from "node:http"
import { sleep } from "./measure.ts"

export interface StampingModel {
  /** The value for MODEL_BASE_URL. */
  readonly baseUrl: string
  /** Number of deltas in an answer. */
  readonly deltas: number
  close(): void
}

/** Starts a model that answers every call with the given number of deltas, at a fixed interval. */
export async function startStampingModel(deltas: number, everyMs: number): Promise<StampingModel> {
  const server = createServer((request, reply) => {
    request.resume()
    void streamAnswer(reply, deltas, everyMs)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const closeServer = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { baseUrl: `http://127.0.0.1:${port}/v1`, deltas, close: closeServer }
}

async function streamAnswer(reply: ServerResponse, deltas: number, everyMs: number): Promise<void> {
  reply.writeHead(200, { "content-type": "text/event-stream" })
  reply.flushHeaders()
  const start = performance.now()
  for (let n = 0; n < deltas; n++) {
    await sleep(Math.max(start + n * everyMs - performance.now(), 0))
    reply.write(createEventLine({ content: `${n}:${Math.round(performance.now() * 1000)},` }, null))
  }
  reply.end(`${createEventLine({}, "stop")}data: [DONE]\n\n`)
}

function createEventLine(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }]
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "stamps", choices })}\n\n`
}

export interface Stamp {
  readonly n: number
  /** The send time, in milliseconds. */
  readonly at: number
}

/** Returns the stamps in a frame, in order. */
export function stampsIn(text: string): Stamp[] {
  return Array.from(text.matchAll(/(\d+):(\d+),/g), ([, n, at]) => ({ n: Number(n), at: Number(at) / 1000 }))
}
