/**
 * mcp-client.ts: lists and calls the tools of an MCP server, with the protocol's own package. Loaded on the first call.
 *
 * Servers of protocol version 2026-07-28 need no handshake: with a stored answer to `server/discover`, a call is one
 * request. Calls to other servers need three.
 */

import {
  Client,
  type ClientCapabilities,
  type DiscoverResult,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client"
import { APP_MIME_TYPE } from "../../shared/asset-limits.ts"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { fail, type McpFlaw, type Result, succeed } from "../../shared/fault.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"
import { rejectOnAbort } from "../platform/abort.ts"
import type { ProviderEnv } from "../auth/issuer/provider-fetch.ts"
import type { McpEndpoint } from "../settings/mcp-config.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { ToolArgs } from "../tool/tool.ts"
import type { InputReply, ServerReply } from "./elicitation/call-with-input.ts"
import { createGuardedFetch, type GuardedFetch, McpBoundError } from "./guarded-fetch.ts"
import { type McpResult, resultToData } from "./mcp-result.ts"

/** At most this many pages of a tool list are read. */
const MAX_LIST_PAGES = 4

/** Maximum length of a stored answer to `server/discover`, in characters. */
const MAX_DISCOVER_CHARS = 32 * 1024

export interface ToolListing {
  /** JSON text; null for a server of protocol version 2025-11-25. */
  readonly discover: string | null
  readonly tools: readonly unknown[]
  /** How long the list is valid, in milliseconds; null if the server does not specify it. */
  readonly ttlMs: number | null
}

/** Lists the tools of a server, and detects its version of the protocol. */
export async function listServerTools(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  limitMs: number = readTimeLimits(env).providerMs,
): Promise<Result<ToolListing, McpFlaw>> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), limitMs)
  try {
    return await withClient(env, endpoint, abort.signal, async (client) => {
      const answer = client.getDiscoverResult()
      const discover = answer === undefined ? null : JSON.stringify(answer)
      if ((discover?.length ?? 0) > MAX_DISCOVER_CHARS) throw new McpBoundError("too_large")
      const listed = await client.listTools(undefined, { signal: abort.signal })
      const { ttlMs } = listed as { ttlMs?: unknown }
      return { discover, tools: listed.tools, ttlMs: typeof ttlMs === "number" ? ttlMs : null }
    })
  } finally {
    clearTimeout(timer)
  }
}

/** The result of a call that an app made, as JSON text. */
export interface AppToolResult {
  readonly json: string
}

/** Calls a tool. The caller's signal limits the time. */
export async function callServerTool(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  call: { readonly tool: string; readonly args: ToolArgs },
  signal: AbortSignal,
): Promise<Result<McpResult, McpFlaw>> {
  return await withClient(env, endpoint, signal, async (client) => {
    const result = await client.callTool({ name: call.tool, arguments: { ...call.args } }, { signal })
    return resultToData(result)
  })
}

/**
 * Calls a tool of a server that may ask the user (protocol version 2026-07-28). `reply`: the answers to the server's
 * questions.
 */
export async function callAskingTool(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  call: { readonly tool: string; readonly args: ToolArgs; readonly reply: InputReply },
  signal: AbortSignal,
): Promise<Result<ServerReply, McpFlaw>> {
  const run = async (client: Client): Promise<ServerReply> => {
    const params = { name: call.tool, arguments: { ...call.args }, ...call.reply }
    const result: unknown = await client.callTool(params, { signal, allowInputRequired: true })
    const asks = isJsonObject(result) && result["resultType"] === "input_required"
    return asks ? { asks: result } : resultToData(result)
  }
  return await withClient(env, endpoint, signal, run, { elicitation: { form: {} } })
}

/** Calls a tool on behalf of one of the server's apps, which gets the result unchanged. */
export async function callToolForApp(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  call: { readonly tool: string; readonly args: ToolArgs },
  signal: AbortSignal,
): Promise<Result<AppToolResult, McpFlaw>> {
  return await withClient(env, endpoint, signal, async (client) => {
    const { content, structuredContent, isError } = await client.callTool(
      { name: call.tool, arguments: { ...call.args } },
      { signal },
    )
    const result = { content, ...(structuredContent !== undefined && { structuredContent }), isError: isError === true }
    const json = JSON.stringify(result)
    if (json.length > MAX_RESULT_BYTES) throw new McpBoundError("too_large")
    return { json }
  })
}

/** Reads a resource, as the server sent it. */
export async function readServerResource(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  uri: string,
  signal: AbortSignal,
): Promise<Result<unknown, McpFlaw>> {
  return await withClient(env, endpoint, signal, (client) => client.readResource({ uri }, { signal }))
}

async function withClient<T>(
  env: ProviderEnv,
  endpoint: McpEndpoint,
  signal: AbortSignal,
  run: (client: Client) => Promise<T>,
  capabilities: ClientCapabilities = {},
): Promise<Result<T, McpFlaw>> {
  const guard = createGuardedFetch(endpoint.url, env, signal)
  const client = createClient(capabilities)
  try {
    // If a stream fails or a probe is aborted, the package would keep waiting until its own time limit.
    return succeed(await rejectOnAbort(connectAndRun(client, endpoint, guard, run), guard.signal))
  } catch (error) {
    return fail(guard.readFlaw() ?? errorToFlaw(error, signal))
  } finally {
    await client.close().catch(() => {})
  }
}

async function connectAndRun<T>(
  client: Client,
  endpoint: McpEndpoint,
  guard: GuardedFetch,
  run: (client: Client) => Promise<T>,
): Promise<T> {
  const transport = new StreamableHTTPClientTransport(new URL(endpoint.url), {
    fetch: guard.fetch,
    requestInit: { headers: { ...endpoint.headers } },
    reconnectionOptions: NO_RECONNECTION,
  })
  const prior = toPrior(endpoint)
  // Without `prior`, the client probes the server.
  await client.connect(transport, prior === undefined ? { signal: guard.signal } : { signal: guard.signal, prior })
  return await run(client)
}

/** A stream that ends early is a fault, and is not resumed. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
}

/**
 * Creates a client, which declares that it can show apps and, for the calls of a conversation, that it can show forms.
 * It declares nothing else, so a server can't ask for a model or files.
 */
function createClient(more: ClientCapabilities): Client {
  return new Client(
    { name: "cuecard", version: "1" },
    {
      capabilities: { ...more, extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [APP_MIME_TYPE] } } },
      versionNegotiation: { mode: "auto" },
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_LIST_PAGES,
    },
  )
}

function toPrior({ discover }: McpEndpoint) {
  if (discover === undefined) return undefined
  if (discover === null) return { kind: "legacy" } as const
  // `listServerTools` wrote this JSON.
  return { kind: "modern", discover: parseJson(discover) as unknown as DiscoverResult } as const
}

function errorToFlaw(error: unknown, signal: AbortSignal): McpFlaw {
  if (error instanceof McpBoundError) return error.flaw
  if (signal.aborted) return "timeout"
  if (!(error instanceof SdkError)) return error instanceof TypeError ? "unreachable" : "malformed"
  if (error.code === SdkErrorCode.RequestTimeout) return "timeout"
  if (error.code === SdkErrorCode.ListPaginationExceeded) return "too_many"
  return "malformed"
}
