/**
 * workers-ai.test.ts: tests turns that use the platform's own Workers AI binding, whose requests go to a loopback
 * server.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"
import { playProvider } from "../support/provider-streams.ts"

const MODEL_NAME = "@cf/meta/llama"

/** A request that the binding sends. */
interface Run {
  readonly model: string | undefined
  readonly body: { readonly inputs: { readonly messages: readonly object[] }; readonly options: object }
}

const runs: Run[] = []
let service: Server
let cuecard: Cuecard
/** Resolves once the connection of the silent response has been closed. */
let closed: Promise<void>

async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Run["body"]
  runs.push({ model: findHeader(request, "cf-consn-model-id"), body })
  if (JSON.stringify(body.inputs.messages.at(-1)).includes("Wait")) {
    closed = new Promise((resolve) => reply.on("close", resolve))
    reply.writeHead(200, { "content-type": "text/event-stream" })
    return void reply.write('data: {"response":"So"}\n\n')
  }
  playProvider({ scenario: "workers-ai.text", path: "", body, before: 0, reply })
}

/** Returns a header of the binding. Miniflare's proxy may send these headers with a prefix. */
function findHeader({ headers }: IncomingMessage, name: string): string | undefined {
  return Object.entries(headers)
    .find(([key]) => key.endsWith(name))?.[1]
    ?.toString()
}

beforeAll(async () => {
  service = createServer((request, reply) => void answer(request, reply))
  await new Promise<void>((done) => service.listen(0, "127.0.0.1", done))
  const ai = new URL(`http://127.0.0.1:${(service.address() as AddressInfo).port}`)
  cuecard = await startCuecard({ vars: { MODEL: "workers-ai", MODEL_NAME } }, { ...readBuild(), ai })
})

afterAll(async () => {
  await cuecard?.close()
  service.closeAllConnections()
  service.close()
})

async function call(path: string, method = "GET", body?: object) {
  const response = await fetch(`${cuecard.url}/v1/sessions${path}`, {
    method,
    headers: { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: response.status === 204 ? null : await response.json() }
}

const readAnswer = async (session: string) => {
  const { json } = await call(`/${session}/conversation/recent?limit=10`)
  return (json as { messages: { role: string; status: string; segments: { content?: string }[] }[] }).messages.at(-1)
}

test("[MO18] a turn is answered through the binding, which gets the model's name", async () => {
  const { id } = await cuecard.createSession()
  expect((await call(`/${id}/messages`, "POST", { id: "q1", content: "Hello?" })).status).toBe(202)
  await expect.poll(async () => (await readAnswer(id))?.status, { timeout: 20_000 }).toBe("completed")
  expect((await readAnswer(id))?.segments).toMatchObject([{ content: "Hello, world." }])
  expect(runs[0]).toMatchObject({
    model: MODEL_NAME,
    body: { inputs: { stream: true }, options: { returnRawResponse: true } },
  })
})

test("[MO18] a cancel aborts the call", async () => {
  const { id } = await cuecard.createSession()
  expect((await call(`/${id}/messages`, "POST", { id: "q1", content: "Wait" })).status).toBe(202)
  await expect.poll(async () => (await readAnswer(id))?.segments[0]?.content, { timeout: 20_000 }).toBe("So")
  expect((await call(`/${id}/cancel`, "POST", {})).status).toBeLessThan(300)
  await closed
  await expect.poll(async () => (await readAnswer(id))?.status).toBe("cancelled")
})
