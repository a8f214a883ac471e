/**
 * tools.ts: measures how much later the first delta arrives if the agent has 64 tools on 4 MCP servers and a webhook
 * service, and how long the first turn with a provider waits for the provider's code.
 *
 * The model is a loopback endpoint that answers at once, so the time includes sending the tool definitions. Both agents
 * belong to the same tenant and the same server, and they alternate: with tools, without, without, with, and so on.
 * Each difference is between two turns with tools and two without, so a gradual change in the machine's speed cancels
 * out. The confidence interval of the median requires no assumptions about the distribution of the noise.
 */

import { readdirSync, readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { measureChunk } from "../../scripts/bundle-sizes.ts"
import { playProvider } from "../support/provider-streams.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { openSession, runTurn } from "./client.ts"
import { findMedianInterval, formatMs, median, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const SERVERS = 4
const TOOLS_OF_SERVER = 8
const WEBHOOK_TOOLS = 32
const TOOLS = WEBHOOK_TOOLS + SERVERS * TOOLS_OF_SERVER
const WARM_UP = 10
/** The number of blocks of four turns. */
const RUNS = 600
/**
 * Pause in milliseconds. It is long enough for the previous turn to finish all its work: its usage, its log lines and
 * its rows in the directory.
 */
const PAUSE_MS = 20
/** The number of new servers that are started for each provider. */
const FIRST_USES = 5

/** Each kind of model, with its recorded stream and its chunk of the Worker. */
const PROVIDERS = [
  ["openai-compatible", "openai-compatible"],
  ["openai", "openai-responses"],
  ["anthropic", "anthropic"],
  ["google", "google"],
] as const

type Json = Record<string, unknown>

/** The body of the newest model call. */
let lastRequest = ""

/** Answers either as a provider, with a recorded stream, or as an MCP server. */
async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [, kind = "", scenario = ""] = (request.url ?? "").split("/")
  if (kind === "mcp") return await answerMcp(request, reply)
  lastRequest = ""
  for await (const part of request.setEncoding("utf8")) lastRequest += part
  playProvider({ scenario, path: "", body: null, before: 0, reply })
}

async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, reply) => void answer(request, reply))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const close = (): void => {
    stopMcp()
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`, close }
}

async function send(url: string, token: string, method: string, body: Json): Promise<Json> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return JSON.parse(text) as Json
}

/** Returns a function that sends `PUT` requests as an owner of the tenant. */
async function createPut(cuecard: Cuecard): Promise<(path: string, body: Json) => Promise<Json>> {
  const token = await cuecard.tokenFor({ user: "boss", role: "owner" })
  return (path, body) => send(`${cuecard.url}/v1/${path}`, token, "PUT", body)
}

async function openAgent(cuecard: Cuecard, agent: string): Promise<WebSocket> {
  const { id } = await send(`${cuecard.url}/v1/sessions`, cuecard.token, "POST", { agent })
  return await openSession(cuecard, String(id))
}

async function putModel(cuecard: Cuecard, provider: string, upstream: string): Promise<void> {
  const put = await createPut(cuecard)
  const base_url = `${upstream}/provider/${provider}.text/bench`
  await put("models/own", { provider, model: "m", base_url, key: "sk-bench" })
  await put("agents/bare", { description: "", prompt: "Answer.", model: "own" })
}

const SCHEMA = {
  type: "object",
  required: ["query"],
  additionalProperties: false,
  properties: { query: { type: "string", description: "What to look for." }, limit: { type: "integer", minimum: 1 } },
}

/** Gives the agent `full` its 64 tools. */
async function putTools(cuecard: Cuecard, upstream: string): Promise<void> {
  const put = await createPut(cuecard)
  const names = Array.from({ length: WEBHOOK_TOOLS }, (_, n) => `tool_${n}`)
  const config = { description: "Looks up something at the service.", url: `${upstream}/none`, schema: SCHEMA }
  for (const name of names) await put(`tools/${name}`, { ...config, effects: "read" })
  const servers = Array.from({ length: SERVERS }, (_, n) => `server${n}`)
  const tools = Array.from({ length: TOOLS_OF_SERVER }, (_, n) => `tool_${n}`)
  for (const name of servers) {
    await send(`${upstream}/mcp/set/${name}`, "", "POST", { tools })
    await put(`mcp-servers/${name}`, { url: `${upstream}/mcp/serve/${name}`, tools, approval: "never" })
  }
  const full = { description: "", prompt: "Answer.", model: "own", tools: names, mcp_servers: servers }
  await put("agents/full", full)
}

/** Returns the processor time of all current threads of a process, in milliseconds. It is more precise than `cpuMs`. */
function readThreadMs(pid: number): number {
  const spent = readdirSync(`/proc/${pid}/task`).map((task) => {
    const stat = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8")
    return Number(stat.split(" ")[0]) / 1e6
  })
  return spent.reduce((sum, ms) => sum + ms, 0)
}

interface TurnCost {
  readonly firstMs: number
  /** Processor time of workerd from the message until PAUSE_MS after the end of the turn, in milliseconds. */
  readonly processorMs: number
}

async function timeTurn(cuecard: Cuecard, socket: WebSocket): Promise<TurnCost> {
  const before = readThreadMs(cuecard.pid())
  const { firstMs } = await runTurn(socket, "Hello?")
  await sleep(PAUSE_MS)
  return { firstMs, processorMs: readThreadMs(cuecard.pid()) - before }
}

/** Checks that the model gets the definitions of all tools. */
async function checkTools(socket: WebSocket): Promise<void> {
  await runTurn(socket, "Hello?")
  const { tools } = JSON.parse(lastRequest) as { readonly tools?: readonly unknown[] }
  if (tools?.length !== TOOLS) throw new Error(`the model received ${tools?.length} tools`)
}

/** Describes the differences between the turns of each block by their median and its 95 % confidence interval. */
function describeAdded(full: readonly number[], bare: readonly number[]): string {
  const sumBlock = (values: readonly number[], block: number): number =>
    (values[2 * block] ?? Number.NaN) + (values[2 * block + 1] ?? Number.NaN)
  const added = Array.from(
    { length: full.length / 2 },
    (_, block) => (sumBlock(full, block) - sumBlock(bare, block)) / 2,
  )
  return `${formatMs(median(added))} (${findMedianInterval(added).map(formatMs).join(" to ")})`
}

async function benchFirstDelta(upstream: string): Promise<Row[]> {
  const cuecard = await startCuecard()
  await putModel(cuecard, "openai-compatible", upstream)
  await putTools(cuecard, upstream)
  const sockets = { bare: await openAgent(cuecard, "bare"), full: await openAgent(cuecard, "full") }
  await checkTools(sockets.full)
  const turns: Record<keyof typeof sockets, TurnCost[]> = { bare: [], full: [] }
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    for (const kind of ["full", "bare", "bare", "full"] as const) {
      const cost = await timeTurn(cuecard, sockets[kind])
      if (run >= WARM_UP) turns[kind].push(cost)
    }
  }
  for (const socket of Object.values(sockets)) socket.close()
  await cuecard.close()
  const what = `first delta with ${TOOLS} tools, half of them of ${SERVERS} MCP servers: added (median of ${RUNS} differences; 95 % confidence interval)`
  const createRow = (field: keyof TurnCost, what: string, goal: string): Row => {
    const [full, bare] = [turns.full, turns.bare].map((costs) => costs.map((cost) => cost[field]))
    const floor = `${formatMs(median(bare ?? []))} without tools`
    return { what, ours: describeAdded(full ?? [], bare ?? []), goal, floor, peer: "" }
  }
  return [
    createRow("firstMs", what, "≤ 1 ms"),
    createRow("processorMs", "the same: processor time of workerd for the whole turn, added", "≤ 1 ms"),
  ]
}

/** Times the first turn with a provider on a new server whose object and socket are warm, and the turn after it. */
async function timeFirstUse(provider: string, upstream: string): Promise<{ first: number; next: number }> {
  const cuecard = await startCuecard()
  await putModel(cuecard, provider, upstream)
  const scripted = await openAgent(cuecard, "weather")
  for (let turn = 0; turn < 5; turn++) await runTurn(scripted, "Hello?")
  const socket = await openAgent(cuecard, "bare")
  const { firstMs: first } = await runTurn(socket, "Hello?")
  const other = await openAgent(cuecard, "bare")
  const { firstMs: next } = await runTurn(other, "Hello?")
  for (const one of [scripted, socket, other]) one.close()
  await cuecard.close()
  return { first, next }
}

async function benchProvider(provider: string, chunk: string, upstream: string): Promise<Row> {
  const uses: { first: number; next: number }[] = []
  for (let run = 0; run < FIRST_USES; run++) uses.push(await timeFirstUse(provider, upstream))
  const added = median(uses.map(({ first, next }) => first - next))
  return {
    what: `first use of the provider ${provider}: added to the first delta; what it loads besides a turn of the scripted model, gzip`,
    ours: `${formatMs(added)}; ${measureChunk(chunk, "scripted-model").toFixed(1)} KB`,
    goal: "",
    floor: `${formatMs(median(uses.map(({ next }) => next)))} in the next session`,
    peer: "",
  }
}

export async function benchTools(): Promise<Row[]> {
  const upstream = await startUpstream()
  const rows = await benchFirstDelta(upstream.url)
  for (const [provider, chunk] of PROVIDERS) rows.push(await benchProvider(provider, chunk, upstream.url))
  upstream.close()
  return rows
}
