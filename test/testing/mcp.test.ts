/** mcp.test.ts: tests MCP servers with the built Worker, in which the code for them is a separate chunk. */

import { createServer, type Server } from "node:http"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { answerTo, callsIn, clientOf, isEnded, StateClient } from "../state/state-client.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"

let upstream: Server
let base = ""
let cuecard: Cuecard
let root: StateClient
let ada: StateClient

beforeAll(async () => {
  upstream = createServer((request, reply) => void answerMcp(request, reply))
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const address = upstream.address()
  base = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/mcp`
  cuecard = await startCuecard()
  root = new StateClient(cuecard, await cuecard.tokenFor({ user: "root", role: "admin" }))
  ada = await clientOf(cuecard, "ada")
})

afterAll(async () => {
  await cuecard?.close()
  stopMcp()
  upstream.closeAllConnections()
  upstream.close()
})

async function runTool(session: string, id: string, name: string, args: object) {
  const steps = [[{ type: "tool_call", name, args: JSON.stringify(args) }], [{ type: "text_delta", delta: "Done." }]]
  await ada.send("POST", `/v1/sessions/${session}/messages`, { id, content: `/script ${JSON.stringify(steps)}` })
  const readAnswer = async () => {
    const page = await ada.get<HistoryPage>(`/v1/sessions/${session}/conversation/recent?limit=10`)
    return answerTo(page.messages, id)
  }
  await expect.poll(async () => isEnded(await readAnswer()), { timeout: 20_000 }).toBe(true)
  return callsIn(await readAnswer())[0]
}

test("[MP5] the built Worker calls servers of both versions", { timeout: 60_000 }, async () => {
  const old = ((await (await fetch(`${base}/everything`)).json()) as { url: string }).url
  const all = { url: old, tools: ["get-sum"], approval: "never" }
  expect(await root.send("PUT", "/v1/mcp-servers/all", all)).toMatchObject({ protocol: "2025-11-25" })
  const files = { url: `${base}/serve/built`, tools: ["echo"], approval: "never" }
  expect(await root.send("PUT", "/v1/mcp-servers/files", files)).toMatchObject({ protocol: "2026-07-28" })
  const agent = { description: "d", prompt: "p", mcp_servers: ["all", "files"] }
  await root.send("PUT", "/v1/agents/helper", agent)
  const { id } = await ada.send<{ id: string }>("POST", "/v1/sessions", { agent: "helper" })
  expect(await runTool(id, "q1", "files_echo", { text: "Hello" })).toMatchObject({
    status: "ok",
    result: '{"text":"echo: Hello"}',
  })
  const sum = await runTool(id, "q2", "all_get-sum", { a: 2, b: 40 })
  expect(sum).toMatchObject({ status: "ok", result: expect.stringContaining("42") })
  const seen = (await (await fetch(`${base}/seen/built`)).json()) as { method: string }[]
  expect(seen.map(({ method }) => method)).toEqual(["server/discover", "tools/list", "tools/call"])
})
