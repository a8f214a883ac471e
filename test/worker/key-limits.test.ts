/** key-limits.test.ts: tests the limits of an API key that depend on its creator. */

import { env, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import type { Tenant } from "../../worker/tenant/tenant-object.ts"
import { MAX_RECORDED_TOKENS } from "../../worker/tenant/tenant-keys.ts"
import { call, refusal } from "./http.ts"
import { createKey, createTenant, OPERATOR, postJson, tokenWith } from "./tenant-access.ts"

afterEach(() => void vi.useRealTimers())

const DENIED = refusal(403, "scope_denied")
const SUSPENDED = refusal(403, "user_suspended")

function advanceTime(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds })
}

const setRole = async (key: string, user: string, role: string): Promise<void> => {
  const changed = await call(`/v1/users/${user}`, { method: "PATCH", token: key, body: JSON.stringify({ role }) })
  expect(changed.status).toBe(200)
}

const makerOf = async (key: string, id: string) =>
  (await call("/v1/keys", { token: key })).json.keys.find((each: { id: string }) => each.id === id).created_by

const listIssued = async (key: string): Promise<string[]> =>
  (await call("/v1/audit?action=token.issued", { token: key })).json.entries.map(
    ({ actor, target }: { actor: { id: string }; target: string }) => `${actor.id} ${target}`,
  )

describe("a new user", () => {
  test.each([
    [["owner"], null],
    [["admin"], null],
    [["owner", "admin"], null],
    [["admin", "viewer"], null],
    [["viewer"], "viewer"],
    [["member", "viewer"], "member"],
    [["owner", "admin", "member", "viewer"], "member"],
  ])("[AK12] gets by default, from a key with the roles %j, the role %s (null: no token)", async (roles, role) => {
    const tenant = `ak12-${roles.join("-")}`
    const first = await createTenant(tenant)
    const { key } = await createKey(first, { roles })
    const issued = await postJson("/v1/tokens", key, { user: "ada" })
    if (role === null) expect(issued).toEqual(DENIED)
    else expect(issued.status).toBe(200)
    const stored = await env.TENANT.getByName(tenant).findUser("ada")
    expect(stored?.role ?? null).toBe(role)
  })

  test("[AK12] gets the role that the request names", async () => {
    const first = await createTenant("ak12")
    const { key } = await createKey(first, { roles: ["admin"] })
    await tokenWith(key, "ada", { role: "admin" })
    expect(await env.TENANT.getByName("ak12").findUser("ada")).toMatchObject({ role: "admin" })
    await tokenWith(key, "ada")
  })
})

describe("a user whose role is higher than that of a key's creator", () => {
  test("[AK13] gets no token from the key, whatever role the request names; other users do", async () => {
    const first = await createTenant("ak13")
    await tokenWith(first, "boss", { role: "owner" })
    const admin = await tokenWith(first, "adm", { role: "admin" })
    const own = await createKey(admin, { roles: ["member"] })
    for (const body of [{ user: "boss", role: "member" }, { user: "boss" }])
      expect(await postJson("/v1/tokens", own.key, body)).toEqual(DENIED)
    for (const user of ["adm", "new"]) await tokenWith(own.key, user, { role: "member" })
    // A key that was created with an admin's key can't create such a token either, and neither can an owner's key that
    // an admin has rotated.
    const adminKey = await createKey(admin, { roles: ["admin", "member"] })
    const keyOfOwner = await createKey(first, { roles: ["member"] })
    await tokenWith(keyOfOwner.key, "boss", { role: "member" })
    const rotated = (await postJson(`/v1/keys/${keyOfOwner.id}/rotate`, admin)).json.key
    for (const key of [adminKey.key, (await createKey(adminKey.key, { roles: ["member"] })).key, rotated])
      expect(await postJson("/v1/tokens", key, { user: "boss", role: "member" })).toEqual(DENIED)
    // The same applies if the user is promoted later.
    await tokenWith(own.key, "new", { role: "member" })
    await setRole(first, "new", "owner")
    expect(await postJson("/v1/tokens", own.key, { user: "new", role: "member" })).toEqual(DENIED)
  })

  test("[AK13] gets no token after the creator, an owner, has become an admin", async () => {
    const first = await createTenant("ak13b")
    await tokenWith(first, "boss", { role: "owner" })
    const other = await tokenWith(first, "other", { role: "owner" })
    const { key } = await createKey(other, { roles: ["member"] })
    await tokenWith(key, "boss", { role: "member" })
    await setRole(first, "other", "admin")
    expect(await postJson("/v1/tokens", key, { user: "boss", role: "member" })).toEqual(DENIED)
    await tokenWith(key, "ada")
  })
})

describe("the audit log", () => {
  test("[AK14] contains the first token that a key creates for a user on a day", async () => {
    const first = await createTenant("ak14")
    const { id, key } = await createKey(first)
    for (const user of ["ada", "bob", "ada"]) await tokenWith(key, user)
    expect(await listIssued(first)).toEqual([`${id} bob`, `${id} ada`])
    advanceTime(24 * 60 * 60_000)
    for (const user of ["ada", "ada"]) await tokenWith(key, user)
    expect(await listIssued(first)).toEqual([`${id} ada`, `${id} bob`, `${id} ada`])
    // A refused request has created no token.
    await postJson("/v1/tokens", key, { user: "eve", role: "owner" })
    expect(await listIssued(first)).toHaveLength(3)
  })

  test("[AK14] contains at most MAX_RECORDED_TOKENS a day and notes the limit, but always contains tokens for admins", async () => {
    const first = await createTenant("ak14b")
    const { id, key } = await createKey(first)
    await tokenWith(first, "adm", { role: "admin" })
    await runInDurableObject(env.TENANT.getByName("ak14b"), (object: Tenant, { storage: { sql } }) => {
      const actor = { ...SYSTEM_ACTOR, kind: "key", id } as const
      for (let n = 2; n <= MAX_RECORDED_TOKENS + 5; n++) object.admitTokenUser(actor, { id: `u${n}` })
      const rows = sql.exec("SELECT details FROM audit WHERE action = 'token.issued' ORDER BY seq").toArray()
      expect([rows.length, rows.at(-1)?.["details"]]).toEqual([
        MAX_RECORDED_TOKENS,
        expect.stringContaining('"last_of_day":true'),
      ])
    })
    await tokenWith(key, "adm", { role: "member" })
    expect((await listIssued(first))[0]).toBe(`${id} adm`)
  })
})

describe("the creator of a key", () => {
  test("[AK15] is shown; while the creator is suspended, neither the key nor a key created with it works", async () => {
    const first = await createTenant("ak15")
    const admin = await tokenWith(first, "adm", { role: "admin" })
    const own = await createKey(admin, { roles: ["admin"] })
    const next = await createKey(own.key, { roles: ["admin"] })
    const given = await postJson("/v1/tenants/ak15/keys", OPERATOR, { name: "x", roles: ["admin"] })
    expect(await makerOf(first, own.id)).toBe("user:adm")
    expect(await makerOf(first, next.id)).toBe(`key:${own.id}`)
    expect(await makerOf(first, given.json.id)).toBe("operator")
    await postJson("/v1/users/adm/suspend", first)
    advanceTime(TOKEN_TRUST_MS)
    for (const { key } of [own, next]) {
      expect(await call("/v1/users", { token: key })).toEqual(SUSPENDED)
      expect(await postJson("/v1/tokens", key, { user: "ada", role: "admin" })).toEqual(SUSPENDED)
    }
    for (const key of [first, given.json.key]) expect((await call("/v1/users", { token: key })).status).toBe(200)
    await postJson("/v1/users/adm/restore", first)
    expect((await call("/v1/users", { token: own.key })).status).toBe(200)
  })

  test("[AK15] whose role falls below the key's makes it unusable until the role is restored", async () => {
    const first = await createTenant("ak15b")
    const admin = await tokenWith(first, "adm", { role: "admin" })
    const [own, members] = [await createKey(admin, { roles: ["admin"] }), await createKey(admin)]
    await setRole(first, "adm", "member")
    advanceTime(TOKEN_TRUST_MS)
    expect(await call("/v1/users", { token: own.key })).toEqual(DENIED)
    await tokenWith(members.key, "ada")
    await setRole(first, "adm", "admin")
    expect((await call("/v1/users", { token: own.key })).status).toBe(200)
  })

  test("[AK15] who is erased loses the keys too", async () => {
    const first = await createTenant("ak15c")
    const { key } = await createKey(await tokenWith(first, "adm", { role: "admin" }), { roles: ["admin"] })
    expect((await call("/v1/users/adm", { method: "DELETE", token: first })).status).toBe(202)
    expect(await call("/v1/users", { token: key })).toEqual(SUSPENDED)
  })
})
