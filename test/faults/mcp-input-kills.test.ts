/**
 * mcp-input-kills.test.ts: kills a real server while a question from a real MCP server is waiting for the user, and
 * while the call is repeated with the user's answer.
 */

import { EventEmitter, once } from "node:events"
import { createServer, type Server } from "node:http"
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { answerTo, callsIn } from "../state/state-client.ts"
import { addAskingTools, BOOKING_FORM } from "../support/asking-mcp.ts"
import { startCuecard } from "../support/checked-cuecard.ts"
import { type KillStage, openStage, untilEnded } from "./kill-stage.ts"

const ROUNDS = [{ who: { method: "elicitation/create", params: BOOKING_FORM } }] as never
const CONTENT = { name: "Ada", seats: 1, class: "eco", window: true }
const SOON = { timeout: 60_000 }

let upstream: Server
let url = ""
/** The received calls, each as its text and whether it contained the user's answers. */
const calls: string[] = []
/** Emits the text of each call that contains answers. Such a call can be held until `release` is emitted. */
const events = new EventEmitter()
/** The texts of the calls that are held when they first arrive with answers. */
const held = new Set<string>()

beforeAll(async () => {
  const createTrips = (): McpServer => {
    const server = new McpServer({ name: "trips", version: "1" })
    addAskingTools(server, ROUNDS, async (text, isAnswered) => {
      calls.push(`${text} ${isAnswered ? "answered" : "asks"}`)
      if (!isAnswered || !held.delete(text)) return
      const released = once(events, "release")
      events.emit(text)
      await released
    })
    return server
  }
  const answer = toNodeHandler(createMcpHandler(createTrips))
  upstream = createServer((request, reply) => void answer(request as NodeIncomingMessageLike, reply))
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const address = upstream.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/mcp`
})

afterAll(() => {
  events.emit("release")
  upstream.closeAllConnections()
  upstream.close()
})

const openTrips = (): Promise<KillStage> =>
  openStage(async (root) => {
    const server = { url, tools: ["ask", "look"], reads: ["look"], approval: "never" }
    await root.send("PUT", "/v1/mcp-servers/trips", server)
    await root.send("PUT", "/v1/agents/helper", { description: "d", prompt: "p", mcp_servers: ["trips"] })
  })

async function killAndRestart(stage: KillStage): Promise<void> {
  const { persist } = stage
  const port = Number(new URL(stage.cuecard.url).port)
  await stage.cuecard.kill()
  stage.cuecard = await startCuecard({ persist, vars: { PROBE_TOOLS: "on" }, port })
}

async function readCall({ ada, session }: KillStage, id: string) {
  const page = await ada.get<HistoryPage>(`/v1/sessions/${session}/conversation/recent?limit=4`)
  return callsIn(answerTo(page.messages, id))[0]
}

/** Makes a tool ask its question, and kills the server while the question is waiting. Returns the call. */
async function askAndKill(stage: KillStage, id: string, tool: string) {
  const call = { type: "tool_call", name: `trips_${tool}`, args: JSON.stringify({ text: id }) }
  const content = `/script ${JSON.stringify([[call], [{ type: "text_delta", delta: "Done." }]])}`
  await stage.ada.send("POST", `/v1/sessions/${stage.session}/messages`, { id, content })
  await expect.poll(async () => (await readCall(stage, id))?.input?.id, SOON).toBe("1-1")
  const asked = await readCall(stage, id)
  await killAndRestart(stage)
  expect(await readCall(stage, id)).toEqual(asked)
  return asked?.call_id ?? ""
}

const answer = ({ ada, session }: KillStage, callId: string) => {
  const body = JSON.stringify({ input: "1-1", action: "accept", content: CONTENT })
  const headers = { "content-type": "application/json" }
  return ada.text(`/v1/sessions/${session}/calls/${callId}/input`, { method: "POST", headers, body })
}

const callsOf = (id: string) => calls.filter((call) => call.startsWith(`${id} `)).map((call) => call.split(" ")[1])

test("[MP33] a question survives kills, and the call is repeated with the answer and the state", {
  timeout: 600_000,
}, async () => {
  const stage = await openTrips()
  const callId = await askAndKill(stage, "q1", "ask")
  await answer(stage, callId)
  const [made] = callsIn(await untilEnded(stage, "q1"))
  expect(made?.status).toBe("ok")
  expect(JSON.parse(JSON.parse(made?.result ?? "").text)).toEqual({
    text: "q1",
    answers: { who: { action: "accept", content: CONTENT } },
    isSameState: true,
  })
  expect(callsOf("q1")).toEqual(["asks", "answered"])
  await stage.close()
})

test.each([
  ["ask", "writes, is not called again", "interrupted", ["asks", "answered"]],
  ["look", "only reads, is called again with the same answer", "ok", ["asks", "answered", "answered"]],
] as const)(
  "[MP10] [MP33] after a kill during the call with the answer, the tool %s, which %s",
  {
    timeout: 600_000,
  },
  async (tool, _what, status, expected) => {
    const stage = await openTrips()
    const id = `kill-${tool}`
    const callId = await askAndKill(stage, id, tool)
    held.add(id)
    const arrived = once(events, id)
    await answer(stage, callId)
    await arrived
    // A read-only tool's call is stored a moment after it begins (SPEC TU4).
    await expect.poll(async () => (await readCall(stage, id))?.status, SOON).toBe("running")
    await killAndRestart(stage)
    const [made] = callsIn(await untilEnded(stage, id))
    expect(made?.status).toBe(status)
    if (status === "interrupted") expect(made?.error?.code).toBe("tool_interrupted")
    expect(callsOf(id)).toEqual(expected)
    await stage.close()
  },
)
