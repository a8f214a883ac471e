/**
 * mcp-kills.test.ts: kills a real server while it calls the tools of a real MCP server.
 *
 * After a kill, a read-only tool is called again. A tool that writes is never called twice: if its call was in
 * progress, the call ends as interrupted, because it may or may not have taken effect.
 */

import { EventEmitter, once } from "node:events"
import { createServer, type Server } from "node:http"
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import { afterAll, beforeAll, expect, test } from "vitest"
import { callsIn } from "../state/state-client.ts"
import { IS_FULL, IS_LONG } from "../support/seeded.ts"
import { type KillStage, openStage, sendAndKill, waitAtRandom } from "./kill-stage.ts"

const KILLS = IS_LONG ? 50 : IS_FULL ? 8 : 3
/** How long a call takes, in milliseconds. This is long enough to kill the server during the call. */
const BOOK_MS = 30
const LOOK_MS = 800

const NUMBER = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const

/** How often each call arrived, by tool and number. */
const calls = new Map<string, number>()
/** Emits `call` when a call arrives. */
const events = new EventEmitter()

function createBookings(): McpServer {
  const server = new McpServer({ name: "bookings", version: "1" })
  for (const name of ["book", "look"]) {
    const config = { description: `Can ${name}.`, inputSchema: fromJsonSchema<{ n: number }>(NUMBER) }
    server.registerTool(name, config, async ({ n }) => {
      calls.set(`${name} ${n}`, (calls.get(`${name} ${n}`) ?? 0) + 1)
      events.emit("call")
      await new Promise((resolve) => setTimeout(resolve, name === "book" ? BOOK_MS : LOOK_MS))
      return { content: [{ type: "text", text: `${name} ${n}` }] }
    })
  }
  return server
}

let upstream: Server
let url = ""

beforeAll(async () => {
  const answer = toNodeHandler(createMcpHandler(createBookings))
  upstream = createServer((request, reply) => void answer(request as NodeIncomingMessageLike, reply))
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const address = upstream.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/mcp`
})

afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

/** Waits until a read-only tool's call is stored, which happens a moment after the call begins (SPEC TU4). */
const untilStored = async (): Promise<void> => {
  await once(events, "call")
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS / 2))
}

async function openShop(): Promise<KillStage> {
  return await openStage(async (root) => {
    const server = { url, tools: ["book", "look"], reads: ["look"], approval: "never" }
    await root.send("PUT", "/v1/mcp-servers/shop", server)
    await root.send("PUT", "/v1/agents/helper", { description: "d", prompt: "p", mcp_servers: ["shop"] })
  })
}

const scriptOf = (name: string, n: number): string => {
  const call = { type: "tool_call", name: `shop_${name}`, args: JSON.stringify({ n }) }
  return `/script ${JSON.stringify([[call], [{ type: "text_delta", delta: "Done." }]])}`
}

test("[MP10] a tool that writes is never called twice, whenever the server is killed", {
  timeout: 600_000,
}, async () => {
  const stage = await openShop()
  const ends: Record<string, number> = {}
  for (let n = 0; n < KILLS; n++) {
    const moment = n % 2 === 0 ? once(events, "call") : waitAtRandom()
    const answer = await sendAndKill(stage, { id: `q${n}`, content: scriptOf("book", n) }, moment)
    const [made] = callsIn(answer)
    const times = calls.get(`book ${n}`) ?? 0
    expect(times, `kill ${n}`).toBeLessThanOrEqual(1)
    const end = answer?.reason ?? made?.status ?? ""
    ends[end] = (ends[end] ?? 0) + 1
    if (end === "ok") expect([JSON.parse(made?.result ?? ""), times]).toEqual([{ text: `book ${n}` }, 1])
    else if (end === "interrupted") expect(made?.error?.code).toBe("tool_interrupted")
    else expect([end, times], `kill ${n}`).toEqual(["process_restart", 0])
  }
  // At least one of the kills that were triggered by a call's arrival came before the call's result.
  expect(ends["interrupted"]).toBeGreaterThan(0)
  await stage.close()
})

test("[MP10] a read-only tool is called again after a kill", { timeout: 600_000 }, async () => {
  const stage = await openShop()
  let repeated = 0
  for (let n = 0; n < KILLS; n++) {
    const answer = await sendAndKill(stage, { id: `q${n}`, content: scriptOf("look", n) }, untilStored())
    const [made] = callsIn(answer)
    if (answer?.reason === "process_restart") continue
    expect(made?.status, `kill ${n}`).toBe("ok")
    expect(JSON.parse(made?.result ?? ""), `kill ${n}`).toEqual({ text: `look ${n}` })
    if ((calls.get(`look ${n}`) ?? 0) > 1) repeated += 1
  }
  expect(repeated).toBeGreaterThan(0)
  await stage.close()
})
