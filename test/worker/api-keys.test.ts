/**
 * api-keys.test.ts: tests the format, management, use and rotation of a tenant's API keys, and the tokens that keys
 * create.
 */

import { env, runInDurableObject } from "cloudflare:test"
import fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { MAX_USER_TOKEN_SECONDS, TOKEN_TRUST_MS, USER_TOKEN_SECONDS } from "../../shared/limits.ts"
import { createApiKey, formatApiKey, parseApiKey } from "../../worker/auth/api-key.ts"
import { clearCachedAccess, clearCachedKey } from "../../worker/auth/tenant-access-cache.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { MAX_API_KEYS } from "../../worker/tenant/key-administration.ts"
import { call, makeSession, nowSeconds, refusal, SECRET, tablesOf, tokenOf } from "./http.ts"
import { createKey, createTenant, OPERATOR, postJson, tokenWith } from "./tenant-access.ts"

afterEach(() => void vi.useRealTimers())

function advanceTime(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds })
}

const listKeys = async (token: string) => (await call("/v1/keys", { token })).json.keys
const revokeKey = (token: string, id: string) => call(`/v1/keys/${id}`, { method: "DELETE", token })

/** Returns all rows of a tenant's object, as text. */
function rowsOf(tenant: string): Promise<string> {
  return runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage: { sql } }) => {
    const tables = sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
    return JSON.stringify(tables.toArray().map(({ name }) => [name, sql.exec(`SELECT * FROM "${name}"`).toArray()]))
  })
}

/** Returns bindings that record the names of the tenants and directories that are called. */
function watchTenants() {
  const asked: string[] = []
  const TENANT = {
    getByName(name: string) {
      asked.push(name)
      return env.TENANT.getByName(name)
    },
  }
  const DIRECTORY = {
    getByName(name: string) {
      asked.push(name)
      return env.DIRECTORY.getByName(name)
    },
  }
  return { asked, env: { TENANT, DIRECTORY } }
}

describe("the format of a key", () => {
  test("[AK1] a new key can be parsed, whatever the tenant's id is", async () => {
    const tenants = fc.stringMatching(/^(?:eu\.|us\.|fedramp-high\.)?[A-Za-z0-9_-]{1,64}$/)
    await fc.assert(
      fc.asyncProperty(tenants, async (tenant) => {
        const { text, stored } = await createApiKey(tenant)
        expect(parseApiKey(text)).toMatchObject({ tenant, id: stored.id })
      }),
      { seed: 13, numRuns: 200 },
    )
  })

  test("[AK1] a key with any one character changed or removed is rejected", async () => {
    const { text } = await createApiKey("eu.ac_me")
    for (let at = 0; at < text.length; at++) {
      for (const character of "aZ0_-.") {
        if (text[at] === character) continue
        expect(parseApiKey(text.slice(0, at) + character + text.slice(at + 1))).toBeNull()
      }
      expect(parseApiKey(text.slice(0, at) + text.slice(at + 1))).toBeNull()
    }
  })

  test.each<[string, (key: string) => string]>([
    ["a wrong checksum", (key) => `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`],
    ["another tenant's name", (key) => key.replace("_ak1_", "_ak2_")],
    ["a prefix alone", () => "ck_"],
    ["no tenant", (key) => key.replace("ck_ak1_", "ck__")],
    ["a path for a tenant", (key) => key.replace("_ak1_", "_../ak1_")],
    ["a colon in the tenant", (key) => key.replace("_ak1_", "_ak1:ada_")],
    ["10,000 characters", (key) => key.replace("_ak1_", `_${"a".repeat(10_000)}_`)],
    ["a Unicode look-alike", (key) => key.replace("_ak1_", "_аk1_")],
    ["a tab inside", (key) => `${key.slice(0, 9)}\t${key.slice(9)}`],
  ])("[AK1] %s is refused before any object is called", async (_what, change) => {
    const { text } = await createApiKey("ak1")
    const watched = watchTenants()
    const refused = await call("/v1/keys", { token: encodeHeader(change(text)), env: watched.env })
    expect(refused.status).toBe(401)
    expect(watched.asked).toEqual([])
  })

  /** Encodes text for a header. Each character of the result stands for one byte of the text in UTF-8. */
  const encodeHeader = (text: string) => String.fromCharCode(...new TextEncoder().encode(text))

  test("[AK2] only the hash is stored, and no route shows the secret again", async () => {
    const first = await createTenant("ak2")
    const { key } = await createKey(first, { roles: ["admin"] })
    await tokenWith(first, "ada")
    const shown = JSON.stringify([await listKeys(first), (await call("/v1/agents", { token: key })).json])
    const rows = await rowsOf("ak2")
    for (const text of [first, key]) {
      const parsed = parseApiKey(text)
      expect(parsed?.secret).toHaveLength(40)
      for (const stored of [rows, shown]) expect(stored).not.toContain(parsed?.secret)
      expect(rows).toContain(parsed?.id)
    }
  })
})

describe("managing keys", () => {
  test("[AK3] an owner creates, lists and revokes keys, with a token or a key", async () => {
    const first = await createTenant("ak3")
    for (const manager of [first, await tokenWith(first, "root", { role: "owner" })]) {
      const created = await postJson("/v1/keys", manager, {
        name: " ci ",
        roles: ["viewer", "admin", "admin"],
        ttl: 60,
      })
      expect(created).toMatchObject({ status: 201, json: { name: "ci", roles: ["admin", "viewer"], used: null } })
      expect(created.json.expires - created.json.created).toBeLessThanOrEqual(60_000)
      const { key: _, ...info } = created.json
      expect(await listKeys(manager)).toContainEqual(info)
      expect((await revokeKey(manager, info.id)).status).toBe(204)
      expect(await revokeKey(manager, info.id)).toEqual(refusal(404, "key_unknown"))
      expect(await listKeys(manager)).not.toContainEqual(info)
    }
  })

  test("[AK3] an admin sees all keys, and can manage those whose roles are below owner", async () => {
    const first = await createTenant("ak3b")
    const owner = await createKey(first, { roles: ["owner"] })
    const adminKey = await createKey(first, { roles: ["admin", "member"] })
    const admin = await tokenWith(adminKey.key, "adm", { role: "admin" })
    for (const manager of [adminKey.key, admin]) {
      expect(await listKeys(manager)).toHaveLength(3)
      expect(await postJson("/v1/keys", manager, { name: "x", roles: ["owner"] })).toEqual(refusal(403, "scope_denied"))
      expect(await revokeKey(manager, owner.id)).toEqual(refusal(403, "scope_denied"))
      expect(await postJson(`/v1/keys/${owner.id}/rotate`, manager)).toEqual(refusal(403, "scope_denied"))
      expect((await revokeKey(manager, (await createKey(manager)).id)).status).toBe(204)
    }
    expect(await listKeys(first)).toHaveLength(3)
  })

  test("[AK3] users and keys whose roles are below admin can't manage keys", async () => {
    const first = await createTenant("ak3c")
    const { key } = await createKey(first)
    const tokens = await Promise.all(["member", "viewer"].map((role) => tokenWith(first, role, { role })))
    const before = await rowsOf("ak3c")
    for (const token of [...tokens, key, await tokenOf("ak3c", "old")]) {
      expect(await call("/v1/keys", { token })).toEqual(refusal(403, "scope_denied"))
      expect(await postJson("/v1/keys", token, { name: "x" })).toEqual(refusal(403, "scope_denied"))
    }
    // The rows may grow, because the member's key was used for the first time.
    expect((await rowsOf("ak3c")).length).toBeGreaterThanOrEqual(before.length)
    expect(await listKeys(first)).toHaveLength(2)
  })

  test.each([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ name: "a\u202eb" }, "name"],
    [{ name: "x".repeat(81) }, "name"],
    [{ name: "x", roles: [] }, "roles"],
    [{ name: "x", roles: ["root"] }, "roles.0"],
    [{ name: "x", role: "viewer" }, "role"],
    [{ name: "x", ttl: 0 }, "ttl"],
    [{ name: "x", ttl: 1.5 }, "ttl"],
    [{ name: "x", ttl: 1e12 }, "ttl"],
  ])("[AK3] %j is refused and stores nothing", async (body, field) => {
    const id = "ak3d"
    const first = (await postJson(`/v1/tenants/${id}/keys`, OPERATOR, { name: "own", roles: ["owner"] })).json.key
    const count = (await listKeys(first)).length
    expect(await postJson("/v1/keys", first, body)).toEqual(refusal(400, "field_invalid", field))
    expect(await listKeys(first)).toHaveLength(count)
  })

  test("[AK8] the number of keys is limited; expired keys don't count", async () => {
    const first = await createTenant("ak8")
    const tenant = env.TENANT.getByName("ak8")
    const manager = { actor: { kind: "user", id: "root", address: null }, role: "owner" } as const
    const createKeyRow = (n: number, expires: number | null) =>
      ({ id: `k${n}`, hash: "00", name: `k${n}`, roles: ["member"] as Role[], expires }) as const
    for (let n = 1; n < MAX_API_KEYS; n++)
      await tenant.addKey(manager, createKeyRow(n, n === 1 ? Date.now() + 600_000 : null))
    expect(await postJson("/v1/keys", first, { name: "more" })).toEqual(refusal(409, "keys_full"))
    advanceTime(600_000)
    clearCachedKey("ak8", parseApiKey(first)?.id ?? "")
    await createKey(first, { name: "more" })
    expect(await postJson("/v1/keys", first, { name: "more" })).toEqual(refusal(409, "keys_full"))
  })
})

describe("using keys", () => {
  test("[AK4] a revoked key is refused at once by the isolate that revoked it, and by others after TOKEN_TRUST_MS", async () => {
    const first = await createTenant("ak4")
    const { id, key } = await createKey(first, { roles: ["admin"] })
    expect(await listKeys(key)).toHaveLength(2)
    await revokeKey(first, id)
    expect(await call("/v1/keys", { token: key })).toEqual(refusal(401, "key_invalid"))

    const other = await createKey(first, { roles: ["admin"] })
    expect(await listKeys(other.key)).toHaveLength(2)
    // Revoke the key as another isolate would.
    const manager = { actor: { kind: "operator", id: "", address: null }, role: "owner" } as const
    await env.TENANT.getByName("ak4").removeKey(manager, other.id)
    expect((await call("/v1/keys", { token: other.key })).status).toBe(200)
    advanceTime(TOKEN_TRUST_MS)
    expect(await call("/v1/keys", { token: other.key })).toEqual(refusal(401, "key_invalid"))
  })

  test("[AK4] an expired key is refused at once, whether it is cached or not", async () => {
    const { key } = await createKey(await createTenant("ak4b"), { roles: ["admin"], ttl: 600 })
    expect((await call("/v1/keys", { token: key })).status).toBe(200)
    advanceTime(600_000)
    expect(await call("/v1/keys", { token: key })).toEqual(refusal(401, "key_expired"))
    advanceTime(TOKEN_TRUST_MS)
    expect(await call("/v1/keys", { token: key })).toEqual(refusal(401, "key_expired"))
  })

  test("[AK4] a wrong secret, an unknown id and another tenant's key are refused", async () => {
    const first = await createTenant("ak4c")
    const parsed = parseApiKey(first)
    if (parsed === null) throw new Error("no key")
    const { text } = await createApiKey("ak4c")
    const forged = formatApiKey({ ...parsed, secret: parsed.secret.replace(/./g, "x") })
    await createTenant("ak4d")
    const moved = formatApiKey({ ...parsed, tenant: "ak4d" })
    expect((await call("/v1/keys", { token: first })).status).toBe(200)
    for (const wrong of [text, forged, moved])
      expect(await call("/v1/keys", { token: wrong })).toEqual(refusal(401, "key_invalid"))
  })

  test("[AK5] two keys are valid during a rotation", async () => {
    const first = await createTenant("ak5")
    const old = await createKey(first, { name: "backend", roles: ["admin", "member"] })
    const next = await postJson(`/v1/keys/${old.id}/rotate`, old.key, { grace_seconds: 600 })
    expect(next).toMatchObject({ status: 201, json: { name: "backend", roles: ["admin", "member"], expires: null } })
    for (const key of [old.key, next.json.key]) expect(await listKeys(key)).toHaveLength(3)
    advanceTime(600_000)
    expect(await call("/v1/keys", { token: old.key })).toEqual(refusal(401, "key_expired"))
    expect((await call("/v1/keys", { token: next.json.key })).status).toBe(200)
    expect(await postJson(`/v1/keys/${old.id}/rotate`, first)).toEqual(refusal(401, "key_expired"))
    expect(await postJson("/v1/keys/nothing/rotate", first)).toEqual(refusal(404, "key_unknown"))
  })

  test("[AK5] without a grace period, the old key stops working at once; a rotation never makes it valid for longer", async () => {
    const first = await createTenant("ak5b")
    const old = await createKey(first, { roles: ["admin"], ttl: 600 })
    const next = await postJson(`/v1/keys/${old.id}/rotate`, first)
    const [oldInfo] = (await listKeys(first)).filter(({ id }: { id: string }) => id === old.id)
    expect(oldInfo.expires).toBe(next.json.expires)
    await postJson(`/v1/keys/${next.json.id}/rotate`, first, { grace_seconds: 0 })
    expect(await call("/v1/keys", { token: next.json.key })).toEqual(refusal(401, "key_expired"))
  })

  test("[AK6] a key's last use is stored at most once a minute, and recorded in the audit log at most once an hour", async () => {
    const first = await createTenant("ak6")
    const { id, key } = await createKey(first, { roles: ["admin"] })
    const useKeyAfter = async (afterMs: number) => {
      advanceTime(afterMs)
      clearCachedKey("ak6", id)
      await call("/v1/agents", { token: key })
      const used = (await env.TENANT.getByName("ak6").listKeys()).find((each) => each.id === id)?.used
      const records = (await rowsOf("ak6")).split("key.used").length - 1
      return { used: used ?? 0, records }
    }
    const start = await useKeyAfter(0)
    expect(start.used).toBeGreaterThan(0)
    expect(await useKeyAfter(30_000)).toEqual(start)
    const later = await useKeyAfter(30_000)
    expect(later.used - start.used).toBeGreaterThanOrEqual(60_000)
    expect(later.records).toBe(start.records)
    expect((await useKeyAfter(60 * 60_000)).records).toBe(start.records + 1)
  })

  test("[AK7] refused keys are recorded, but nothing is stored for a tenant that nobody uses", async () => {
    const first = await createTenant("ak7")
    const guessSecret = async (tenant: string) => {
      const { text } = await createApiKey(tenant)
      expect(await call("/v1/keys", { token: text })).toEqual(refusal(401, "key_invalid"))
    }
    const countRecords = async () => (await rowsOf("ak7")).split("key.refused").length - 1
    for (let n = 0; n < 5; n++) await guessSecret("ak7")
    expect(await countRecords()).toBe(5)
    await guessSecret("ak7-nobody")
    expect(await tablesOf(env.TENANT.getByName("ak7-nobody"))).toEqual([])
    expect(first).toMatch(/^ck_/)
  })

  test("[AK11] a key can configure its tenant as its highest role may, and can't access any session", async () => {
    const first = await createTenant("ak11")
    const id = await makeSession(await tokenWith(first, "ada"))
    const body = JSON.stringify({ embed_origins: [], media_hosts: [] })
    const putSettings = (token: string) => call("/v1/settings", { method: "PUT", token, body })
    const [admin, member] = [
      await createKey(first, { roles: ["admin"] }),
      await createKey(first, { roles: ["member"] }),
    ]
    for (const key of [first, admin.key]) expect((await putSettings(key)).status).toBe(200)
    expect(await putSettings(member.key)).toEqual(refusal(403, "scope_denied"))
    for (const path of ["/v1/sessions", `/v1/sessions/${id}/conversation/recent`, `/v1/sessions/${id}/socket`])
      for (const key of [first, admin.key, member.key])
        expect(await call(path, { token: key })).toEqual(refusal(403, "scope_denied"))
    expect(await tablesOf(env.DIRECTORY.getByName(`ak11:key:${admin.id}`))).toEqual([])
  })
})

describe("tokens for users", () => {
  const claimsOf = async (token: string) => {
    const verified = await verifyToken(token, SECRET, Date.now())
    if (!verified.ok) throw new Error(verified.fault.reason)
    return verified.value
  }

  test("[AK9] a token has the requested tenant, user and lifetime", async () => {
    const first = await createTenant("ak9")
    const issued = (await postJson("/v1/tokens", first, { user: "ada" })).json
    expect(issued).toEqual({ token: expect.any(String), expires: expect.any(Number) })
    expect(await claimsOf(issued.token)).toMatchObject({ tenant: "ak9", user: "ada", role: "member", generation: 1 })
    expect(issued.expires - nowSeconds()).toBeLessThanOrEqual(USER_TOKEN_SECONDS)
    const long = (await postJson("/v1/tokens", first, { user: "ada", ttl: MAX_USER_TOKEN_SECONDS })).json
    expect(long.expires - issued.expires).toBeGreaterThan(MAX_USER_TOKEN_SECONDS - USER_TOKEN_SECONDS - 60)
    expect(await rowsOf("ak9")).toContain('"id":"ada"')
  })

  test.each([
    [{}, "user"],
    [{ user: "" }, "user"],
    [{ user: "a:b" }, "user"],
    [{ user: "key:x" }, "user"],
    [{ user: "ada@example.com" }, "user"],
    [{ user: "a".repeat(65) }, "user"],
    [{ user: "ada", role: "root" }, "role"],
    [{ user: "ada", ttl: 0 }, "ttl"],
    [{ user: "ada", ttl: MAX_USER_TOKEN_SECONDS + 1 }, "ttl"],
    [{ user: "ada", name: 7 }, "name"],
    [{ user: "ada", name: "x".repeat(121) }, "name"],
    [{ user: "ada", tenant: "other" }, "tenant"],
    [{ user: "ada", scope: "admin" }, "scope"],
  ])("[AK9] %j is refused, and no user is added", async (body, field) => {
    const key = (await postJson("/v1/tenants/ak9b/keys", OPERATOR, { name: "own", roles: ["member"] })).json.key
    expect(await postJson("/v1/tokens", key, body)).toEqual(refusal(400, "field_invalid", field))
    expect(await rowsOf("ak9b")).toContain('["users",[]]')
  })

  test("[AK9] a token can't create tokens", async () => {
    const first = await createTenant("ak9c")
    const token = await tokenWith(first, "root", { role: "owner" })
    for (const each of [token, await tokenOf("ak9c", "ada")])
      expect(await postJson("/v1/tokens", each, { user: "eve" })).toEqual(refusal(403, "scope_denied"))
  })

  test("[AK10] the role is limited by the key's roles, and defaults to the user's role", async () => {
    const first = await createTenant("ak10")
    const { key } = await createKey(first, { roles: ["member", "viewer"] })
    for (const role of ["owner", "admin"])
      expect(await postJson("/v1/tokens", key, { user: "eve", role })).toEqual(refusal(403, "scope_denied"))
    expect(await claimsOf(await tokenWith(key, "vi", { role: "viewer" }))).toMatchObject({ role: "viewer" })
    expect(await claimsOf(await tokenWith(key, "vi"))).toMatchObject({ role: "viewer" })
    await tokenWith(first, "root", { role: "owner" })
    expect(await claimsOf(await tokenWith(first, "root"))).toMatchObject({ role: "owner" })
    expect(await postJson("/v1/tokens", key, { user: "root" })).toEqual(refusal(403, "scope_denied"))
    expect(await claimsOf(await tokenWith(key, "root", { role: "member" }))).toMatchObject({ role: "member" })
    const viewers = await createKey(first, { roles: ["viewer"] })
    expect(await claimsOf(await tokenWith(viewers.key, "new"))).toMatchObject({ role: "viewer" })
  })

  test("[AK10] a user who isn't active gets no token", async () => {
    const first = await createTenant("ak10b")
    await tokenWith(first, "ada")
    await runInDurableObject(env.TENANT.getByName("ak10b"), (_object, { storage }) => {
      storage.sql.exec("UPDATE users SET status = 'suspended' WHERE id = 'ada'")
    })
    expect(await postJson("/v1/tokens", first, { user: "ada" })).toEqual(refusal(403, "user_suspended"))
    clearCachedAccess("ak10b")
  })
})
