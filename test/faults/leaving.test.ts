/** leaving.test.ts: real servers are killed while a tenant is exported and imported, a user is erased, and token keys rotate. */

import { SignJWT } from "jose"
import { afterEach, expect, test } from "vitest"
import { startServer, type TestServer } from "./server.ts"
import { readBuild } from "../../testing/built-worker.ts"
import { type Chance, createChance } from "./chance.ts"

let server: TestServer | null = null
afterEach(async () => {
  await server?.stop()
  await server?.remove()
})

const WAIT = { timeout: 90_000, interval: 100 }
const SESSIONS = 30
const KILLS = 4

function tokenOf(tenant: string, user: string, role: string): Promise<string> {
  const now = Date.now() / 1000
  const claims = new SignJWT({ tenant, role }).setProtectedHeader({ alg: "HS256" }).setSubject(user)
  const dated = claims
    .setJti(crypto.randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(Math.floor(now) + 3_600)
  return dated.sign(new TextEncoder().encode(readBuild().vars["JWT_SECRET"]))
}

/** Sends a request again while the server is being killed. */
async function request(path: string, token: string, init: RequestInit = {}): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const response = await fetch((server as TestServer).url() + path, { ...init, headers })
      if (response.status < 500 || tries > 20) return response
    } catch (error) {
      if (tries > 20) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const json = async (path: string, token: string, init?: RequestInit) => (await request(path, token, init)).json()

/** Kills the server at random times until the work is done. */
async function killUntil(chance: Chance, isDone: () => Promise<boolean>): Promise<void> {
  for (let kill = 0; kill < KILLS && !(await isDone()); kill += 1) {
    await new Promise((resolve) => setTimeout(resolve, chance.int(400)))
    await server?.crash()
  }
  await expect.poll(isDone, WAIT).toBe(true)
}

async function fill(tenant: string, user: string): Promise<string[]> {
  const token = await tokenOf(tenant, user, "member")
  const ids: string[] = []
  for (let n = 0; n < SESSIONS; n += 1) {
    const { id } = await json("/v1/sessions", token, { method: "POST", body: JSON.stringify({ title: `S${n}` }) })
    ids.push(id)
    if (n % 5 > 0) continue
    await request(`/v1/sessions/${id}/messages`, token, { method: "POST", body: '{"id":"m1","content":"/say hello"}' })
    const ended = async () =>
      (await json(`/v1/sessions/${id}/conversation/recent?limit=2`, token)).messages.at(-1)?.status === "completed"
    await expect.poll(ended, WAIT).toBe(true)
  }
  return ids
}

const exportOf = async (id: string, token: string) =>
  (await (await request(`/v1/sessions/${id}/events`, token)).text()).replace(/,"value":"[^"]*"}/, "}")

test("[FS13] a kill during export, import or erasure leaves nothing half done", async () => {
  server = await startServer({})
  const chance = createChance(13)
  const owner = await tokenOf("from", "boss", "owner")
  await request("/v1/sessions", owner, { method: "POST", body: "{}" })
  const ids = await fill("from", "ada")
  const started = await json("/v1/tenant/export", owner, { method: "POST" })
  const path = `/v1/tenant/exports/${started.id}`
  await killUntil(chance, async () => (await json(path, owner)).state === "done")
  const manifest = await (await request(`${path}/files/0`, owner)).text()
  expect(JSON.parse(manifest).tally).toMatchObject({ users: 2, sessions: SESSIONS + 1 })
  const next = await tokenOf("to", "boss", "owner")
  const begun = await json("/v1/tenant/import", next, { method: "POST", body: manifest })
  const target = `/v1/tenant/imports/${begun.id}`
  for (const { n } of JSON.parse(manifest).files) {
    const body = await (await request(`${path}/files/${n}`, owner)).arrayBuffer()
    expect((await request(`${target}/files/${n}`, next, { method: "PUT", body })).status).toBe(202)
  }
  await killUntil(chance, async () => (await json(target, next)).state !== "running")
  expect(await json(target, next)).toMatchObject({ state: "done", skipped: 0, tally: { sessions: SESSIONS + 1 } })
  const [before, after] = [await tokenOf("from", "ada", "member"), await tokenOf("to", "ada", "member")]
  for (const id of ids) expect(await exportOf(id, after)).toBe(await exportOf(id, before))
  // Then the user is erased where they came from.
  const receipt = await json("/v1/users/ada", owner, { method: "DELETE" })
  const isErased = async () => (await json(`/v1/tenant/receipts/${receipt.id}`, owner)).state === "done"
  await killUntil(chance, isErased)
  expect((await json(`/v1/tenant/receipts/${receipt.id}`, owner)).tally).toMatchObject({ users: 1 })
  expect((await json("/v1/users", owner)).users.map(({ id }: { id: string }) => id)).toEqual(["boss"])
  expect((await request("/v1/sessions", before)).status).toBe(401)
  const anew = await tokenOf("from", "ada", "member")
  for (const id of ids) expect((await request(`/v1/sessions/${id}/events`, anew)).status).toBe(404)
})

test("[FS13] a kill during the rotation of token keys leaves a tenant whose tokens work", async () => {
  server = await startServer({})
  const chance = createChance(14)
  const made = await json("/v1/tenants", readBuild().vars["OPERATOR_SECRET"] ?? "", {
    method: "POST",
    body: '{"id":"rotates"}',
  })
  for (let round = 0; round < 4; round += 1) {
    const issued = await json("/v1/tokens", made.key, { method: "POST", body: '{"user":"ada"}' })
    const rotating = request("/v1/token-keys/rotate", made.key, { method: "POST", body: "{}" })
    await new Promise((resolve) => setTimeout(resolve, chance.int(30)))
    await server.crash()
    await rotating
    const fresh = await json("/v1/tokens", made.key, { method: "POST", body: '{"user":"ada"}' })
    for (const { token } of [issued, fresh]) expect((await request("/v1/sessions", token)).status).toBe(200)
  }
})
