/**
 * foreign-tokens.test.ts: tests which tokens of OpenID providers are accepted, and to which tenant and user each of
 * them belongs.
 */

import { env } from "cloudflare:test"
import { beforeAll, describe, expect, test } from "vitest"
import { createForeignUserId, verifyForeignToken } from "../../worker/auth/issuer/foreign-token.ts"
import { hasDuplicateNames } from "../../worker/auth/issuer/token-parts.ts"
import type { Env } from "../../worker/env.ts"
import type { RemoteProvider } from "../support/oidc-client.ts"
import { call, nowSeconds, refusal } from "./http.ts"
import { AUDIENCE, foreignClaims, registerIssuer, startProvider, tokenOfRole } from "./oidc.ts"

const TENANT = "ft-acme"

let provider: RemoteProvider
/** A provider that another tenant registered. */
let other: RemoteProvider

beforeAll(async () => {
  ;[provider, other] = await Promise.all([startProvider(), startProvider()])
  await registerIssuer(TENANT, provider, { role_claim: "role", authorized_parties: ["web"] })
  await registerIssuer("ft-other", other)
})

test("[AL13] refused tokens from a tenant's provider are counted and recorded once a minute; expired tokens aren't", async () => {
  const own = await startProvider()
  await registerIssuer("ft-audit", own)
  const signChanged = async (claims: Record<string, unknown>) => await own.sign({ payload: foreignClaims(own, claims) })
  const expired = await signChanged({ exp: nowSeconds() - 60 })
  const headers = { "cf-connecting-ip": "203.0.113.9" }
  expect(await call("/v1/sessions", { token: expired, headers })).toEqual(refusal(401, "token_expired"))
  const wrong = `${(await signChanged({})).slice(0, -8)}AAAAAAAA`
  for (let n = 0; n < 5; n += 1)
    expect(await call("/v1/sessions", { token: wrong, headers })).toEqual(refusal(401, "token_invalid"))
  const actor = { kind: "anonymous", id: "", address: "203.0.113.0/24" } as const
  await verifyForeignToken(env as Env, wrong, Date.now() + 61_000, actor)
  const { entries } = (await call("/v1/audit", { token: await tokenOfRole("ft-audit", "owner") })).json
  const refused = { action: "token.refused", target: "idp", actor }
  expect(entries.slice(0, 2)).toMatchObject([
    { ...refused, details: { count: 5 } },
    { ...refused, details: { count: 1 } },
  ])
  expect(entries.filter(({ action }: { action: string }) => action === "token.refused")).toHaveLength(2)
})

const listSessions = (token: string) => call("/v1/sessions", { token })
const whoIs = async (token: string) => await verifyForeignToken(env as Env, token, Date.now())

function encodePart(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return btoa(unescape(encodeURIComponent(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

const signToken = (change: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  provider.sign({ header, payload: foreignClaims(provider, change) })

describe("a token of a registered issuer", () => {
  test.each(["RS256", "PS256", "ES256", "EdDSA"])("[OI5] is accepted if it is signed with %s", async (alg) => {
    expect((await listSessions(await signToken({}, { alg }))).status).toBe(200)
  })

  test.each([
    ["with several audiences", { aud: ["https://userinfo.example.com", AUDIENCE] }],
    ["issued to the client", { azp: "cuecard" }],
    ["issued to a listed party", { azp: "web" }],
    ["that was valid a moment ago", { exp: nowSeconds() - 2 }],
    ["that is valid in a moment", { nbf: nowSeconds() + 2 }],
    ["with a jti", { jti: "one" }],
    ["with scopes of the provider", { scope: "openid profile" }],
  ])("[OI5] is accepted %s", async (_name, change) => {
    // Compute the times again, because the table's times were computed when the file was loaded.
    const now = nowSeconds()
    const moved = Object.fromEntries(
      Object.entries(change).map(([name, value]) => [
        name,
        name === "exp" ? now - 2 : name === "nbf" ? now + 2 : value,
      ]),
    )
    expect((await listSessions(await signToken(moved))).status).toBe(200)
  })

  test.each(["JWT", "jwt", "at+jwt", "application/at+jwt"])("[OI5] is accepted with the type %s", async (typ) => {
    expect((await listSessions(await signToken({}, { typ }))).status).toBe(200)
  })

  test("[OI8] [OI17] belongs to the tenant that registered its issuer, whatever it claims", async () => {
    const claims = {
      tenant: "ft-other",
      scope: "admin",
      session: "s1",
      sid: "x",
      key: "k",
      user: "root",
      role: "owner",
    }
    const user = await createForeignUserId(provider.issuer, "sub", "ada")
    expect(await whoIs(await signToken(claims))).toEqual({
      ok: true,
      value: {
        tenant: TENANT,
        user,
        role: "member",
        token: null,
        issued: expect.any(Number),
        expires: expect.any(Number),
      },
    })
    expect(await call("/v1/issuers", { token: await signToken(claims) })).toEqual(refusal(403, "scope_denied"))
  })

  test("[OI8] [OI18] gives its user the role that it names, and two issuers never share a user", async () => {
    expect(await whoIs(await signToken({ role: ["viewer", "admin"] }))).toMatchObject({ value: { role: "admin" } })
    expect(await whoIs(await signToken({ role: "viewer" }))).toMatchObject({ value: { role: "viewer" } })
    expect(await whoIs(await signToken({ role: { admin: true } }))).toMatchObject({ value: { role: "member" } })
    const ids = await Promise.all([provider, other].map(({ issuer }) => createForeignUserId(issuer, "sub", "ada")))
    expect(new Set(ids).size).toBe(2)
  })

  test("[OI8] adds a user with name and role when it is first used; later tokens change nothing", async () => {
    await listSessions(await signToken({ sub: "first", name: "First\u202e Contact\n", role: "viewer" }))
    await listSessions(await signToken({ sub: "first", name: "Another", role: "admin" }))
    const id = await createForeignUserId(provider.issuer, "sub", "first")
    const users = await env.TENANT.getByName(TENANT).registerUser({ id })
    expect(users).toMatchObject({ id, name: "First Contact", role: "viewer", issuer: "idp", status: "active" })
  })

  test("[OI8] with the claim email, an unverified email address identifies nobody", async () => {
    const own = await startProvider()
    await registerIssuer("ft-email", own, { user_claim: "email" })
    const signEmail = (change: Record<string, unknown>) => own.sign({ payload: foreignClaims(own, change) })
    for (const email_verified of [true, "true"])
      expect((await listSessions(await signEmail({ email: "a@example.com", email_verified }))).status).toBe(200)
    const unverified = [false, "false", 1, null, undefined].map((email_verified) => ({
      email: "a@example.com",
      email_verified,
    }))
    for (const change of [...unverified, {}, { email: "" }, { email: 7 }])
      expect(await listSessions(await signEmail(change))).toEqual(refusal(401, "token_invalid"))
  })

  test("[OI9] is verified without a call to another object once its issuer and user are known", async () => {
    const token = await signToken({ sub: "warm" })
    await whoIs(token)
    const refuseCall = () => {
      throw new Error("another object was called")
    }
    const cold = {
      ...env,
      TENANT: { getByName: refuseCall },
      REGISTRY: { getByName: refuseCall },
      DIRECTORY: { getByName: refuseCall },
    }
    const before = await provider.listRequests()
    for (let i = 0; i < 20; i++)
      expect(await verifyForeignToken(cold as unknown as Env, token, Date.now())).toMatchObject({ ok: true })
    expect(await provider.listRequests()).toEqual(before)
  })
})

describe("tokens of unknown issuers", () => {
  function countRegistryCalls() {
    let count = 0
    const countLookup = (): string | null => {
      count++
      return null
    }
    const counting = { ...env, REGISTRY: { getByName: () => ({ lookup: countLookup }) } } as unknown as Env
    return { counting, readCount: () => count }
  }

  test("[OI13] are looked up for at most two audiences each, and each pair of issuer and audience only once", async () => {
    const { counting, readCount } = countRegistryCalls()
    const tokens = await Promise.all(
      [["a", "b"], ["a", "b", "c", "d", "e"], "a"].map((aud) => signToken({ iss: "https://nobody.example.com", aud })),
    )
    const verifyAll = async () => {
      for (const token of tokens) await verifyForeignToken(counting, token, Date.now())
    }
    await verifyAll()
    await verifyAll()
    // There is one registry for each region, and one for tenants without a region.
    expect(readCount()).toBe(2 * 5)
  })

  test("[OI13] don't evict known issuers from the cache", async () => {
    const known = await signToken({ sub: "kept" })
    await whoIs(known)
    const { counting } = countRegistryCalls()
    const [head = "", , signature = ""] = known.split(".")
    for (let i = 0; i < 1_000; i++) {
      const payload = encodePart(foreignClaims(provider, { aud: `unknown-${i}` }))
      await verifyForeignToken(counting, `${head}.${payload}.${signature}`, Date.now())
    }
    const refuseCall = () => {
      throw new Error("another object was called")
    }
    const cold = { ...env, TENANT: { getByName: refuseCall }, REGISTRY: { getByName: refuseCall } }
    expect(await verifyForeignToken(cold as unknown as Env, known, Date.now())).toMatchObject({ ok: true })
  })
})

test.each([
  ['{"a":1,"b":{"a":2}}', false],
  ['{"a":1,"a":2}', true],
  ['{"a":"a","b":"a"}', false],
  ['{"a":["a","a"]}', false],
  ['{"a" : 1, "\\u0061" : 2}', true],
  ['[{"a":1},{"a":2}]', false],
  ['{"a":{"x":1},"b":{"x":1,"x":2}}', true],
  ['{"a:\\"b":1,"a:":2}', false],
  ['{"a', true],
])("[OI5] whether %s contains a duplicate name is %s", (json, isDouble) => {
  expect(hasDuplicateNames(json)).toBe(isDouble)
})
