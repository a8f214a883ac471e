/**
 * webhook-helpers.ts: registers the webhook tools of upstream-webhook.ts, calls them in sessions, and sends results
 * later.
 */

import { env } from "cloudflare:test"
import { expect } from "vitest"
import type { SeenWebhook } from "../support/upstream-webhook.ts"
import { upstreamUrl } from "../support/upstream-client.ts"
import { connect, type TestClient } from "../support/socket.ts"
import type { Claims, Role } from "../../worker/platform/rpc/claims.ts"
import { createSignatureHeaders } from "../../worker/webhook/webhook-signature.ts"
import { call, nowSeconds, roleToken } from "./http.ts"
import { call as toolCall, say, script, toolsIn } from "./session-helpers.ts"

const BASE = `${upstreamUrl(env)}/webhook`

export const toolUrl = (run: string): string => `${BASE}/call/${run}`

export const ORDER_SCHEMA = {
  type: "object",
  properties: { order: { type: "string", minLength: 1 }, count: { type: "integer", minimum: 1 } },
  required: ["order"],
  additionalProperties: false,
}

export const toolBody = (run: string, change: object = {}) => ({
  description: "Looks up an order.",
  url: toolUrl(run),
  schema: ORDER_SCHEMA,
  effects: "read",
  ...change,
})

export async function setService(run: string, secret: string, play = "echo"): Promise<void> {
  await fetch(`${BASE}/set/${run}`, { method: "POST", body: JSON.stringify({ secret, play }) })
}

export async function seenAt(run: string): Promise<SeenWebhook[]> {
  return await (await fetch(`${BASE}/seen/${run}`)).json()
}

export async function untilSeen(run: string, count: number): Promise<SeenWebhook[]> {
  await expect.poll(async () => (await seenAt(run)).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
  return await seenAt(run)
}

export async function sendTools(tenant: string, method: string, path: string, body?: unknown, role: Role = "admin") {
  const token = await roleToken(tenant, "root", role)
  return await call(`/v1/tools${path}`, { method, token, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

/** Registers the tool `order_status` and sets the secret of its service. */
export async function putTool(tenant: string, run: string, change: object = {}, play = "echo"): Promise<string> {
  const put = await sendTools(tenant, "PUT", "/order_status", toolBody(run, change))
  expect(put.status, put.text).toBe(200)
  await setService(run, put.json.secret, play)
  return put.json.secret
}

/** Gives the tenant an agent with the tool, and opens a session with it. */
export async function openToolSession(tenant: string, tools = ["order_status"]): Promise<TestClient & { id: string }> {
  const token = await roleToken(tenant, "root", "admin")
  const agent = JSON.stringify({ description: "d", prompt: "p", tools })
  const put = await call("/v1/agents/helper", { method: "PUT", token, body: agent })
  expect(put.status, put.text).toBe(200)
  const body = JSON.stringify({ agent: "helper" })
  const made = await call("/v1/sessions", { method: "POST", token: await roleToken(tenant, "ada", "member"), body })
  expect(made.status, made.text).toBe(201)
  return Object.assign(await connect(made.json.id, claimsOf(tenant)), { id: made.json.id as string })
}

export function claimsOf(tenant: string): Claims {
  return { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
}

export function startCall(client: TestClient, id: string, args: object = { order: "7" }): void {
  client.say({ type: "send", id, content: script([toolCall("order_status", args)], [say("Done.")]) })
}

/** Lets the scripted model call the tool. Returns the call's segment once the turn has ended. */
export async function runTool(client: TestClient, id: string, args: object = { order: "7" }) {
  startCall(client, id, args)
  return toolsIn(await client.untilEnd(id))[0]
}

interface LateResult {
  readonly path: string
  readonly id: string
  readonly secret: string
  readonly body?: string
  /** Seconds that are added to the timestamp. */
  readonly shift?: number
  readonly headers?: Record<string, string>
}

/** Sends a signed result, as the service does after it has answered 202. */
export async function sendResult({
  path,
  id,
  secret,
  body = '{"state": "sent"}',
  shift = 0,
  headers = {},
}: LateResult) {
  const signed = await createSignatureHeaders([secret], { id, timestamp: nowSeconds() + shift, body })
  return await call(path, { method: "POST", body, headers: { ...signed, ...headers } })
}
