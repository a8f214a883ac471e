/**
 * upstreams.ts: a real HTTP server on the loopback that stands for weather and model upstreams; vitest's globalSetup.
 *
 * `<UPSTREAM_URL>/<weather|model>/<scenario>/<run>/…` plays a scenario. A run is any word of the test's own: what the
 * `<UPSTREAM_URL>/effect/<run>` is what a tool for tests calls when it does something: each call counts. What the
 * server saw of it is told by `<UPSTREAM_URL>/seen/<run>`, so tests in workerd can look at it over HTTP as well.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { TestProject } from "vitest/node"
import { playRemote } from "./upstream-remote.ts"
import { playModel } from "./upstream-model.ts"
import { playWeather } from "./upstream-weather.ts"

/** One request as the server saw it. `closed`: the client hung up before the reply was complete. */
export interface Seen {
  readonly path: string
  readonly authorization: string | null
  readonly body: unknown
  closed: boolean
}

export interface Call {
  readonly scenario: string
  /** What follows the run in the path, with its query. */
  readonly path: string
  readonly body: unknown
  /** How many requests of this run went to this path before. */
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
  const server = createServer((request, reply) => void answer(seen, request, reply))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answer(seen: Map<string, Seen[]>, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [, kind = "", scenario = "", run = "", ...rest] = (request.url ?? "").split("/")
  if (kind === "seen") return void reply.end(JSON.stringify(seen.get(scenario) ?? []))
  const path = `/${rest.join("/")}`
  if (kind === "effect") return effect(seen, scenario, reply)
  if (kind === "remote") return remote(seen, scenario, request, reply)
  const runs = seen.get(run) ?? []
  const body = await bodyOf(request)
  const before = runs.filter((one) => one.path === path).length
  const one: Seen = { path, authorization: request.headers.authorization ?? null, body, closed: false }
  seen.set(run, [...runs, one])
  reply.on("close", () => {
    one.closed = !reply.writableEnded
  })
  const call: Call = { scenario, path, body, before, reply }
  if (kind === "weather") return playWeather(call)
  if (kind === "model") return playModel(call)
  reply.writeHead(404).end()
}

/** Its path is an address; what it asked with is kept under the address. */
function remote(seen: Map<string, Seen[]>, address: string, { headers }: IncomingMessage, reply: ServerResponse): void {
  const url = new URL(decodeURIComponent(address))
  const run = `${url.host}${url.pathname}`.replaceAll("/", "-")
  const one: Seen = { path: url.href, authorization: headers.authorization ?? null, body: headers, closed: false }
  seen.set(run, [...(seen.get(run) ?? []), one])
  reply.on("close", () => {
    one.closed = !reply.writableEnded
  })
  playRemote(url, reply)
}

function effect(seen: Map<string, Seen[]>, run: string, reply: ServerResponse): void {
  const one: Seen = { path: "/effect", authorization: null, body: null, closed: false }
  seen.set(run, [...(seen.get(run) ?? []), one])
  reply.end("done")
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text === "" ? null : JSON.parse(text)
}
