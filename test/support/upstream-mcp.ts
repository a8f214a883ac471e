/**
 * upstream-mcp.ts: MCP servers on loopback: one for the protocol version 2026-07-28, made with the official library
 * (npm `@modelcontextprotocol/server`) and able to send hostile responses, and the official "everything" server (npm)
 * for 2025-11-25.
 *
 * `<UPSTREAM_URL>/mcp/serve/<run>` is a server; a run is any unique word. `POST /mcp/set/<run>` changes that server,
 * and `/mcp/seen/<run>` lists its requests. `/mcp/everything` starts the "everything" server and returns its URL.
 * `/mcp/files` is the official file system server behind a bridge.
 */

import { spawn, type ChildProcess } from "node:child_process"
import { randomInt } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createInterface } from "node:readline"
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import { type StdioBridge, startFilesystem } from "./stdio-bridge.ts"
import { addAskingTools, type AskedRounds } from "./asking-mcp.ts"
import { playHostile } from "./hostile-mcp.ts"

/** How the server of a run behaves. */
export interface McpState {
  readonly description?: string
  /** The names of its tools. Default: `echo` and `write`. */
  readonly tools?: readonly string[]
  readonly ttlMs?: number
  /** Requests without this `authorization` are refused. */
  readonly token?: string
  /** The app that shows the result of the tool `show`. The app's own tool is `refresh`. */
  readonly app?: McpAppState
  /** The rounds of requests to the user that the tools `ask` and `look` make. */
  readonly asks?: AskedRounds
  /** A response from hostile-mcp.ts, for one method of the protocol. */
  readonly hostile?: { readonly method: string; readonly play: string }
}

export interface McpAppState {
  readonly html: string
  /** The MIME type of the app. Default: the type of MCP Apps. */
  readonly mimeType?: string
  /** The policy that the server declares. */
  readonly csp?: { readonly connectDomains?: readonly string[]; readonly resourceDomains?: readonly string[] }
}

/** A received request. */
export interface SeenMcp {
  readonly http: string
  /** The method of the protocol. */
  readonly method: string
  readonly authorization: string | null
}

const states = new Map<string, McpState>()
const seen = new Map<string, SeenMcp[]>()
const children: ChildProcess[] = []
let everything: Promise<string> | null = null
let filesystem: StdioBridge | null = null
/** The folder of the filesystem server. */
export const FILES = "examples"

export async function answerMcp(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [, , kind = "", run = ""] = (request.url ?? "").split("/")
  if (kind === "everything") {
    everything ??= startEverything()
    return void reply.end(JSON.stringify({ url: await everything }))
  }
  if (kind === "files") {
    filesystem ??= startFilesystem(FILES)
    return await filesystem.answer(request, reply)
  }
  if (kind === "seen") return void reply.end(JSON.stringify(seen.get(run) ?? []))
  if (kind === "set") {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += chunk
    states.set(run, JSON.parse(text))
    return void reply.end("{}")
  }
  const state = states.get(run) ?? {}
  const method = String(request.headers["mcp-method"] ?? "")
  const authorization = request.headers.authorization ?? null
  seen.set(run, [...(seen.get(run) ?? []), { http: request.method ?? "", method, authorization }])
  if (state.token !== undefined && authorization !== state.token) return void reply.writeHead(401).end()
  if (state.hostile?.method === method) return await playHostile(state.hostile.play, run, request, reply)
  await toNodeHandler(createMcpHandler(() => createRunServer(state)))(request as NodeIncomingMessageLike, reply)
}

export function stopMcp(): void {
  for (const child of [...children, filesystem?.child]) child?.kill()
}

const TEXT_SCHEMA = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const

const APP_URI = "ui://test/app.html"
const APP_TYPE = "text/html;profile=mcp-app"

function addApp(server: McpServer, { html, mimeType = APP_TYPE, csp }: McpAppState): void {
  const inputSchema = fromJsonSchema<{ text: string }>(TEXT_SCHEMA)
  const add = (name: string, ui: object): void => {
    const config = { description: "Shows a text.", inputSchema, _meta: { ui } }
    server.registerTool(name, config, async ({ text }) => ({
      content: [{ type: "text", text: `${name}: ${text}` }],
      structuredContent: { name, text },
    }))
  }
  add("show", { resourceUri: APP_URI })
  add("refresh", { visibility: ["app"] })
  const meta = csp === undefined ? {} : { _meta: { ui: { csp } } }
  server.registerResource("app", APP_URI, { mimeType }, async () => ({
    contents: [{ uri: APP_URI, mimeType, text: html, ...meta }],
  }))
}

function createRunServer(state: McpState): McpServer {
  const { description = "Repeats a text.", tools = ["echo", "write"], ttlMs, app } = state
  const hints = ttlMs === undefined ? {} : { cacheHints: { "tools/list": { ttlMs } } }
  const server = new McpServer({ name: "test", version: "1" }, hints)
  for (const name of tools) {
    const config = { description, inputSchema: fromJsonSchema<{ text: string }>(TEXT_SCHEMA) }
    server.registerTool(name, config, async ({ text }) => ({
      content: [{ type: "text", text: `${name}: ${text}` }],
      isError: text === "fail",
    }))
  }
  if (app !== undefined) addApp(server, app)
  if (state.asks !== undefined) addAskingTools(server, state.asks)
  return server
}

/**
 * The first of the ports for the "everything" server, which can't let the system choose a port. The system assigns none
 * of these ports to other servers, so only another "everything" server could occupy one.
 */
const FIRST_PORT = 20_000
const PORTS = 10_000
const MAX_PORTS_TRIED = 5

async function startEverything(portsLeft = MAX_PORTS_TRIED): Promise<string> {
  const port = FIRST_PORT + randomInt(PORTS)
  const script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
  const env = { ...process.env, PORT: String(port) }
  const child = spawn(process.execPath, [script, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] })
  children.push(child)
  const isListening = await new Promise<boolean>((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.includes("listening on port")) resolve(true)
    })
    child.once("exit", () => resolve(false))
  })
  if (isListening) return `http://127.0.0.1:${port}/mcp`
  if (portsLeft === 0) throw new Error("The everything server doesn't start.")
  return await startEverything(portsLeft - 1)
}
