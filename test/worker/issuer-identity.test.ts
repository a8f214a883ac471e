/**
 * issuer-identity.test.ts: tests that no claim, second registration or removed registration lets one user become
 * another.
 */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { MAX_FOREIGN_TOKEN_SECONDS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { createForeignUserId, verifyForeignToken } from "../../worker/auth/issuer/foreign-token.ts"
import type { Env } from "../../worker/env.ts"
import { readCachedConfig } from "../../worker/settings/config-cache.ts"
import { call, makeSession, nowSeconds, openSocket, refusal } from "./http.ts"
import { foreignClaims, putIssuer, registerIssuer, startProvider, TestBrowser, tokenOfRole } from "./oidc.ts"

const whoIs = async (token: string) => await verifyForeignToken(env as Env, token, Date.now())
const signInRequired = refusal(401, "sign_in_required")
const denied = refusal(403, "scope_denied")

afterEach(() => {
  vi.useRealTimers()
})

function advanceClock(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms })
}

describe("two registrations of one provider", () => {
  test("[OI10] with different user claims identify different users; the claim sub gives the same id as before", async () => {
    const provider = await startProvider()
    await registerIssuer("id-sub", provider)
    await registerIssuer("id-nick", provider, { audience: "nick", user_claim: "nickname" })
    const bySub = await whoIs(await provider.sign({ payload: foreignClaims(provider, { sub: "boss" }) }))
    const claims = { sub: "mallory", nickname: "boss", aud: "nick" }
    const byNickname = await whoIs(await provider.sign({ payload: foreignClaims(provider, claims) }))
    expect(bySub).toMatchObject({ value: { user: await createForeignUserId(provider.issuer, "sub", "boss") } })
    expect(byNickname).toMatchObject({
      value: { user: await createForeignUserId(provider.issuer, "nickname", "boss") },
    })
    const ids = ["sub", "nickname"].map((claim) => createForeignUserId(provider.issuer, claim, "boss"))
    expect(new Set(await Promise.all(ids)).size).toBe(2)
  })

  test("[OI10] in one tenant must have the same user claim and the same key URL", async () => {
    const provider = await startProvider()
    const { issuer } = provider
    await registerIssuer("id-same", provider)
    for (const [field, change] of [
      ["user_claim", { user_claim: "nickname" }],
      ["jwks_uri", { jwks_uri: `${issuer}/jwks` }],
    ] as const) {
      const body = { issuer, audience: "mine", ...change }
      expect(await putIssuer("id-same", body, { name: "mine" })).toEqual(refusal(400, "field_invalid", field))
    }
    expect((await putIssuer("id-same", { issuer, audience: "mine" }, { name: "mine" })).status).toBe(200)
  })

  test("[OI10] an administrator can add only a provider that the tenant has never had", async () => {
    const provider = await startProvider()
    const own = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` }
    await registerIssuer("id-admin", provider)
    const asAdmin = { role: "admin" } as const
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, { ...asAdmin, name: "mine" })).toEqual(denied)
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, asAdmin)).toEqual(denied)
    // This must still be refused after the provider has been removed.
    const token = await tokenOfRole("id-admin", "admin")
    expect((await call("/v1/issuers/idp", { method: "DELETE", token })).status).toBe(204)
    expect(await putIssuer("id-admin", { ...own, audience: "mine" }, { ...asAdmin, name: "mine" })).toEqual(denied)
    const another = await startProvider()
    const added = await putIssuer("id-admin", { issuer: another.issuer, audience: "new" }, { ...asAdmin, name: "new" })
    expect(added.status).toBe(200)
  })

  test("[OI10] an administrator can't add a provider to a tenant where users of unknown providers were imported", async () => {
    const { issuer } = await startProvider()
    await env.TENANT.getByName("id-import").registerUser({ id: "o_boss", role: "owner", issuer: "old" })
    const body = { issuer, audience: "mine" }
    expect(await putIssuer("id-import", body, { role: "admin" })).toEqual(denied)
    expect((await putIssuer("id-import", body)).status).toBe(200)
  })
})

describe("a provider of a tenant that is leaving", () => {
  test("[US16] adds no user, neither with a token nor at sign-in, and its existing users can still sign in and read", async () => {
    const tenant = "id-leaving"
    const provider = await startProvider()
    await registerIssuer(tenant, provider)
    const known = new TestBrowser(tenant)
    expect(await known.signIn()).toBe("/")
    const owner = await tokenOfRole(tenant, "owner")
    const left = await call("/v1/tenant", { method: "DELETE", token: owner, body: JSON.stringify({ confirm: tenant }) })
    expect(left.status).toBe(202)
    const users = await env.TENANT.getByName(tenant).listUsers("", "", 9)
    const foreign = await provider.sign({ payload: foreignClaims(provider, { sub: "new" }) })
    expect(await call("/v1/sessions", { token: foreign })).toEqual(refusal(403, "tenant_leaving"))
    const unknown = new TestBrowser(tenant)
    expect(await unknown.signIn("grace")).toBe("/#/signin-error/user_suspended")
    expect(await env.TENANT.getByName(tenant).listUsers("", "", 9)).toEqual(users)
    expect(await new TestBrowser(tenant).signIn()).toBe("/")
    const page = await known.post("/auth/token")
    expect((await call("/v1/sessions", { token: page.json.token })).status).toBe(200)
  })
})

describe("a removed or replaced provider", () => {
  async function useIssuer(tenant: string) {
    const provider = await startProvider()
    await registerIssuer(tenant, provider)
    const browser = new TestBrowser(tenant)
    await browser.signIn()
    const page = (await browser.post("/auth/token")).json
    const foreign = await provider.sign({
      payload: foreignClaims(provider, { sub: "grace", exp: nowSeconds() + 3600 }),
    })
    const sockets = await Promise.all(
      [page.token, foreign].map(async (token) => await openSocket(await makeSession(token), token)),
    )
    return { provider, browser, page, foreign, sockets }
  }

  async function expectEnded(
    tenant: string,
    { browser, page, foreign, sockets }: Awaited<ReturnType<typeof useIssuer>>,
  ) {
    expect(await browser.post("/auth/token")).toEqual(signInRequired)
    advanceClock(TOKEN_TRUST_MS + 1_000)
    await runDurableObjectAlarm(env.TENANT.getByName(tenant))
    await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([4401, 4401])
    advanceClock(2 * TOKEN_TRUST_MS)
    expect(await call("/v1/sessions", { token: page.token })).toEqual(refusal(401, "token_revoked"))
    expect((await call("/v1/sessions", { token: foreign })).status).toBe(401)
  }

  test("[OI11] ends the sign-ins, tokens and sockets of its users when removed, but of no other issuer's users", async () => {
    const used = await useIssuer("id-removed")
    const other = await startProvider()
    await registerIssuerAs("id-removed", "other", other)
    const kept = await other.sign({ payload: foreignClaims(other) })
    expect((await call("/v1/sessions", { token: kept })).status).toBe(200)
    const token = await tokenOfRole("id-removed", "owner")
    expect((await call("/v1/issuers/idp", { method: "DELETE", token })).status).toBe(204)
    await expectEnded("id-removed", used)
    expect((await call("/v1/sessions", { token: kept })).status).toBe(200)
  })

  test("[US17] ends the tokens and sockets of a user who was added without a provider", async () => {
    const tenant = "id-nameless"
    const tenantStub = env.TENANT.getByName(tenant)
    const provider = await startProvider()
    // The user was added before the first sign-in, so the row names no provider.
    const user = await createForeignUserId(provider.issuer, "sub", "ada")
    await tenantStub.registerUser({ id: user })
    await registerIssuer(tenant, provider)
    const browser = new TestBrowser(tenant)
    await browser.signIn()
    const page = (await browser.post("/auth/token")).json
    expect(page.user.id).toBe(user)
    const socket = await openSocket(await makeSession(page.token), page.token)
    expect(await tenantStub.findUser(user)).toMatchObject({ issuer: null })
    const token = await tokenOfRole(tenant, "owner")
    expect((await call("/v1/issuers/idp", { method: "DELETE", token })).status).toBe(204)
    advanceClock(TOKEN_TRUST_MS + 1_000)
    await runDurableObjectAlarm(tenantStub)
    await expect.poll(() => socket.closed).toBe(4401)
    advanceClock(2 * TOKEN_TRUST_MS)
    expect(await call("/v1/sessions", { token: page.token })).toEqual(refusal(401, "token_revoked"))
  })

  test("[US18] causes no token to be issued after TOKEN_TRUST_MS, even in an isolate that still has the provider in its cache", async () => {
    const tenant = "id-cached"
    const provider = await startProvider()
    await registerIssuer(tenant, provider)
    const browser = new TestBrowser(tenant)
    await browser.signIn()
    expect((await browser.post("/auth/token")).status).toBe(200)
    const tenantStub = env.TENANT.getByName(tenant)
    const client = await tenantStub.getSignInClient("idp")
    const token = await tokenOfRole(tenant, "owner")
    expect((await call("/v1/issuers/idp", { method: "DELETE", token })).status).toBe(204)
    // Only the isolate of the tenant's object removes the provider from its cache.
    advanceClock(TOKEN_TRUST_MS + 1_000)
    await readCachedConfig(tenant, "client idp", async () => client)
    expect(await browser.post("/auth/token")).toEqual(signInRequired)
  })

  test("[OI11] [OI19] has the same effect if another provider is registered under its name; a sign-in in progress ends too", async () => {
    const used = await useIssuer("id-replaced")
    const begun = new TestBrowser("id-replaced")
    const callback = await begun.beginSignIn()
    const next = await startProvider()
    await registerIssuer("id-replaced", next)
    expect((await begun.get(callback)).headers.get("location")).toBe("/#/signin-error/provider_unknown")
    expect((await next.listRequests()).filter((request) => request.startsWith("POST"))).toEqual([])
    await expectEnded("id-replaced", used)
  })

  test("[OI19] ends nothing if only its label, name claim, scope or secret changes", async () => {
    const { provider, browser, page } = await useIssuer("id-label")
    await registerIssuer("id-label", provider, { label: "New", name_claim: "nickname", scopes: "openid" })
    expect((await browser.post("/auth/token")).status).toBe(200)
    advanceClock(2 * TOKEN_TRUST_MS)
    await runDurableObjectAlarm(env.TENANT.getByName("id-label"))
    expect((await call("/v1/sessions", { token: page.token })).status).toBe(200)
    vi.useRealTimers()
    await registerIssuer("id-label", provider, { role_claim: "role" })
    expect(await browser.post("/auth/token")).toEqual(signInRequired)
  })

  test("[OI12] a token that is valid for years is accepted for a day", async () => {
    const provider = await startProvider()
    await registerIssuer("id-long", provider)
    const iat = nowSeconds()
    const token = await provider.sign({ payload: foreignClaims(provider, { iat, exp: iat + 10 * 365 * 86_400 }) })
    expect(await whoIs(token)).toMatchObject({ value: { expires: iat + MAX_FOREIGN_TOKEN_SECONDS } })
    advanceClock((MAX_FOREIGN_TOKEN_SECONDS + 10) * 1000)
    expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_expired"))
  })
})

async function registerIssuerAs(tenant: string, name: string, { issuer }: { readonly issuer: string }) {
  expect((await putIssuer(tenant, { issuer, audience: "https://api.cuecard.test" }, { name })).status).toBe(200)
}

describe("claims that an issuer requires", () => {
  test("[OI14] refuse users who don't have them, both with tokens and at sign-in", async () => {
    const provider = await startProvider()
    const required_claims = { hd: ["example.com", "example.org"], groups: "staff" }
    expect(await registerIssuer("id-hd", provider, { required_claims })).toMatchObject({ required_claims })
    const listSessions = async (claims: Record<string, unknown>) =>
      await call("/v1/sessions", { token: await provider.sign({ payload: foreignClaims(provider, claims) }) })
    expect((await listSessions({ hd: "example.org", groups: ["all", "staff"] })).status).toBe(200)
    for (const claims of [
      {},
      { hd: "example.org" },
      { hd: "evil.com", groups: "staff" },
      { hd: "example.org", groups: ["staff2"] },
      { hd: { "example.org": true }, groups: "staff" },
      { hd: "example.com,example.org", groups: "staff" },
    ])
      expect(await listSessions(claims)).toEqual(refusal(401, "token_invalid"))
    const browser = new TestBrowser("id-hd")
    expect(await browser.signIn()).toBe("/#/signin-error/identity_invalid")
    // Require a claim that the test provider sends.
    await registerIssuer("id-hd", provider, { required_claims: { email_verified: "true" } })
    expect(await browser.signIn()).toBe("/")
  })

  test.each([
    [{ hd: 7 }, "required_claims.hd"],
    [{ hd: [] }, "required_claims.hd"],
    [Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`c${i}`, "x"])), "required_claims"],
  ])("[OI14] %j is an error", async (required_claims, field) => {
    const body = { issuer: "http://127.0.0.1:1", audience: "a", required_claims }
    expect(await putIssuer("id-bad", body)).toEqual(refusal(400, "field_invalid", field))
  })
})

test("[OI2] a secret that can't be decrypted doesn't turn the client into a public client", async () => {
  const provider = await startProvider()
  await registerIssuer("id-secret", provider)
  await runInDurableObject(env.TENANT.getByName("id-secret"), (_object, { storage }) => {
    storage.sql.exec("UPDATE issuers SET secret = 'x'")
  })
  const begun = await new TestBrowser("id-secret").get("/auth/login")
  expect(begun.headers.get("location")).toBe("/#/signin-error/internal")
})
