/** tenant-client.ts: sends requests to a server that is being killed, and fills tenants with conversations. */

import { SignJWT } from "jose"
import { expect } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import type { Chance } from "./chance.ts"
import type { TestServer } from "./server.ts"

/** Options for `expect.poll`. */
export const WAIT = { timeout: 90_000, interval: 100 }

const KILLS = 4
/**
 * Maximum number of attempts to send a request. Together they take ten seconds, because a restart on a busy machine can
 * take that long.
 */
const MAX_TRIES = 100

export const OPERATOR = readBuild().vars["OPERATOR_SECRET"] ?? ""

export function tokenOf(tenant: string, user: string, role: string): Promise<string> {
  const now = Date.now() / 1000
  const claims = new SignJWT({ tenant, role }).setProtectedHeader({ alg: "HS256" }).setSubject(user)
  const dated = claims
    .setJti(crypto.randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(Math.floor(now) + 3_600)
  return dated.sign(new TextEncoder().encode(readBuild().vars["JWT_SECRET"]))
}

/** Sends a request, and retries while the server is being killed, until the whole response has arrived. */
export async function sendRequest(
  server: TestServer,
  path: string,
  token: string,
  init: RequestInit = {},
): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers }
      const response = await fetch(server.url() + path, { ...init, headers })
      const body = await response.arrayBuffer()
      if (response.status < 500 || tries > MAX_TRIES)
        return new Response(body.byteLength === 0 ? null : body, { status: response.status, headers: response.headers })
    } catch (error) {
      if (tries > MAX_TRIES) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const requestJson = async (server: TestServer, path: string, token: string, init?: RequestInit) =>
  (await sendRequest(server, path, token, init)).json()

/** Kills the server at random times until the work is done. */
export async function killUntil(server: TestServer, chance: Chance, isDone: () => Promise<boolean>): Promise<void> {
  for (let kill = 0; kill < KILLS && !(await isDone()); kill += 1) {
    await new Promise((resolve) => setTimeout(resolve, chance.int(400)))
    await server.crash()
  }
  await expect.poll(isDone, WAIT).toBe(true)
}

/**
 * Creates sessions for a user. Every fifth session has a question and an answer that contain `word`. Returns the ids.
 */
export async function fillSessions(
  server: TestServer,
  tenant: string,
  user: string,
  count: number,
  word = "hello",
): Promise<string[]> {
  const token = await tokenOf(tenant, user, "member")
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    const body = JSON.stringify({ title: `S${n} ${word}` })
    const { id } = await requestJson(server, "/v1/sessions", token, { method: "POST", body })
    ids.push(id)
    if (n % 5 > 0) continue
    const message = JSON.stringify({ id: "m1", content: `/say ${word}` })
    await sendRequest(server, `/v1/sessions/${id}/messages`, token, { method: "POST", body: message })
    const recent = `/v1/sessions/${id}/conversation/recent?limit=2`
    const ended = async () => (await requestJson(server, recent, token)).messages.at(-1)?.status === "completed"
    await expect.poll(ended, WAIT).toBe(true)
  }
  return ids
}
