/** mcp-helpers.ts: registers the MCP servers of upstream-mcp.ts, and calls their tools in sessions. */

import { env } from "cloudflare:test"
import { expect } from "vitest"
import { upstreamUrl } from "../support/upstream-client.ts"
import type { McpState, SeenMcp } from "../support/upstream-mcp.ts"
import { connect, type TestClient } from "../support/socket.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import { call, roleToken } from "./http.ts"
import { call as toolCall, say, script, toolsIn } from "./session-helpers.ts"

const BASE = `${upstreamUrl(env)}/mcp`

export const serverUrl = (run: string): string => `${BASE}/serve/${run}`

/** URL of the official file system server. */
export const filesystemUrl = `${BASE}/files`

export async function setServer(run: string, state: McpState): Promise<void> {
  await fetch(`${BASE}/set/${run}`, { method: "POST", body: JSON.stringify(state) })
}

export async function seenAt(run: string): Promise<SeenMcp[]> {
  return await (await fetch(`${BASE}/seen/${run}`)).json()
}

export async function startEverything(): Promise<string> {
  return ((await (await fetch(`${BASE}/everything`)).json()) as { url: string }).url
}

export async function sendMcp(tenant: string, method: string, path: string, body?: unknown) {
  const token = await roleToken(tenant, "root", "admin")
  return await call(`/v1/mcp-servers${path}`, {
    method,
    token,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

export async function putServer(tenant: string, name: string, body: object) {
  const put = await sendMcp(tenant, "PUT", `/${name}`, body)
  expect(put.status, put.text).toBe(200)
  return put.json
}

/** Gives the tenant an agent with these servers, and opens a session with that agent. `session` is the session's id. */
export async function openAgentSession(
  tenant: string,
  servers: readonly string[],
): Promise<TestClient & { readonly session: string }> {
  const token = await roleToken(tenant, "root", "admin")
  const agent = { description: "d", prompt: "p", tools: [], mcp_servers: servers }
  expect((await call("/v1/agents/helper", { method: "PUT", token, body: JSON.stringify(agent) })).status).toBe(200)
  const body = JSON.stringify({ agent: "helper" })
  const made = await call("/v1/sessions", { method: "POST", token: await roleToken(tenant, "ada", "member"), body })
  expect(made.status, made.text).toBe(201)
  const claims: Claims = { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
  return Object.assign(await connect(made.json.id, claims), { session: made.json.id })
}

/** Lets the scripted model call a tool. Returns the call's segment once the turn has ended. */
export async function runTool(client: TestClient, id: string, name: string, args: object = { text: "hi" }) {
  client.say({ type: "send", id, content: script([toolCall(name, args)], [say("Done.")]) })
  const [tool] = toolsIn(await client.untilEnd(id))
  return tool
}
