/**
 * leaving.test.ts: kills real servers during tenant exports, imports and key rotations, and exports tenants right after
 * a server start.
 */

import { afterEach, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { createChance } from "./chance.ts"
import { startServer, type TestServer } from "./server.ts"
import { fillSessions, killUntil, OPERATOR, sendRequest, requestJson, tokenOf, WAIT } from "./tenant-client.ts"

let server: TestServer | null = null
afterEach(async () => {
  await server?.stop()
  await server?.remove()
})

const SESSIONS = 30

const sendForJson = (path: string, token: string, init?: RequestInit) =>
  requestJson(server as TestServer, path, token, init)
const sendToServer = (path: string, token: string, init?: RequestInit) =>
  sendRequest(server as TestServer, path, token, init)
const exportOf = async (id: string, token: string) =>
  (await (await sendToServer(`/v1/sessions/${id}/events`, token)).text()).replace(/,"value":"[^"]*"}/, "}")

testInFull("[FS13] an export and an import interrupted by kills are completed, and nothing is missing", async () => {
  server = await startServer({})
  const chance = createChance(13)
  const owner = await tokenOf("from", "boss", "owner")
  await sendToServer("/v1/sessions", owner, { method: "POST", body: "{}" })
  const ids = await fillSessions(server, "from", "ada", SESSIONS)
  const started = await sendForJson("/v1/tenant/export", owner, { method: "POST" })
  const path = `/v1/tenant/exports/${started.id}`
  await killUntil(server, chance, async () => (await sendForJson(path, owner)).state === "done")
  const manifest = await (await sendToServer(`${path}/files/0`, owner)).text()
  expect(JSON.parse(manifest).tally).toMatchObject({ users: 2, sessions: SESSIONS + 1 })
  const next = await tokenOf("to", "boss", "owner")
  const begun = await sendForJson("/v1/tenant/import", next, { method: "POST", body: manifest })
  const target = `/v1/tenant/imports/${begun.id}`
  for (const { n } of JSON.parse(manifest).files) {
    const body = await (await sendToServer(`${path}/files/${n}`, owner)).arrayBuffer()
    expect((await sendToServer(`${target}/files/${n}`, next, { method: "PUT", body })).status).toBe(202)
  }
  await killUntil(server, chance, async () => (await sendForJson(target, next)).state !== "running")
  expect(await sendForJson(target, next)).toMatchObject({
    state: "done",
    skipped: 0,
    tally: { sessions: SESSIONS + 1 },
  })
  const [before, after] = [await tokenOf("from", "ada", "member"), await tokenOf("to", "ada", "member")]
  for (const id of ids) expect(await exportOf(id, after)).toBe(await exportOf(id, before))
})

test("[FS13] after a kill during a token key rotation, the tenant's tokens still work", async () => {
  server = await startServer({})
  const chance = createChance(14)
  const made = await sendForJson("/v1/tenants", OPERATOR, {
    method: "POST",
    body: '{"id":"rotates"}',
  })
  for (let round = 0; round < 4; round += 1) {
    const issued = await sendForJson("/v1/tokens", made.key, { method: "POST", body: '{"user":"ada"}' })
    const rotating = sendToServer("/v1/token-keys/rotate", made.key, { method: "POST", body: "{}" })
    await new Promise((resolve) => setTimeout(resolve, chance.int(30)))
    await server.crash()
    await rotating
    const fresh = await sendForJson("/v1/tokens", made.key, { method: "POST", body: '{"user":"ada"}' })
    for (const { token } of [issued, fresh]) expect((await sendToServer("/v1/sessions", token)).status).toBe(200)
  }
})

test("[FS13] the exports of several tenants all finish if they begin right after a server start", async () => {
  server = await startServer({})
  const on = server
  const tenants = Array.from({ length: 6 }, (_, n) => `starts-${n}`)
  const owners = await Promise.all(tenants.map((tenant) => tokenOf(tenant, "boss", "owner")))
  await Promise.all(tenants.map((tenant) => fillSessions(on, tenant, "ada", 3)))
  // The new process has loaded nothing yet; the alarms of all objects load the jobs.
  await server.crash()
  const started = await Promise.all(owners.map((owner) => sendForJson("/v1/tenant/export", owner, { method: "POST" })))
  const stateOf = async (n: number) => (await sendForJson(`/v1/tenant/exports/${started[n].id}`, owners[n] ?? "")).state
  for (const n of tenants.keys()) await expect.poll(() => stateOf(n), WAIT).toBe("done")
})
