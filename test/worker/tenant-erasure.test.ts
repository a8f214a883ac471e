/**
 * tenant-erasure.test.ts: tests the erasure of users and tenants by searching every object and every key in the bucket.
 */

import { env, evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { call, makeSession, openSocket, refusal } from "./http.ts"
import { png, postFile } from "./files.ts"
import { clearCachedRevocations } from "../../worker/routes/access/authorize.ts"
import { call as asks, say, script } from "./session-helpers.ts"
import { askQuestion, exportTenant, ownerToken, registerUser, roleToken, makeJobsDue } from "./tenant-transfer.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)

/** Returns the number of rows in each non-empty table of the named objects. */
async function listRows(namespace: DurableObjectNamespace, names: readonly string[]): Promise<string[]> {
  const known = new Set(names.map((name) => namespace.idFromName(name).toString()))
  const found: string[] = []
  for (const id of await listDurableObjectIds(namespace)) {
    if (!known.has(id.toString())) continue
    found.push(...(await runInDurableObject(namespace.get(id), (_object, state) => countRows(state.storage.sql))))
  }
  return found.sort()
}

function countRows(sql: SqlStorage): string[] {
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray()
  return tables.flatMap(({ name }) => {
    if (/^(?:sqlite_|_cf_ALARM|_cf_METADATA|schema_version$)/.test(name)) return []
    const { n } = sql.exec<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`).one()
    return n === 0 ? [] : [`${name} ${n}`]
  })
}

interface Filled {
  readonly sessions: string[]
  readonly token: string
}

async function fillUser(tenant: string, user: string): Promise<Filled> {
  await registerUser(tenant, user)
  const token = await roleToken(tenant, user, "member")
  const id = await makeSession(token)
  expect((await postFile(id, token, png(3))).status).toBe(201)
  await askQuestion(
    id,
    token,
    script([asks("agents_message", { agent: "weather", message: "Rain in Lima?" })], [say("ok")]),
  )
  const other = await makeSession(token, "Other")
  const described = await env.SESSION.getByName(`${tenant}:${id}`).describe({ tenant, user })
  const agents = described.ok ? described.value.asks.map(({ session }) => session) : []
  expect(agents).toHaveLength(1)
  return { token, sessions: [id, other, ...agents] }
}

const sessionNames = (tenant: string, { sessions }: Filled) => sessions.map((id) => `${tenant}:${id}`)
const keysOf = async (prefix: string) => (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key)
const listSessions = (token: string) => call("/v1/sessions", { token })

async function untilReceipt(tenant: string, id: string) {
  const token = await ownerToken(tenant)
  const readReceipt = async () => (await call(`/v1/tenant/receipts/${id}`, { token })).json
  const isDone = async () => {
    await makeJobsDue(tenant)
    return (await readReceipt()).state === "done"
  }
  await expect.poll(isDone, { timeout: 40_000 }).toBe(true)
  return await readReceipt()
}

describe("a user who is erased", () => {
  test("[LV1] [LV2] [LV3] [LV10] leaves no row, no key, no token and no socket; other users keep theirs", async () => {
    await registerUser("lv-user", "boss", "owner")
    const [ada, bob] = [await fillUser("lv-user", "ada"), await fillUser("lv-user", "bob")]
    for (const [{ token, sessions }, viewer] of [
      [ada, "bob"],
      [bob, "ada"],
    ] as const)
      expect((await call(`/v1/sessions/${sessions[0]}/viewers/${viewer}`, { method: "PUT", token })).status).toBe(200)
    await exportTenant("lv-user")
    const connection = await openSocket(ada.sessions[0] ?? "", ada.token)
    const boss = await ownerToken("lv-user")
    const erased = await call("/v1/users/ada", { method: "DELETE", token: boss })
    expect(erased).toMatchObject({ status: 202, json: { kind: "user", target: "ada", state: "running" } })
    // Repeating the request must not start another erasure.
    expect((await call("/v1/users/ada", { method: "DELETE", token: boss })).json.id).toBe(erased.json.id)
    await expect.poll(() => connection.closed).not.toBeNull()
    const receipt = await untilReceipt("lv-user", erased.json.id)
    const tally = { users: 1, sessions: 2, agent_sessions: 1, files: 1, bytes: 200 }
    expect(receipt).toMatchObject({ tally, kind: "user", target: "ada" })
    expect(receipt.unrecoverable_after - receipt.finished).toBe(30 * 24 * 60 * 60_000)
    expect(await listRows(env.SESSION, sessionNames("lv-user", ada))).toEqual([])
    expect(await listRows(env.DIRECTORY, ["lv-user:ada"])).toEqual(["account 1", "revoked 1"])
    expect((await keysOf("lv-user/")).filter((key) => !key.includes(bob.sessions[0] ?? ""))).toEqual([])
    expect(await listSessions(ada.token)).toEqual(refusal(401, "token_revoked"))
    expect(await call("/v1/users/ada", { method: "DELETE", token: boss })).toEqual(refusal(404, "user_unknown"))
    // The two users must no longer share anything.
    const shown = await call(`/v1/sessions/${bob.sessions[0]}/viewers`, { token: bob.token })
    expect(shown.json.viewers).toEqual([])
    expect((await call("/v1/sessions/shared", { token: bob.token })).json.sessions).toEqual([])
    // Bob's data must be unchanged, and a token that is issued later must be for a new user.
    expect((await listSessions(bob.token)).json.sessions).toHaveLength(2)
    expect(await keysOf("lv-user/")).toHaveLength(1)
    expect((await listSessions(await roleToken("lv-user", "ada", "member"))).json.sessions).toEqual([])
  })

  test("[LV4] can't be the last owner, and can be an owner only if an owner requests it; members can't request it", async () => {
    await registerUser("lv-roles", "boss", "owner")
    await registerUser("lv-roles", "ada")
    const eraseUser = async (user: string, by: string, role: "owner" | "admin" | "member") =>
      await call(`/v1/users/${user}`, { method: "DELETE", token: await roleToken("lv-roles", by, role) })
    expect(await eraseUser("boss", "boss", "owner")).toEqual(refusal(409, "last_owner"))
    expect(await eraseUser("boss", "root", "admin")).toEqual(refusal(403, "scope_denied"))
    expect(await eraseUser("ada", "ada", "member")).toEqual(refusal(403, "scope_denied"))
    expect(await eraseUser("nobody", "boss", "owner")).toEqual(refusal(404, "user_unknown"))
    expect(await eraseUser("a.b", "boss", "owner")).toEqual(refusal(404, "user_unknown"))
    await registerUser("lv-roles", "second", "owner")
    expect((await eraseUser("boss", "second", "owner")).status).toBe(202)
    expect(await eraseUser("second", "second", "owner")).toEqual(refusal(409, "last_owner"))
  })

  test("[LV2] [LV10] also loses rows that a late request creates while tokens are still trusted", async () => {
    await registerUser("lv-late", "boss", "owner")
    const ada = await fillUser("lv-late", "ada")
    const erased = await call("/v1/users/ada", { method: "DELETE", token: await ownerToken("lv-late") })
    await expect
      .poll(async () => (await tenantStubOf("lv-late").findReceipt(erased.json.id))?.tally.sessions, {
        timeout: 20_000,
      })
      .toBe(2)
    // Do what an isolate would do that has not been notified of the erasure.
    const claims = { tenant: "lv-late", user: "ada", expires: 9e9, token: null, issued: 0 }
    await env.DIRECTORY.getByName("lv-late:ada").addSession("late", "", 1)
    const late = env.SESSION.getByName("lv-late:late")
    expect(await late.create(claims, "late", "")).toMatchObject({ ok: true })
    expect((await tenantStubOf("lv-late").findReceipt(erased.json.id))?.state).toBe("running")
    await untilReceipt("lv-late", erased.json.id)
    expect(await listRows(env.SESSION, [...sessionNames("lv-late", ada), "lv-late:late"])).toEqual([])
  })

  test("[LV10] has no valid link: one that was signed before fetches nothing from another host, and adds no row", async () => {
    await registerUser("lv-link", "boss", "owner")
    await registerUser("lv-link", "ada")
    const token = await roleToken("lv-link", "ada", "member")
    const id = await makeSession(token)
    const body = JSON.stringify({ urls: ["https://example.com/a.png"] })
    const signHref = async () =>
      (await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token, body })).json.signed[0].href as string
    const href = await signHref()
    const erased = await call("/v1/users/ada", { method: "DELETE", token: await ownerToken("lv-link") })
    await untilReceipt("lv-link", erased.json.id)
    // Clear the cache, as in an isolate that has not asked before.
    clearCachedRevocations({ tenant: "lv-link", user: "ada" })
    expect(await call(href)).toEqual(refusal(403, "link_invalid"))
    expect(await listRows(env.DIRECTORY, ["lv-link:ada"])).toEqual(["account 1", "revoked 1"])
  })
})

describe("a session", () => {
  const createSession = (token: string, body: object, over = {}) =>
    call("/v1/sessions", { method: "POST", token, body: JSON.stringify(body), env: over })
  const listDirectory = async (user: string) =>
    (await env.DIRECTORY.getByName(`lv-list:${user}`).listEntries(null, 9)).length

  test("[LV9] is listed before it is created, and removed from the list if it cannot be created", async () => {
    const token = await roleToken("lv-list", "ada", "member")
    const broken = {
      getByName: (name: string) =>
        new Proxy(env.SESSION.getByName(name), {
          get: (target, key) =>
            key === "create" ? () => Promise.reject(new Error("killed")) : Reflect.get(target, key),
        }),
    }
    expect((await createSession(token, { id: "s1" }, { SESSION: broken })).status).toBe(500)
    expect(await listDirectory("ada")).toBe(1)
    expect((await createSession(token, { id: "s1" })).status).toBe(201)
    expect(await createSession(token, { id: "s2", agent: "nobody" })).toEqual(refusal(404, "agent_unknown"))
    expect(await listDirectory("ada")).toBe(1)
    // The id is taken, so this user's session gets another key.
    const eve = await roleToken("lv-list", "eve", "member")
    expect((await createSession(eve, { id: "s1" })).status).toBe(201)
    expect(await listDirectory("eve")).toBe(1)
  })
})

describe("a tenant that is leaving", () => {
  const leaveTenant = (token: string, confirm: string) =>
    call("/v1/tenant", { method: "DELETE", token, body: JSON.stringify({ confirm }) })

  test("[LV5] [LV6] can be read but not written for seven days, and can be restored", async () => {
    await registerUser("lv-grace", "boss", "owner")
    const ada = await fillUser("lv-grace", "ada")
    const boss = await ownerToken("lv-grace")
    const before = await openSocket(ada.sessions[0] ?? "", ada.token)
    expect(await leaveTenant(ada.token, "lv-grace")).toEqual(refusal(403, "scope_denied"))
    expect(await leaveTenant(boss, "lv-grac")).toEqual(refusal(400, "field_invalid", "confirm"))
    const left = await leaveTenant(boss, "lv-grace")
    expect(left).toMatchObject({ status: 202, json: { status: "leaving" } })
    expect((await leaveTenant(boss, "lv-grace")).json).toEqual(left.json)
    expect((await call("/v1/tenant", { token: boss })).json).toMatchObject({ id: "lv-grace", status: "leaving" })
    expect((await call("/v1/settings", { token: ada.token })).json.erases_at).toBe(left.json.erases_at)
    const [id = ""] = ada.sessions
    for (const path of [
      "/v1/sessions",
      `/v1/sessions/${id}/conversation/recent`,
      `/v1/sessions/${id}/events?format=markdown`,
    ])
      expect((await call(path, { token: ada.token })).status).toBe(200)
    const urls = JSON.stringify({ urls: [] })
    expect((await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token: ada.token, body: urls })).status).toBe(
      200,
    )
    for (const [method, path] of [
      ["POST", "/v1/sessions"],
      ["DELETE", `/v1/sessions/${id}`],
      ["POST", `/v1/sessions/${id}/messages`],
    ] as const) {
      expect(await call(path, { method, token: ada.token })).toEqual(refusal(403, "tenant_leaving"))
    }
    expect(await call("/v1/agents/writer", { method: "DELETE", token: boss })).toEqual(refusal(403, "tenant_leaving"))
    await exportTenant("lv-grace")
    // A socket shows everything, but refuses frames that write. Earlier sockets are closed, and their clients
    // reconnect.
    const reader = await openSocket(id, ada.token)
    reader.socket.send(JSON.stringify({ type: "send", id: "late", content: "/say no" }))
    await expect.poll(() => reader.received).toContain("scope_denied")
    await expect
      .poll(async () => {
        await makeJobsDue("lv-grace", "standing")
        return before.closed
      })
      .toBe(4408)
    const restored = await call("/v1/tenant/restore", { method: "POST", token: boss })
    expect(restored).toMatchObject({ status: 200, json: { status: "open", erases_at: null } })
    expect((await call("/v1/settings", { token: ada.token })).json).not.toHaveProperty("erases_at")
    await askQuestion(ada.sessions[0] ?? "", ada.token, "/say still here")
  })

  test("[LV7] [LV8] [DP13] is erased when its grace period ends; only its tombstone, its receipt and the page's files stay", async () => {
    await registerUser("lv-gone", "boss", "owner")
    const users = [await fillUser("lv-gone", "ada"), await fillUser("lv-gone", "bob")]
    await exportTenant("lv-gone")
    await env.MEDIA.put("~page/lv-gone-12345678.js", "export {}")
    const connection = await openSocket(users[0]?.sessions[0] ?? "", users[0]?.token ?? "")
    expect((await leaveTenant(await ownerToken("lv-gone"), "lv-gone")).status).toBe(202)
    const hasReceipt = async () => {
      await makeJobsDue("lv-gone")
      return (await tenantStubOf("lv-gone").getTenantReceipt())?.state === "done"
    }
    await expect.poll(hasReceipt, { timeout: 50_000 }).toBe(true)
    const tally = { users: 3, sessions: 4, agent_sessions: 2, files: 2, bytes: 400 }
    expect(await tenantStubOf("lv-gone").getTenantReceipt()).toMatchObject({ kind: "tenant", target: "lv-gone", tally })
    await expect.poll(() => connection.closed).not.toBeNull()
    for (const user of users) expect(await listRows(env.SESSION, sessionNames("lv-gone", user))).toEqual([])
    const directories = ["boss", "ada", "bob"].map((user) => `lv-gone:${user}`)
    expect(await listRows(env.DIRECTORY, directories)).toEqual([])
    expect(await listRows(env.TENANT, ["lv-gone"])).toEqual(["standing 1"])
    expect(await keysOf("lv-gone/")).toEqual([])
    expect(await keysOf("~page/lv-gone")).toEqual(["~page/lv-gone-12345678.js"])
    // Nobody may have access, nothing may start again, and the operator must have the receipt.
    for (const token of [users[0]?.token, await ownerToken("lv-gone")])
      expect(await call("/v1/sessions", { token: token ?? "" })).toEqual(refusal(410, "tenant_erased"))
    const operator = String(env.OPERATOR_SECRET)
    const again = await call("/v1/tenants", { method: "POST", token: operator, body: '{"id":"lv-gone"}' })
    expect(again).toEqual(refusal(409, "tenant_taken"))
    const key = await call("/v1/tenants/lv-gone/keys", { method: "POST", token: operator, body: '{"name":"K"}' })
    expect(key).toEqual(refusal(410, "tenant_erased"))
    expect((await call("/v1/tenants/lv-gone/receipt", { token: operator })).json).toMatchObject({
      state: "done",
      tally,
    })
    expect(await call("/v1/tenants/lv-user/receipt", { token: operator })).toEqual(refusal(404, "receipt_unknown"))
    await registerUser("lv-gone", "late")
    expect(await listRows(env.TENANT, ["lv-gone"])).toEqual(["standing 1"])
    await evictDurableObject(tenantStubOf("lv-gone"))
    expect(await tenantStubOf("lv-gone").getStanding()).toEqual({ status: "erased", erases_at: null })
  })
})
