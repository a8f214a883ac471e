/**
 * erasure.test.ts: kills real servers while a user and a tenant are being erased, and then searches the whole disk for
 * their content.
 */

import { afterEach, expect } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { BODY_MS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { createChance } from "./chance.ts"
import { findOnDisk } from "./disk-search.ts"
import { startServer, type TestServer } from "./server.ts"
import { fillSessions, killUntil, OPERATOR, sendRequest, requestJson, tokenOf, WAIT } from "./tenant-client.ts"

let server: TestServer | null = null
afterEach(async () => {
  await server?.stop()
  await server?.remove()
})

const SESSIONS = 12
const GRACE_MS = 500
/** Equal to REQUEST_MS in worker/leaving/erase-user-job.ts. */
const REQUEST_MS = BODY_MS + 10_000

/** Creates a user with conversations, a file, a shared conversation, and an export. Each contains the user's marker word. */
async function fillTenant(on: TestServer, tenant: string, user: string): Promise<void> {
  const boss = await tokenOf(tenant, "boss", "owner")
  const ada = await tokenOf(tenant, user, "member")
  await requestJson(on, "/v1/sessions", boss, { method: "POST", body: '{"id":"own"}' })
  const [first = ""] = await fillSessions(on, tenant, user, SESSIONS, `word-of-${user}`)
  const headers = { "content-type": "text/plain" }
  const file = { method: "POST", body: `a note with word-of-${user}`, headers }
  expect((await sendRequest(on, `/v1/sessions/${first}/assets?name=word-of-${user}.txt`, ada, file)).status).toBe(201)
  expect((await sendRequest(on, `/v1/sessions/${first}/viewers/boss`, ada, { method: "PUT" })).status).toBe(200)
  expect((await sendRequest(on, `/v1/sessions/own/viewers/${user}`, boss, { method: "PUT" })).status).toBe(200)
  const { id } = await requestJson(on, "/v1/tenant/export", boss, { method: "POST" })
  const isDone = async () => (await requestJson(on, `/v1/tenant/exports/${id}`, boss)).state === "done"
  await expect.poll(isDone, WAIT).toBe(true)
}

testInFull("[FS13] a kill during the erasure of a user or a tenant leaves none of their content on disk", async () => {
  server = await startServer({ TENANT_GRACE_MS: String(GRACE_MS) })
  const on = server
  const chance = createChance(15)
  for (const id of ["stays", "mark-gone"]) {
    const made = await sendRequest(on, "/v1/tenants", OPERATOR, { method: "POST", body: JSON.stringify({ id }) })
    expect(made.status).toBe(201)
  }
  await fillTenant(on, "stays", "mark-ada")
  await fillTenant(on, "mark-gone", "mark-ben")
  // Check that the search finds all marks before the erasures.
  for (const mark of ["word-of-mark-ada", "word-of-mark-ben", "mark-gone"]) {
    const found = await findOnDisk(on.persist, mark)
    expect(found.filter((location) => location.includes("Session")).length).toBeGreaterThan(0)
    expect(found.filter((location) => location.startsWith("r2")).length).toBeGreaterThan(0)
  }
  const boss = await tokenOf("stays", "boss", "owner")
  const owner = await tokenOf("mark-gone", "boss", "owner")
  const { id } = await requestJson(on, "/v1/users/mark-ada", boss, { method: "DELETE" })
  await sendRequest(on, "/v1/tenant", owner, { method: "DELETE", body: '{"confirm":"mark-gone"}' })
  const left = Date.now()
  const isRefused = async () => (await sendRequest(on, "/v1/sessions", owner)).status === 410
  await killUntil(on, chance, isRefused)
  // An erasure starts only once no isolate can still trust a token.
  const dueAt = left + GRACE_MS + TOKEN_TRUST_MS + REQUEST_MS
  await expect.poll(() => Date.now() >= dueAt, { timeout: 120_000 }).toBe(true)
  const receipt = async () => await requestJson(on, "/v1/tenants/mark-gone/receipt", OPERATOR)
  const userReceipt = async () => await requestJson(on, `/v1/tenant/receipts/${id}`, boss)
  const isDone = async () => (await receipt()).state === "done" && (await userReceipt()).state === "done"
  await killUntil(on, chance, isDone)
  expect((await receipt()).tally).toMatchObject({ users: 2, sessions: SESSIONS + 1, files: 1 })
  expect((await userReceipt()).tally).toMatchObject({ users: 1, sessions: SESSIONS, files: 1 })
  // The alarm contains the tenant's id, and is deleted after the receipt has been written. After a kill between the
  // two, the alarm fires again.
  const findTenant = async () => await findOnDisk(on.persist, "mark-gone")
  await expect.poll(findTenant, WAIT).not.toContain("do/cuecard-Tenant _cf_ALARM")
  await on.stop()
  expect(await findOnDisk(on.persist, "word-of-mark")).toEqual([])
  // The user's id remains only in the audit log and in the receipt.
  expect(await findOnDisk(on.persist, "mark-ada")).toEqual(["do/cuecard-Tenant audit", "do/cuecard-Tenant job"])
  expect(await findOnDisk(on.persist, "mark-ben")).toEqual([])
  expect(await findTenant()).toEqual(["do/cuecard-Tenant standing"])
})
