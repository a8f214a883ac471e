/** audit-entries.test.ts: tests which events a tenant's audit log records, and who can read the log. */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import { nanoid } from "nanoid"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { AuditPage } from "../../shared/protocol/audit-entry.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { type Actor, SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { truncateAddress } from "../../worker/routes/access/client-address.ts"
import type { Tenant } from "../../worker/tenant/tenant-object.ts"
import { call, HOST, makeSession, nowSeconds, refusal, SECRET } from "./http.ts"

afterEach(() => {
  vi.useRealTimers()
})

function tokenAs(tenant: string, role: Role = "owner", user = "root"): Promise<string> {
  const issued = Date.now() / 1000
  return issueToken({ tenant, user, expires: nowSeconds() + 600, token: nanoid(), issued, role }, SECRET)
}

const tenantOf = (tenant: string) => env.TENANT.getByName(tenant)
const ada: Actor = { kind: "user", id: "ada", address: "203.0.113.0/24" }

/** Adds `count` entries of several kinds to a tenant's log. */
async function fillLog(tenant: string, count: number): Promise<void> {
  await runInDurableObject(tenantOf(tenant), (object: Tenant) => {
    for (let n = 1; n <= count; n += 1) {
      const details = n % 3 === 0 ? { n, text: `t${n}`, flag: true, none: null } : undefined
      const actor = n % 2 === 0 ? SYSTEM_ACTOR : ada
      object.recordEvent(actor, {
        action: `thing.${n % 4 === 0 ? "removed" : "added"}`,
        target: `x${n}`,
        ...(details && { details }),
      })
    }
  })
}

const verifyLog = (token: string, body: unknown = {}) =>
  call("/v1/audit/verify", { method: "POST", token, body: JSON.stringify(body) })
const readPage = async (token: string, query = ""): Promise<AuditPage> =>
  (await call(`/v1/audit${query}`, { token })).json
const downloadLog = (token: string, address: string): Promise<Response> =>
  SELF.fetch(`${HOST}/v1/audit/export`, { headers: { authorization: `Bearer ${token}`, "cf-connecting-ip": address } })
const execSql = (tenant: string, query: string, ...bindings: SqlStorageValue[]) =>
  runInDurableObject(tenantOf(tenant), (_object, { storage: { sql } }) => sql.exec(query, ...bindings).toArray())

describe("what is recorded", () => {
  const agent = JSON.stringify({ description: "Canary-description", prompt: "Canary-prompt", tools: ["weather"] })

  test("[AL9] changes to agents, settings and users are recorded, with the actor and the network", async () => {
    const token = await tokenAs("al9", "owner", "boss")
    const headers = { "cf-connecting-ip": "198.51.100.77" }
    await makeSession(await tokenAs("al9", "member", "ada"))
    const sendRequest = (method: string, path: string, body?: string) =>
      call(path, { method, token, headers, ...(body === undefined ? {} : { body }) })
    await sendRequest("PUT", "/v1/agents/writer", agent)
    await sendRequest("DELETE", "/v1/agents/writer")
    await sendRequest("PUT", "/v1/settings", '{"media_hosts":["media.example.com"]}')
    await sendRequest("PATCH", "/v1/users/ada", '{"role":"admin","name":"Canary-name"}')
    await sendRequest("POST", "/v1/users/ada/suspend")
    await sendRequest("POST", "/v1/users/ada/restore")
    // A refused change is not recorded.
    await sendRequest("DELETE", "/v1/agents/nobody")
    await sendRequest("PUT", "/v1/settings", '{"media_hosts":["localhost"]}')
    await sendRequest("PATCH", "/v1/users/nobody", '{"role":"admin"}')
    const { entries } = await readPage(token)
    expect(entries.toReversed().map(({ action, target, details }) => [action, target, details])).toEqual([
      ["agent.changed", "writer", { tools: "weather", model: null, is_new: true }],
      ["agent.removed", "writer", null],
      ["settings.changed", null, { embed_origins: "", media_hosts: "media.example.com" }],
      ["user.changed", "ada", { role: "admin", before: "member", name_changed: true }],
      ["user.suspended", "ada", null],
      ["user.restored", "ada", null],
    ])
    for (const { actor } of entries) expect(actor).toEqual({ kind: "user", id: "boss", address: "198.51.100.0/24" })
  })

  test("[AL9] no entry contains a whole IP address, a token, or text that users or administrators wrote", async () => {
    const token = await tokenAs("al9b", "owner", "boss")
    const headers = { "cf-connecting-ip": "198.51.100.77", "user-agent": "Canary-agent" }
    const member = await tokenAs("al9b", "member", "ada")
    const id = await makeSession(member, "Canary-title")
    await call(`/v1/sessions/${id}/messages`, {
      method: "POST",
      token: member,
      body: '{"content":"/say Canary-message"}',
    })
    await call("/v1/agents/writer", { method: "PUT", token, headers, body: agent })
    await call("/v1/users/ada", { method: "PATCH", token, headers, body: '{"name":"Canary-name"}' })
    const text = await (await downloadLog(token, "198.51.100.77")).text()
    expect(text.split("\n")).toHaveLength(5)
    for (const secret of ["Canary", "198.51.100.77", token, member, SECRET]) expect(text).not.toContain(secret)
    const rows = JSON.stringify(await execSql("al9b", "SELECT * FROM audit"))
    expect(rows).not.toContain("Canary")
  })

  test.each([
    ["203.0.113.7", "203.0.113.0/24"],
    ["255.255.255.255", "255.255.255.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["::1", "::/48"],
    ["::ffff:203.0.113.7", "203.0.113.0/24"],
    ["fe80:1:2:3::1%eth0", "fe80:1:2::/48"],
    ["", null],
    ["203.0.113", null],
    ["0x7f.1", null],
    ["203.0.113.7, 10.0.0.1", null],
    ["example.com", null],
    ["1".repeat(100), null],
  ])("[AL10] the IP address %s is stored as %s", (address, network) => {
    expect(truncateAddress(address)).toBe(network)
  })

  test("[AL11] only administrators can read the log, and only their own tenant's", async () => {
    await fillLog("al11", 3)
    for (const role of ["member", "viewer"] as const) {
      const token = await tokenAs("al11", role)
      expect(await call("/v1/audit", { token })).toEqual(refusal(403, "scope_denied"))
      expect(await call("/v1/audit/export", { token })).toEqual(refusal(403, "scope_denied"))
      expect(await verifyLog(token)).toEqual(refusal(403, "scope_denied"))
    }
    expect((await readPage(await tokenAs("al11other"))).entries).toEqual([])
    // An entry can be neither changed nor removed.
    const token = await tokenAs("al11")
    for (const method of ["PUT", "PATCH", "DELETE", "POST"])
      expect(await call("/v1/audit", { method, token, body: "{}" })).toEqual(refusal(404, "route_unknown"))
    expect((await readPage(token)).head.seq).toBe(3)
  })
})
