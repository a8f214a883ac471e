/**
 * upstreams.ts: a loopback HTTP server that replaces the weather and model services. Vitest starts it as its
 * globalSetup.
 *
 * `<UPSTREAM_URL>/<weather|model|search|page>/<scenario>/<run>/…` plays a scenario; a run is any unique word.
 * `<UPSTREAM_URL>/provider/<provider>.<scenario>/<run>/…` plays a recorded stream of a provider.
 * `<UPSTREAM_URL>/effect/<run>` counts a side effect of a test tool.
 * `<UPSTREAM_URL>/oidc/start` starts an OpenID provider on a separate port (oidc-provider.ts) and returns its issuer.
 * `<UPSTREAM_URL>/mcp/…` contains MCP servers (upstream-mcp.ts).
 * `<UPSTREAM_URL>/webhook/…` is a service with webhook tools (upstream-webhook.ts).
 * `<UPSTREAM_URL>/seen/<run>` returns the requests of a run, so that tests in workerd can read them too.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { TestProject } from "vitest/node"
import { answerMcp, stopMcp } from "./upstream-mcp.ts"
import { startOidcProvider, type TestProvider } from "./oidc-provider.ts"
import { playPage } from "./upstream-page.ts"
import { playRemote } from "./upstream-remote.ts"
import { playProvider } from "./provider-streams.ts"
import { playModel } from "./upstream-model.ts"
import { playSearch } from "./upstream-search.ts"
import { answerWebhook } from "./upstream-webhook.ts"
import { playWeather } from "./upstream-weather.ts"

/** A received request. `closed`: whether the client disconnected before the reply was complete. */
export interface Seen {
  readonly path: string
  readonly authorization: string | null
  /** The key from the header that the provider uses: `authorization`, `x-api-key` or `x-goog-api-key`. */
  readonly keys?: string
  readonly body: unknown
  closed: boolean
}

export interface Call {
  readonly scenario: string
  /** The path after the run, with its query. */
  readonly path: string
  readonly body: unknown
  /** Number of earlier requests to the same path in the same run. */
  readonly before: number
  readonly reply: ServerResponse
}

declare module "vitest" {
  interface ProvidedContext {
    bindings: Record<string, string>
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { url, close } = await startUpstreams()
  provide("bindings", { UPSTREAM_URL: url, PROBE_URL: url, MEDIA_UPSTREAM: url })
  return close
}

export async function startUpstreams(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const seen = new Map<string, Seen[]>()
  const providers: TestProvider[] = []
  const server = createServer((request, reply) => {
    if (request.url === "/oidc/start") return void startProvider(providers, request, reply)
    if (request.url?.startsWith("/mcp/")) return void answerMcp(request, reply)
    if (request.url?.startsWith("/webhook/")) return void answerWebhook(request, reply)
    void answerRequest(seen, request, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const close = async (): Promise<void> => {
    stopMcp()
    await Promise.all([...providers.map((provider) => provider.close()), closeServer(server)])
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

async function startProvider(
  providers: TestProvider[],
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const provider = await startOidcProvider((await bodyOf(request)) as object)
  providers.push(provider)
  reply.end(JSON.stringify({ issuer: provider.issuer }))
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answerRequest(
  seen: Map<string, Seen[]>,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const [, kind = "", scenario = "", run = "", ...rest] = (request.url ?? "").split("/")
  if (kind === "seen") return void reply.end(JSON.stringify(seen.get(scenario) ?? []))
  const path = `/${rest.join("/")}`
  if (kind === "effect") return countEffect(seen, scenario, reply)
  if (kind === "remote") return answerRemote(seen, scenario, request, reply)
  const runs = seen.get(run) ?? []
  const body = await bodyOf(request)
  const before = runs.filter((request) => request.path === path).length
  const { authorization = null } = request.headers
  const keys = [
    authorization,
    request.headers["x-api-key"],
    request.headers["x-goog-api-key"],
    request.headers["x-subscription-token"],
  ].join()
  const one: Seen = { path, authorization, keys, body, closed: false }
  seen.set(run, [...runs, one])
  reply.on("close", () => {
    one.closed = !reply.writableEnded
  })
  const call: Call = { scenario, path, body, before, reply }
  if (kind === "weather") return playWeather(call)
  if (kind === "provider") return playProvider(call)
  if (kind === "model") return playModel(call)
  if (kind === "search") return playSearch(call)
  if (kind === "page") return playPage(scenario, reply)
  reply.writeHead(404).end()
}

/** Responds to a request whose path contains a URL. The request is recorded under that URL. */
function answerRemote(
  seen: Map<string, Seen[]>,
  address: string,
  { headers }: IncomingMessage,
  reply: ServerResponse,
): void {
  const url = new URL(decodeURIComponent(address))
  const run = `${url.host}${url.pathname}`.replaceAll("/", "-")
  const one: Seen = { path: url.href, authorization: headers.authorization ?? null, body: headers, closed: false }
  seen.set(run, [...(seen.get(run) ?? []), one])
  reply.on("close", () => {
    one.closed = !reply.writableEnded
  })
  if (url.host === "page.example.com") return playPage(url.pathname.split("/")[1] ?? "", reply)
  playRemote(url, reply)
}

function countEffect(seen: Map<string, Seen[]>, run: string, reply: ServerResponse): void {
  const one: Seen = { path: "/effect", authorization: null, body: null, closed: false }
  seen.set(run, [...(seen.get(run) ?? []), one])
  reply.end("done")
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text === "" ? null : JSON.parse(text)
}
