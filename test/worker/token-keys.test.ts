/** token-keys.test.ts: tests the names, rotation and retirement of the keys that sign a tenant's tokens. */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { decodeProtectedHeader, SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { issueNewToken } from "../../worker/auth/new-token.ts"
import { clearCachedAccess } from "../../worker/auth/tenant-access-cache.ts"
import { deriveTokenKey, parseKid, verifyToken } from "../../worker/auth/verify-token.ts"
import type { Env } from "../../worker/env.ts"
import { MAX_TOKEN_KEYS } from "../../worker/tenant/key-administration.ts"
import type { Tenant } from "../../worker/tenant/tenant-object.ts"
import { call, makeSession, nowSeconds, openSocket, refusal, SECRET, tokenOf } from "./http.ts"
import { createTenant, postJson, tokenWith } from "./tenant-access.ts"

afterEach(() => void vi.useRealTimers())

function advanceTime(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds })
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid
const rotateKeys = (key: string, body: object = {}) => postJson("/v1/token-keys/rotate", key, body)
const readStatus = async (token: string) => (await call("/v1/sessions", { token })).status

describe("token keys", () => {
  test("[TK1] every token of the server names its tenant's key", async () => {
    const first = await createTenant("eu.tk1")
    const token = await tokenWith(first, "ada")
    expect(kidOf(token)).toBe("cuecard:eu.tk1:1")
    const id = await makeSession(token)
    const external = await postJson(`/v1/sessions/${id}/external-token`, token)
    expect(kidOf(external.json.token)).toBe("cuecard:eu.tk1:1")
    const dev = await call("http://localhost/v1/dev/token", { method: "POST", env: { AUTH: "dev" } })
    expect(kidOf(dev.json.token)).toMatch(/^cuecard:demo:\d+$/)
    const own = await issueNewToken(env as Env, { tenant: "tk1-implicit", user: "ada", login: "l1" }, 60, Date.now())
    expect(await verifyToken(own.token, SECRET, Date.now())).toMatchObject({ value: { login: "l1", generation: 1 } })
  })

  test("[TK1] the name of a key is unambiguous", () => {
    expect(parseKid("cuecard:eu.1:1")).toEqual({ tenant: "eu.1", generation: 1 })
    expect(parseKid("cuecard:eu:11")).toEqual({ tenant: "eu", generation: 11 })
    for (const wrong of ["", "acme.1", "cuecard:acme", "cuecard:acme:", "cuecard:acme:0", "cuecard:acme:01"])
      expect(parseKid(wrong)).toBeNull()
    for (const wrong of [
      "acme:-1",
      "acme:1:1",
      "acme:1e1",
      "acme: 1",
      "a/b:1",
      "..:1",
      ":1",
      "acme:1234567890",
      "аcme:1",
    ])
      expect(parseKid(`cuecard:${wrong}`)).toBeNull()
  })

  test("[TK2] a leaked key of one tenant can't forge anything for another", async () => {
    await createTenant("tk2")
    const leaked = await deriveTokenKey(SECRET, { tenant: "tk2", generation: 1 })
    const forgeToken = (tenant: string, kid?: string) =>
      new SignJWT({ tenant, sub: "ada", exp: nowSeconds() + 60 })
        .setProtectedHeader(kid === undefined ? { alg: "HS256" } : { alg: "HS256", kid })
        .sign(leaked)
    expect(await readStatus(await forgeToken("tk2", "cuecard:tk2:1"))).toBe(200)
    for (const kid of ["cuecard:tk2:1", "cuecard:tk2-other:1", "cuecard:tk2:2", "tk2", undefined])
      expect(await call("/v1/sessions", { token: await forgeToken("tk2-other", kid) })).toEqual(
        refusal(401, "token_invalid"),
      )
    for (const kid of ["cuecard:tk2:2", "cuecard:tk2-other:1", undefined])
      expect(await call("/v1/sessions", { token: await forgeToken("tk2", kid) })).toEqual(refusal(401, "token_invalid"))
  })

  test("[TK3] tokens without a key name, or with a name that the server didn't assign, stay valid", async () => {
    await createTenant("tk3")
    expect(await readStatus(await tokenOf("tk3", "ada"))).toBe(200)
    const other = new SignJWT({ tenant: "tk3", sub: "ada", exp: nowSeconds() + 60 })
    const signed = await other.setProtectedHeader({ alg: "HS256", kid: "v1" }).sign(new TextEncoder().encode(SECRET))
    expect(await readStatus(signed)).toBe(200)
  })

  test("[TK4] after a rotation, the new key signs tokens, and tokens signed by the old key are still accepted", async () => {
    const first = await createTenant("tk4")
    const old = await tokenWith(first, "ada")
    const rotated = await rotateKeys(first)
    expect(rotated.json.keys).toMatchObject([
      { generation: 2, retires: null },
      { generation: 1, created: null, retires: expect.any(Number) },
    ])
    expect((await call("/v1/token-keys", { token: first })).json).toEqual(rotated.json)
    const token = await tokenWith(first, "ada")
    expect(kidOf(token)).toBe("cuecard:tk4:2")
    for (const each of [old, token]) expect(await readStatus(each)).toBe(200)
  })

  test("[TK4] a retired key is refused at once here, and elsewhere after TOKEN_TRUST_MS", async () => {
    const first = await createTenant("tk4b")
    const old = await tokenWith(first, "ada", { ttl: 3600 })
    expect(await readStatus(old)).toBe(200)
    await rotateKeys(first, { retire_seconds: 0 })
    expect(await call("/v1/sessions", { token: old })).toEqual(refusal(401, "token_revoked"))
    const next = await tokenWith(first, "ada", { ttl: 3600 })
    expect(await readStatus(next)).toBe(200)
    // Rotate the key as another isolate would.
    await env.TENANT.getByName("tk4b").rotateTokenKeys({ kind: "operator", id: "", address: null }, 0)
    expect(await readStatus(next)).toBe(200)
    advanceTime(TOKEN_TRUST_MS)
    expect(await call("/v1/sessions", { token: next })).toEqual(refusal(401, "token_revoked"))
  })

  test("[TK10] if the other keys retire now, sockets close and no earlier user token is accepted", async () => {
    const first = await createTenant("tk10")
    const [ada, bob] = [await tokenWith(first, "ada"), await tokenWith(first, "bob", { ttl: 86_400 })]
    const id = await makeSession(ada)
    const [socket, other] = [await openSocket(id, ada), await openSocket(await makeSession(bob), bob)]
    await rotateKeys(first, { retire_seconds: 0 })
    await expect.poll(() => [socket.closed, other.closed]).toEqual([4401, 4401])
    for (const token of [ada, bob]) expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_revoked"))
    const next = await tokenWith(first, "ada")
    expect((await call("/v1/sessions", { token: next })).json.sessions).toMatchObject([{ id }])
    expect((await openSocket(id, next)).closed).toBeNull()
  })

  test("[TK11] a rotation with a grace period closes only the old key's sockets, when that key retires", async () => {
    const first = await createTenant("tk11")
    const old = await tokenWith(first, "ada", { ttl: 86_400 })
    const id = await makeSession(old)
    const socket = await openSocket(id, old)
    const [, retiring] = (await rotateKeys(first, { retire_seconds: 60 })).json.keys
    const stub = env.TENANT.getByName("tk11")
    await runInDurableObject(stub, async (_object, { storage }) => {
      expect(storage.sql.exec("SELECT * FROM user_notices").toArray()).toEqual([])
      expect(await storage.getAlarm()).toBe(retiring.retires)
    })
    advanceTime(TOKEN_TRUST_MS + 1_000)
    const next = await tokenWith(first, "ada", { ttl: 86_400 })
    const other = await openSocket(id, next)
    advanceTime(29_000)
    expect(socket.closed).toBeNull()
    await runDurableObjectAlarm(stub)
    await runDurableObjectAlarm(stub)
    await expect.poll(() => socket.closed).toBe(4401)
    advanceTime(TOKEN_TRUST_MS)
    expect([other.closed, await readStatus(old), await readStatus(next)]).toEqual([null, 401, 200])
    const { entries } = (await call("/v1/audit?action=token_key.retired", { token: first })).json
    expect(entries).toMatchObject([{ target: "1", actor: { kind: "system" } }])
  })

  test("[TK11] a key that retires after its last token has expired ends nothing", async () => {
    const first = await createTenant("tk11b")
    await tokenWith(first, "ada")
    await rotateKeys(first)
    advanceTime(7 * 24 * 60 * 60_000)
    await runInDurableObject(env.TENANT.getByName("tk11b"), async (object: Tenant, { storage }) => {
      await object.alarm()
      expect(storage.sql.exec("SELECT * FROM user_notices").toArray()).toEqual([])
      expect(object.listTokenKeys()).toMatchObject([{ generation: 2 }])
      expect(await storage.getAlarm()).toBeNull()
    })
  })

  test("[TK4] another rotation never makes a key retire later", async () => {
    const first = await createTenant("tk4c")
    const [, before] = (await rotateKeys(first, { retire_seconds: 100 })).json.keys
    const after = (await rotateKeys(first, { retire_seconds: 500 })).json.keys
    expect(after.map(({ generation }: { generation: number }) => generation)).toEqual([3, 2, 1])
    expect(after[2].retires).toBe(before.retires)
    advanceTime(101_000)
    expect(await env.TENANT.getByName("tk4c").getAccess()).toMatchObject({ firstTokenKey: 2, newestTokenKey: 3 })
  })

  test("[TK4] only owners can rotate keys, and a refused body changes nothing", async () => {
    const first = await createTenant("tk4d")
    const admin = await tokenWith(first, "adm", { role: "admin" })
    expect(await rotateKeys(admin)).toEqual(refusal(403, "scope_denied"))
    for (const body of [{ retire_seconds: -1 }, { retire_seconds: 1e9 }, { retire: 0 }])
      expect(await rotateKeys(first, body)).toEqual(refusal(400, "field_invalid"))
    expect((await call("/v1/token-keys", { token: first })).json.keys).toHaveLength(1)
  })

  test("[TK5] a token signed with a key that this isolate doesn't know yet is accepted", async () => {
    const first = await createTenant("tk5")
    expect(await readStatus(await tokenWith(first, "ada"))).toBe(200)
    await env.TENANT.getByName("tk5").rotateTokenKeys({ kind: "operator", id: "", address: null }, 60_000)
    const key = await deriveTokenKey(SECRET, { tenant: "tk5", generation: 2 })
    const token = await new SignJWT({ tenant: "tk5", sub: "ada", exp: nowSeconds() + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "cuecard:tk5:2" })
      .sign(key)
    expect(await readStatus(token)).toBe(200)
    const next = await deriveTokenKey(SECRET, { tenant: "tk5", generation: 3 })
    const early = await new SignJWT({ tenant: "tk5", sub: "ada", exp: nowSeconds() + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "cuecard:tk5:3" })
      .sign(next)
    expect(await call("/v1/sessions", { token: early })).toEqual(refusal(401, "token_revoked"))
  })

  test("[TK6] at most MAX_TOKEN_KEYS keys are accepted at once, unless the others retire now", async () => {
    const first = await createTenant("tk6")
    for (let n = 1; n < MAX_TOKEN_KEYS; n++) expect((await rotateKeys(first)).status).toBe(200)
    expect(await rotateKeys(first)).toEqual(refusal(409, "token_keys_full"))
    expect((await rotateKeys(first, { retire_seconds: 0 })).json.keys).toMatchObject([
      { generation: MAX_TOKEN_KEYS + 1 },
    ])
    clearCachedAccess("tk6")
  })
})
