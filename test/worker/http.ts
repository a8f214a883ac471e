/** http.ts: HTTP requests to the whole Worker, for tests of its routes. */

import { createExecutionContext, env, runInDurableObject, SELF } from "cloudflare:test"
import { nanoid } from "nanoid"
import { expect } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { Env } from "../../worker/env.ts"
import worker from "../../worker/index.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { noteAddress, noteContent, noteJson } from "../support/log-check.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"

export const HOST = "https://cuecard.test"
export const SECRET = String(env.JWT_SECRET)

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

export function tokenOf(tenant: string, user: string, seconds = 600): Promise<string> {
  const [expires, issued] = [nowSeconds() + seconds, Date.now() / 1000]
  return issueToken({ tenant, user, expires, token: nanoid(), issued }, SECRET)
}

/** Returns a token of scope `user` with a role. */
export function roleToken(tenant: string, user: string, role: Role): Promise<string> {
  const [expires, issued] = [nowSeconds() + 600, Date.now() / 1000]
  return issueToken({ tenant, user, expires, token: nanoid(), issued, role }, SECRET)
}

export interface Call {
  readonly method?: string
  readonly token?: string
  readonly body?: BodyInit
  readonly headers?: Record<string, string>
  /** Bindings that override those of the test deployment. */
  readonly env?: Partial<Record<keyof Env, unknown>>
}

/** Sends a request to the Worker. `path` can be a whole URL. */
export async function call(path: string, options: Call = {}) {
  const response = await fetchResponse(path, options)
  const text = response.webSocket === null ? await response.text() : ""
  const type = response.headers.get("content-type") ?? ""
  if (/\/(?:recent|sign)\b/.test(path)) noteJson(text)
  response.webSocket?.accept()
  response.webSocket?.close()
  return {
    status: response.status,
    headers: response.headers,
    text,
    // JSON Lines are not parsed as JSON.
    json: text.startsWith("{") && !type.includes("jsonl") ? JSON.parse(text) : null,
  }
}

async function fetchResponse(path: string, { method = "GET", token, body, headers = {}, env: over }: Call) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const type = body === undefined ? {} : { "content-type": "application/json" }
  const init = { method, headers: { ...type, ...authorization, ...headers }, ...(body === undefined ? {} : { body }) }
  const url = new URL(path, HOST).href
  noteAddress(url)
  noteJson(body)
  noteContent(token ?? "")
  if (over === undefined) return await SELF.fetch(url, init)
  // A deployment under test must not contain the test tools.
  const own = { ...env, PROBE_TOOLS: undefined, PROBE_URL: undefined, MEDIA_UPSTREAM: undefined }
  return await worker.fetch(new Request(url, init), { ...own, ...over }, createExecutionContext())
}

/** Matches a refusal by status and code, and optionally by its text. */
export function refusal(status: number, code: string, text?: string) {
  const message = text === undefined ? expect.any(String) : expect.stringContaining(text)
  // `fields` isn't matched. It contains the values in the text, so it depends on the code.
  return expect.objectContaining({ status, json: expect.objectContaining({ code, text: message }) })
}

export async function makeSession(token: string, title?: string): Promise<string> {
  const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ title }) })
  expect(made.status).toBe(201)
  return made.json.id
}

export function socketHeaders(token: string, origin?: string): Record<string, string> {
  const protocols = { upgrade: "websocket", "sec-websocket-protocol": `cuecard.v1, token.${token}` }
  return origin === undefined ? protocols : { ...protocols, origin }
}

/** Lists the tables of an object. The list is empty until something is stored. */
export async function tablesOf(stub: DurableObjectStub): Promise<string[]> {
  const sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"
  return await runInDurableObject(stub, (_object, state) =>
    state.storage.sql
      .exec(sql)
      .toArray()
      .map(({ name }) => String(name)),
  )
}

/** The first frame that a client sends. */
export const HELLO = JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true })

export interface TestConnection {
  readonly socket: WebSocket
  /** The types of the frames received, in order. An error frame is listed by its code. */
  readonly received: string[]
  closed: number | null
}

/** Opens a socket through the route and exchanges hello frames. If `hello` is null, sends nothing. */
export async function openSocket(
  id: string,
  token: string,
  hello: string | null = HELLO,
  options: WebSocketAcceptOptions = {},
): Promise<TestConnection> {
  const answer = await SELF.fetch(`${HOST}/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })
  const socket = answer.webSocket
  if (socket === null) throw new Error(`no socket: ${answer.status} ${await answer.text()}`)
  const connection: TestConnection = { socket, received: [], closed: null }
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(String(data))
    connection.received.push(frame.type === "error" ? frame.code : frame.type)
  })
  socket.addEventListener("close", ({ code }) => {
    connection.closed = code
  })
  socket.accept(options)
  if (hello === null) return connection
  socket.send(hello)
  await expect.poll(() => connection.received).toEqual(["hello"])
  return connection
}
