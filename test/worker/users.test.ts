/** users.test.ts: tests the list of a tenant's users, and changes by administrators, through the whole Worker. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { afterEach, describe, expect, test, vi } from "vitest"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { Directory } from "../../worker/directory/directory-object.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import { USER_PAGE_ROWS } from "../../worker/settings/user-change.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { LIST_USERS_SQL } from "../../worker/tenant/rows/user-rows.ts"
import { call, makeSession, nowSeconds, openSocket, refusal, SECRET, socketHeaders, tablesOf } from "./http.ts"

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Returns a token whose `iat` is the current time, so that it is newer than a change that was just made. */
function tokenAs(tenant: string, user: string, role?: Role): Promise<string> {
  const issued = Date.now() / 1000
  return issueToken({ tenant, user, expires: nowSeconds() + 600, token: nanoid(), issued, role }, SECRET)
}

const tenantOf = (tenant: string) => env.TENANT.getByName(tenant)
const directoryOf = (tenant: string, user: string) => env.DIRECTORY.getByName(`${tenant}:${user}`)
const postAction = (path: string, token: string, body?: string) =>
  call(path, { method: "POST", token, ...(body === undefined ? {} : { body }) })
const patchUser = (path: string, token: string, body: unknown) =>
  call(path, { method: "PATCH", token, body: JSON.stringify(body) })
const idsOf = ({ json }: { json: { users: { id: string }[] } }): string[] => json.users.map(({ id }) => id)

/** Adds users who have no directory. */
async function addUsers(tenant: string, ids: readonly string[], role: Role = "member"): Promise<void> {
  await runInDurableObject(tenantOf(tenant), (object: Tenant) => {
    for (const id of ids) object.registerUser({ id, role })
  })
}

/** Returns the number of rows that an object writes during a call, as the platform bills them. */
async function countRowsWritten(stub: DurableObjectStub, run: () => Promise<unknown>): Promise<number> {
  const readRows = () =>
    runInDurableObject(stub, (_object, { storage: { sql } }) =>
      Number(sql.exec("SELECT total_changes() AS n").one()["n"]),
    )
  const before = await readRows()
  await run()
  return (await readRows()) - before
}

describe("the first contact", () => {
  test("[US1] adds a user with a token signed elsewhere when the first session is created, and never writes the user again", async () => {
    const boss = await tokenAs("us1a", "boss", "owner")
    const ada = await tokenAs("us1a", "ada")
    await makeSession(boss)
    expect(idsOf(await call("/v1/users", { token: boss }))).toEqual(["boss"])
    const first = await countRowsWritten(tenantOf("us1a"), () => makeSession(ada))
    expect(first).toBe(1)
    const { json } = await call("/v1/users/ada", { token: boss })
    expect(json).toEqual({
      id: "ada",
      name: null,
      role: "member",
      issuer: null,
      status: "active",
      created: expect.any(Number),
    })
    expect((await call("/v1/users/boss", { token: boss })).json.role).toBe("owner")
    const later = await countRowsWritten(tenantOf("us1a"), async () => {
      await makeSession(ada)
      const id = await makeSession(await tokenAs("us1a", "ada"))
      await openSocket(id, ada)
      await evictDurableObject(directoryOf("us1a", "ada"))
      await makeSession(ada)
      await call("/v1/sessions", { token: ada })
    })
    expect(later).toBe(0)
  })

  test("[US1] reading alone adds nobody and stores nothing", async () => {
    const boss = await tokenAs("us1b", "boss", "owner")
    await call("/v1/sessions", { token: await tokenAs("us1b", "ada") })
    expect((await call("/v1/users", { token: boss })).json).toEqual({ users: [], next: null })
    expect(await call("/v1/users/ada", { token: boss })).toEqual(refusal(404, "user_unknown"))
    expect(await tablesOf(tenantOf("us1b"))).toEqual([])
  })

  test("[US2] adds a user whose directory is older than the list, at the next contact", async () => {
    const stub = directoryOf("us2a", "old")
    await runInDurableObject(stub, (_object, { storage: { sql } }) => {
      sql.exec(`CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
        INSERT INTO schema_version VALUES (1, 1);
        CREATE TABLE sessions (
          id TEXT PRIMARY KEY, title TEXT NOT NULL,
          created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX sessions_active ON sessions (active, created)`)
    })
    await evictDurableObject(stub)
    expect((await call("/v1/sessions", { token: await tokenAs("us2a", "old") })).status).toBe(200)
    const boss = await tokenAs("us2a", "boss", "owner")
    await expect.poll(async () => idsOf(await call("/v1/users", { token: boss }))).toEqual(["old"])
  })

  test("[US2] registers the user again if the process ends between the tenant's row and the directory's flag, and creates one row", async () => {
    const [boss, ada] = [await tokenAs("us2b", "boss", "owner"), await tokenAs("us2b", "ada")]
    vi.spyOn(Directory.prototype, "addSession").mockImplementationOnce(async () => {
      await tenantOf("us2b").registerUser({ id: "ada" })
      throw new Error("killed")
    })
    expect((await call("/v1/sessions", { method: "POST", token: ada, body: '{"id":"s1"}' })).status).toBe(500)
    await evictDurableObject(directoryOf("us2b", "ada"))
    expect((await call("/v1/sessions", { method: "POST", token: ada, body: '{"id":"s1"}' })).status).toBe(201)
    expect(idsOf(await call("/v1/users", { token: boss }))).toEqual(["ada"])
    expect((await call("/v1/sessions", { token: ada })).json.sessions).toHaveLength(1)
  })

  test("[US2] while the tenant can't be reached, an unused directory stores nothing", async () => {
    const ada = await tokenAs("us2c", "ada")
    vi.spyOn(Tenant.prototype, "registerUser").mockImplementationOnce(() => {
      throw new Error("unreachable")
    })
    expect((await call("/v1/sessions", { method: "POST", token: ada, body: '{"id":"s1"}' })).status).toBe(500)
    expect(await tablesOf(directoryOf("us2c", "ada"))).toEqual([])
    await makeSession(ada)
    expect(await tenantOf("us2c").findUser("ada")).toMatchObject({ id: "ada" })
  })
})

describe("the list of users", () => {
  test("[US3] pages return every user once, by id; a prefix narrows them", async () => {
    const names = Array.from({ length: 2 * USER_PAGE_ROWS + 5 }, (_, n) => `u${String(n).padStart(4, "0")}`)
    await addUsers("us3a", [...names, "Zed", "zed", "_x", "u-1"])
    const token = await tokenAs("us3a", "boss", "admin")
    const seen: string[] = []
    let pages = 0
    for (let after = ""; pages < 9; pages += 1) {
      const page = await call(`/v1/users?after=${after}`, { token })
      seen.push(...idsOf(page))
      if (page.json.next === null) break
      after = page.json.next
    }
    expect(pages).toBe(2)
    expect(seen).toEqual([...names, "Zed", "zed", "_x", "u-1"].sort())
    expect(idsOf(await call("/v1/users?prefix=u000", { token }))).toEqual(names.slice(0, 10))
    expect(idsOf(await call("/v1/users?prefix=u020&after=u0202", { token }))).toEqual(["u0203", "u0204"])
    expect(idsOf(await call("/v1/users?prefix=zed", { token }))).toEqual(["zed"])
    expect(idsOf(await call("/v1/users?prefix=none", { token }))).toEqual([])
    for (const query of ["after=a%20b", "prefix=%25", "prefix=a:b", `after=${"a".repeat(65)}`])
      expect(await call(`/v1/users?${query}`, { token })).toEqual(refusal(400, "field_invalid"))
  })

  test("[US3] the first and the last page read the same number of rows with 100,000 users as with 200", async () => {
    const rowsRead = async (users: number): Promise<number[]> =>
      await runInDurableObject(tenantOf(`us3-${users}`), (object: Tenant, { storage: { sql } }) => {
        object.registerUser({ id: "u" })
        sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${users})
          INSERT INTO users (id, role, created) SELECT printf('u%08d', i), 'member', i FROM n`)
        const last = `u${String(users - 150).padStart(8, "0")}`
        return [
          ["", ""],
          [last, ""],
          ["", "u0000001"],
        ].map(([after = "", prefix = ""]) => {
          const cursor = sql.exec(LIST_USERS_SQL, after, prefix, `${prefix}\x7f`, USER_PAGE_ROWS + 1)
          cursor.toArray()
          return cursor.rowsRead
        })
      })
    expect(await rowsRead(100_000)).toEqual(await rowsRead(200))
  })
})

describe("a change to a user", () => {
  test("[US4] can set a name and a role; if it changes nothing, it writes nothing", async () => {
    await addUsers("us4a", ["ada"])
    const boss = await tokenAs("us4a", "boss", "owner")
    const named = await patchUser("/v1/users/ada", boss, { name: "  Ada\u202e Lovelace\n " })
    expect(named).toMatchObject({ status: 200, json: { id: "ada", name: "Ada Lovelace", role: "member" } })
    expect((await patchUser("/v1/users/ada", boss, { role: "viewer" })).json).toMatchObject({
      name: "Ada Lovelace",
      role: "viewer",
    })
    const unchanged = await countRowsWritten(tenantOf("us4a"), async () => {
      for (const body of [{}, { role: "viewer" }, { name: "Ada Lovelace" }])
        expect((await patchUser("/v1/users/ada", boss, body)).status).toBe(200)
    })
    expect(unchanged).toBe(0)
    expect((await patchUser("/v1/users/ada", boss, { name: null })).json.name).toBeNull()
    for (const body of [{ role: "root" }, { name: 5 }, { name: "x".repeat(121) }, { status: "active" }])
      expect(await patchUser("/v1/users/ada", boss, body)).toEqual(refusal(400, "field_invalid"))
  })

  test("[US4] an unknown user, or text that is not an id, is user_unknown", async () => {
    const boss = await tokenAs("us4b", "boss", "owner")
    for (const id of ["nobody", "..", "a%3Ab", "a%2Fb", "%C3%A4", "a".repeat(10_000)]) {
      expect((await patchUser(`/v1/users/${id}`, boss, { role: "viewer" })).status).toBe(404)
      expect((await postAction(`/v1/users/${id}/suspend`, boss)).status).toBe(404)
    }
    expect(await tablesOf(tenantOf("us4b"))).toEqual([])
  })

  test("[US5] an administrator can neither change nor appoint an owner", async () => {
    await addUsers("us5a", ["olga", "otto"], "owner")
    await addUsers("us5a", ["ann"], "admin")
    await addUsers("us5a", ["mia"])
    const admin = await tokenAs("us5a", "ann", "admin")
    const denied = refusal(403, "scope_denied")
    expect(await patchUser("/v1/users/olga", admin, { role: "member" })).toEqual(denied)
    expect(await patchUser("/v1/users/olga", admin, { name: "x" })).toEqual(denied)
    expect(await postAction("/v1/users/olga/suspend", admin)).toEqual(denied)
    expect(await patchUser("/v1/users/mia", admin, { role: "owner" })).toEqual(denied)
    expect((await patchUser("/v1/users/mia", admin, { role: "admin" })).status).toBe(200)
    const owner = await tokenAs("us5a", "olga", "owner")
    expect((await patchUser("/v1/users/mia", owner, { role: "owner" })).json.role).toBe("owner")
    // Only the changes that were made must be recorded.
    const { entries } = await tenantOf("us5a").listAudit({}, 10)
    expect(entries.map(({ action }) => action)).toEqual(["user.changed", "user.changed"])
  })

  test("[US5] the last active owner can't be demoted or suspended", async () => {
    await addUsers("us5b", ["olga", "otto"], "owner")
    const owner = await tokenAs("us5b", "root", "owner")
    expect((await postAction("/v1/users/otto/suspend", owner)).status).toBe(200)
    expect(await patchUser("/v1/users/olga", owner, { role: "admin" })).toEqual(refusal(409, "last_owner"))
    expect(await postAction("/v1/users/olga/suspend", owner)).toEqual(refusal(409, "last_owner"))
    expect((await patchUser("/v1/users/olga", owner, { name: "Olga" })).status).toBe(200)
    expect((await postAction("/v1/users/otto/restore", owner)).status).toBe(200)
    expect((await patchUser("/v1/users/olga", owner, { role: "admin" })).json.role).toBe("admin")
  })

  test("[US6] to a new role ends the user's tokens; a token issued afterwards works at once", async () => {
    const [boss, ada] = [await tokenAs("us6", "boss", "owner"), await tokenAs("us6", "ada")]
    const id = await makeSession(ada)
    const connection = await openSocket(id, ada)
    expect((await patchUser("/v1/users/ada", boss, { role: "admin" })).status).toBe(200)
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received.at(-1)).toBe("token_revoked")
    expect(await call("/v1/sessions", { token: ada })).toEqual(refusal(401, "token_revoked"))
    const renewed = await tokenAs("us6", "ada", "admin")
    expect((await call("/v1/sessions", { token: renewed })).json.sessions).toHaveLength(1)
    await openSocket(id, renewed)
  })
})

describe("a suspended user", () => {
  const SUSPENDED = refusal(403, "user_suspended")

  test("[US7] has no valid token and no open socket, but keeps all data, and gets access again when restored", async () => {
    const [boss, ada] = [await tokenAs("us7a", "boss", "owner"), await tokenAs("us7a", "ada")]
    const id = await makeSession(ada)
    const connection = await openSocket(id, ada)
    expect((await postAction("/v1/users/ada/suspend", boss)).json).toMatchObject({ id: "ada", status: "suspended" })
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received.at(-1)).toBe("user_suspended")
    const fresh = await tokenAs("us7a", "ada")
    for (const token of [ada, fresh]) {
      expect(await call("/v1/sessions", { token })).toEqual(SUSPENDED)
      expect(await call("/v1/sessions", { method: "POST", token, body: "{}" })).toEqual(SUSPENDED)
      expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })).toEqual(SUSPENDED)
    }
    // Repeating the suspension must change and record nothing.
    expect((await postAction("/v1/users/ada/suspend", boss)).status).toBe(200)
    expect((await postAction("/v1/users/ada/restore", boss)).json).toMatchObject({ status: "active" })
    const { entries } = await tenantOf("us7a").listAudit({}, 10)
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ["user.restored", "ada"],
      ["user.suspended", "ada"],
    ])
    // Earlier tokens must still be refused. Add five seconds, because an issuer's clock may be ahead.
    expect(await call("/v1/sessions", { token: ada })).toEqual(refusal(401, "token_revoked"))
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6_000 })
    const renewed = await tokenAs("us7a", "ada")
    expect((await call("/v1/sessions", { token: renewed })).json.sessions).toHaveLength(1)
    await openSocket(id, renewed)
  })

  test("[US7] is refused after TOKEN_TRUST_MS by an isolate that accepted the token before; a new socket is closed sooner", async () => {
    const ada = await tokenAs("us7b", "ada")
    const id = await makeSession(ada)
    const by = { actor: SYSTEM_ACTOR, role: "owner" as const }
    // Suspend the user as another isolate would, so that the token is still valid in this isolate's cache.
    expect(await tenantOf("us7b").setUserStatus(by, "ada", "suspended")).toMatchObject({ ok: true })
    expect((await call("/v1/sessions", { token: ada })).status).toBe(200)
    const { received } = await openSocket(id, ada, null)
    await expect.poll(() => received).toEqual(["user_suspended"])
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TOKEN_TRUST_MS })
    expect(await call("/v1/sessions", { token: ada })).toEqual(SUSPENDED)
  })

  test("[US7] is refused on first contact, even if the user was never seen before the suspension", async () => {
    await addUsers("us7c", ["ada"])
    const boss = await tokenAs("us7c", "boss", "owner")
    expect((await postAction("/v1/users/ada/suspend", boss)).status).toBe(200)
    const ada = await tokenAs("us7c", "ada")
    expect(await call("/v1/sessions", { method: "POST", token: ada, body: "{}" })).toEqual(SUSPENDED)
  })

  test("[US7] has no valid link to a file", async () => {
    const [boss, ada] = [await tokenAs("us7d", "boss", "owner"), await tokenAs("us7d", "ada")]
    const id = await makeSession(ada)
    const text = new TextEncoder().encode("a file")
    const upload = { method: "POST", token: ada, body: text, headers: { "content-type": "text/plain" } }
    const { json: asset } = await call(`/v1/sessions/${id}/assets?name=a.txt`, {
      ...upload,
      headers: { ...upload.headers, "content-length": String(text.length) },
    })
    const body = JSON.stringify({ urls: [`/media/${asset.id}`] })
    const { json } = await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token: ada, body })
    const { href } = json.signed[0]
    expect((await call(href)).text).toBe("a file")
    await postAction("/v1/users/ada/suspend", boss)
    expect(await call(href)).toEqual(SUSPENDED)
    await postAction("/v1/users/ada/restore", boss)
    expect((await call(href)).text).toBe("a file")
  })

  test("[US8] a suspension that doesn't reach the directory is repeated by the alarm, even after an eviction", async () => {
    const [boss, ada] = [await tokenAs("us8", "boss", "owner"), await tokenAs("us8", "ada")]
    await makeSession(ada)
    vi.spyOn(Directory.prototype, "applyUserState").mockImplementation(() => {
      throw new Error("unreachable")
    })
    expect((await postAction("/v1/users/ada/suspend", boss)).json).toMatchObject({ status: "suspended" })
    expect((await call("/v1/sessions", { token: ada })).status).toBe(200)
    vi.restoreAllMocks()
    await evictDurableObject(tenantOf("us8"))
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TOKEN_TRUST_MS })
    expect(await runDurableObjectAlarm(tenantOf("us8"))).toBe(true)
    expect(await call("/v1/sessions", { token: ada })).toEqual(SUSPENDED)
    expect(await runDurableObjectAlarm(tenantOf("us8"))).toBe(false)
  })

  test("[US8] a directory keeps the newer of two changes, however late the older one arrives", async () => {
    const stub = directoryOf("us8b", "ada")
    await stub.applyUserState({ version: 7, suspended: true, role: "member", upTo: null })
    await stub.applyUserState({ version: 5, suspended: false, role: "member", upTo: null })
    expect(await stub.getRevocationState()).toMatchObject({ suspended: true })
    await stub.applyUserState({ version: 8, suspended: false, role: "member", upTo: null })
    expect((await stub.getRevocationState()).suspended).toBeUndefined()
  })
})

test("[US9] only administrators can use these routes, and they see only their own tenant", async () => {
  await addUsers("us9", ["ada"])
  for (const role of ["member", "viewer"] as const) {
    const token = await tokenAs("us9", "eve", role)
    const denied = refusal(403, "scope_denied")
    expect(await call("/v1/users", { token })).toEqual(denied)
    expect(await call("/v1/users/ada", { token })).toEqual(denied)
    expect(await patchUser("/v1/users/ada", token, { role: "owner" })).toEqual(denied)
    expect(await postAction("/v1/users/ada/suspend", token)).toEqual(denied)
    expect(await postAction("/v1/users/ada/restore", token)).toEqual(denied)
  }
  const other = await tokenAs("us9other", "root", "owner")
  expect((await call("/v1/users", { token: other })).json.users).toEqual([])
  expect(await postAction("/v1/users/ada/suspend", other)).toEqual(refusal(404, "user_unknown"))
  expect(await tenantOf("us9").findUser("ada")).toMatchObject({ status: "active", role: "member" })
})
