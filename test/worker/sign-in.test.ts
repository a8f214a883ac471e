/**
 * sign-in.test.ts: tests the redirects, cookies, errors and hosts of a sign-in at a real OpenID provider, without a
 * browser.
 */

import { env } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { SIGN_IN_MS } from "../../shared/limits.ts"
import { findDeploymentFault, getPageTenant } from "../../worker/env.ts"
import { MAX_TRANSACTIONS } from "../../worker/signin/sign-in-cookies.ts"
import { toLocalPath } from "../../worker/signin/sign-in-flow.ts"
import { connectProvider } from "../support/oidc-client.ts"
import { call, HOST, nowSeconds, refusal, tablesOf } from "./http.ts"
import { CLIENT_ID, registerIssuer, startProvider, TestBrowser, tokenOfRole } from "./oidc.ts"

afterEach(() => {
  vi.useRealTimers()
})

/** Returns the name of the cookie that belongs to the sign-in that a callback completes. */
function cookieOf(callback: string): string {
  return `__Host-cuecard-signin-${new URL(callback).searchParams.get("state")?.slice(0, 12)}`
}

const errorPath = (code: string) => `/#/signin-error/${code}`

describe("a sign-in", () => {
  test("[SI1] redirects to the provider and back, and the page gets a token of the tenant", async () => {
    const provider = await startProvider()
    await registerIssuer("si-first", provider, { label: "Example ID" })
    const browser = new TestBrowser("si-first")
    const listed = await browser.get("/auth/providers")
    expect(listed.json).toEqual({ tenant: "si-first", providers: [{ name: "idp", label: "Example ID" }] })
    expect(await browser.signIn("ada", { to: "/#/s/abc" })).toBe("/#/s/abc")
    const issued = await browser.post("/auth/token")
    const user = { id: expect.stringMatching(/^o_[\w-]{27}$/), name: "Ada Example", role: "member" }
    expect(issued).toMatchObject({ status: 200, json: { tenant: "si-first", user } })
    const { token, expires } = issued.json
    expect(expires).toBeLessThanOrEqual(nowSeconds() + 600)
    expect((await call("/v1/sessions", { token })).status).toBe(200)
    // The same person must be the same user the next time, and another person another user.
    const again = new TestBrowser("si-first")
    await again.signIn("ada")
    expect((await again.post("/auth/token")).json.user.id).toBe(issued.json.user.id)
    const other = new TestBrowser("si-first")
    await other.signIn("grace")
    expect((await other.post("/auth/token")).json.user.id).not.toBe(issued.json.user.id)
  })

  test("[SI1] uses PKCE, state and nonce, and needs no provider name if there is only one", async () => {
    const provider = await startProvider()
    await registerIssuer("si-asked", provider)
    const begun = await new TestBrowser("si-asked").get("/auth/login")
    const { origin, pathname, searchParams } = new URL(begun.headers.get("location") ?? "")
    expect(origin + pathname).toBe(`${provider.issuer}/auth`)
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: CLIENT_ID,
      response_type: "code",
      redirect_uri: `${HOST}/auth/callback/idp`,
      scope: "openid profile email",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    })
  })

  test("[SI1] works for a public client, and if the provider expects the secret in the body", async () => {
    const provider = await startProvider()
    await registerIssuer("si-public", provider, { client_id: "cuecard-public", client_secret: null })
    const browser = new TestBrowser("si-public")
    expect(await browser.signIn()).toBe("/")
    expect((await browser.post("/auth/token")).status).toBe(200)
  })

  test("[SI1] [OI18] assigns the role that the provider sends", async () => {
    const provider = await startProvider()
    await registerIssuer("si-role", provider, { role_claim: "role", roles: ["owner", "member", "viewer"] })
    for (const [login, role] of [
      ["owner-eve", "owner"],
      ["viewer-vic", "viewer"],
      ["admin-adi", "member"],
      ["ada", "member"],
    ] as const) {
      const browser = new TestBrowser("si-role")
      await browser.signIn(login)
      expect((await browser.post("/auth/token")).json.user.role, login).toBe(role)
    }
  })

  test("[SI2] can be completed only in the browser that began it, only once, and only in time", async () => {
    const provider = await startProvider()
    await registerIssuer("si-once", provider)
    const browser = new TestBrowser("si-once")
    const callback = await browser.beginSignIn()
    // In another browser, the callback's link must not sign anybody in.
    const otherBrowser = new TestBrowser("si-once")
    expect((await otherBrowser.get(callback)).headers.get("location")).toBe(errorPath("state_invalid"))
    expect(await otherBrowser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    const transaction = browser.jar.get(cookieOf(callback)) ?? ""
    expect((await browser.get(callback)).headers.get("location")).toBe("/")
    expect(browser.jar.get(cookieOf(callback))).toBeUndefined()
    // The user goes back in the browser history, but is already signed in, so there is nothing to do.
    expect((await browser.get(callback)).headers.get("location")).toBe("/")
    // Send the same code and state again, with a copy of the cookie.
    const thief = new TestBrowser("si-once")
    thief.jar.set(cookieOf(callback), transaction)
    expect((await thief.get(callback)).headers.get("location")).toBe(errorPath("provider_failed"))
    expect(await thief.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    const late = new TestBrowser("si-once")
    const lateCallback = await late.beginSignIn()
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + SIGN_IN_MS + 1 })
    expect((await late.get(lateCallback)).headers.get("location")).toBe(errorPath("state_invalid"))
  })

  test("[SI2] can be in progress in several tabs of one browser; beyond the limit, the oldest ends", async () => {
    const provider = await startProvider()
    await registerIssuer("si-tabs-two", provider)
    const browser = new TestBrowser("si-tabs-two")
    const [first, second] = [await browser.beginSignIn(), await browser.beginSignIn()]
    expect((await browser.get(first)).headers.get("location")).toBe("/")
    expect((await browser.get(second)).headers.get("location")).toBe("/")
    expect((await browser.post("/auth/token")).status).toBe(200)
    const many = new TestBrowser("si-tabs-two")
    const callbacks: string[] = []
    for (let n = 0; n <= MAX_TRANSACTIONS; n += 1) callbacks.push(await many.beginSignIn())
    expect(callbacks.filter((callback) => many.jar.get(cookieOf(callback)) !== undefined)).toEqual(callbacks.slice(1))
    expect((await many.get(callbacks[0] ?? "")).headers.get("location")).toBe(errorPath("state_invalid"))
    expect((await many.get(callbacks[1] ?? "")).headers.get("location")).toBe("/")
  })

  test("[SI2] fails with another state, another tenant's transaction or a changed cookie", async () => {
    const provider = await startProvider()
    await registerIssuer("si-state", provider)
    const browser = new TestBrowser("si-state")
    const callback = new URL(await browser.beginSignIn())
    const state = callback.searchParams.get("state") ?? ""
    callback.searchParams.set("state", "x".repeat(43))
    expect((await browser.get(callback.href)).headers.get("location")).toBe(errorPath("state_invalid"))
    // The sign-in to which the cookie belongs can still be completed.
    callback.searchParams.set("state", state)
    expect((await browser.get(callback.href)).headers.get("location")).toBe("/")
    const elsewhere = new TestBrowser("si-state-b")
    const begun = new TestBrowser("si-state")
    const address = await begun.beginSignIn()
    const cookie = begun.jar.get(cookieOf(address)) ?? ""
    elsewhere.jar.set(cookieOf(address), cookie)
    expect((await elsewhere.get(address)).headers.get("location")).toBe(errorPath("state_invalid"))
    begun.jar.set(cookieOf(address), `${cookie.slice(0, -4)}AAAA`)
    expect((await begun.get(address)).headers.get("location")).toBe(errorPath("state_invalid"))
    begun.jar.set(cookieOf(address), cookie)
    expect((await begun.get(`${address}&pad=${"x".repeat(9000)}`)).headers.get("location")).toBe(
      errorPath("state_invalid"),
    )
  })
})

test("[SI12] each provider redirects to its own callback URL, and to no other URL", async () => {
  const provider = await startProvider()
  await registerIssuer("si-mixed", provider)
  const browser = new TestBrowser("si-mixed")
  const callback = await browser.beginSignIn()
  expect(new URL(callback).pathname).toBe("/auth/callback/idp")
  expect((await browser.get("/auth/callback")).status).toBe(404)
  const mixed = callback.replace("/callback/idp", "/callback/another")
  expect((await browser.get(mixed)).headers.get("location")).toBe(errorPath("state_invalid"))
  expect((await provider.listRequests()).filter((request) => request.includes("/token"))).toEqual([])
})

describe("a failed sign-in", () => {
  test("[SI3] shows that the user declined", async () => {
    const provider = await startProvider()
    await registerIssuer("si-denied", provider)
    const browser = new TestBrowser("si-denied")
    expect(await browser.signIn("ada", { consent: "deny" })).toBe(errorPath("consent_denied"))
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test.each([
    ["a provider that is down", { outage: "down" }, "provider_unreachable"],
    ["a provider in maintenance", { outage: "error" }, "provider_failed"],
    ["a response that is too large", { path: "/token", body: "x".repeat(70_000) }, "provider_failed"],
    ["a redirect", { path: "/token", status: 307, location: "http://127.0.0.1:9/" }, "provider_failed"],
    ["nonsense", { path: "/token", body: "{}" }, "provider_failed"],
    ["a token for another client", { idToken: { aud: "another" } }, "identity_invalid"],
    ["a token of another issuer", { idToken: { iss: "https://evil.example.com" } }, "identity_invalid"],
    ["another nonce", { idToken: { nonce: "another" } }, "identity_invalid"],
    ["no nonce", { idToken: { nonce: null } }, "provider_failed"],
    ["no subject", { idToken: { sub: null } }, "provider_failed"],
    ["a token of the past", { idToken: { exp: 1_000_000_000 } }, "clock_skewed"],
    ["a token of the future", { idToken: { iat: 4_000_000_000 } }, "clock_skewed"],
    ["a token that is not valid yet", { idToken: { nbf: 4_000_000_000 } }, "clock_skewed"],
    ["another authorized party", { idToken: { azp: "another" } }, "identity_invalid"],
  ] as const)("[SI3] is reported after %s", async (_name, faults, code) => {
    const provider = await startProvider()
    const tenant = `si-fault-${new URL(provider.issuer).port}`
    await registerIssuer(tenant, provider)
    const browser = new TestBrowser(tenant)
    const callback = await browser.beginSignIn()
    await provider.setFaults(faults)
    expect((await browser.get(callback)).headers.get("location")).toBe(errorPath(code))
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[SI3] is reported for an unknown provider, a removed one, and a host without a tenant", async () => {
    const provider = await startProvider()
    await registerIssuer("si-gone", provider)
    const browser = new TestBrowser("si-gone")
    expect((await browser.get("/auth/login?provider=nope")).headers.get("location")).toBe(errorPath("provider_unknown"))
    const callback = await browser.beginSignIn()
    const token = await tokenOfRole("si-gone", "owner")
    await call("/v1/issuers/idp", { method: "DELETE", token })
    expect((await browser.get(callback)).headers.get("location")).toBe(errorPath("provider_unknown"))
    const nowhere = await call("/auth/login", { env: { AUTH: "jwt" } })
    expect(nowhere.headers.get("location")).toBe(errorPath("provider_unknown"))
    expect((await call("/auth/providers", { env: { AUTH: "jwt" } })).json).toEqual({ tenant: null, providers: [] })
  })

  test.each([
    ["a directory that crashes", () => Promise.reject(new Error("gone"))],
    ["a full list of revocations", async () => ({ ok: false, fault: { reason: "revocations_full", max: 1 } })],
  ])("[SI3] is reported after %s", async (name, addLogin) => {
    const tenant = `si-${name.replaceAll(" ", "-")}`
    await registerIssuer(tenant, await startProvider())
    const browser = new TestBrowser(tenant)
    const callback = await browser.beginSignIn()
    const over = { AUTH: "jwt", PAGE_TENANT: tenant, DIRECTORY: { getByName: () => ({ addLogin }) } }
    const failed = await call(callback, { env: over, headers: { cookie: browser.jar.header } })
    expect(failed.headers.get("location")).toBe(errorPath("internal"))
  })

  test("[SI3] [AL13] a replayed callback and an unknown provider are recorded; for an unknown tenant nothing is stored", async () => {
    await registerIssuer("si-replay", await startProvider())
    const callback = await new TestBrowser("si-replay").beginSignIn()
    await new TestBrowser("si-replay").get(callback)
    await new TestBrowser("si-replay").get("/auth/login?provider=Made-up")
    const token = await tokenOfRole("si-replay", "owner")
    const { entries } = (await call("/v1/audit?action=sign_in.failed", { token })).json
    expect(entries).toMatchObject([
      { target: null, details: { code: "provider_unknown" } },
      { target: null, details: { code: "state_invalid" } },
    ])
    await new TestBrowser("si-replay-nobody").get(callback)
    await new TestBrowser("si-replay-nobody").get("/auth/login?provider=idp")
    expect(await tablesOf(env.TENANT.getByName("si-replay-nobody"))).toEqual([])
  })

  test("[SI3] is recorded, without the provider's data", async () => {
    const provider = connectProvider((await startProvider()).issuer)
    await registerIssuer("si-audit", provider)
    const browser = new TestBrowser("si-audit")
    await browser.signIn("ada", { consent: "deny" })
    const { runInDurableObject } = await import("cloudflare:test")
    const rows = await runInDurableObject(env.TENANT.getByName("si-audit"), (_object, { storage }) =>
      storage.sql.exec("SELECT action, target, details FROM audit ORDER BY seq").toArray(),
    )
    expect(rows.at(-1)).toEqual({ action: "sign_in.failed", target: "idp", details: '{"code":"consent_denied"}' })
  })
})

describe("where a sign-in returns", () => {
  test.each([
    ["/", "/"],
    ["/#/s/abc", "/#/s/abc"],
    ["/admin?tab=users", "/admin?tab=users"],
    ["https://evil.example.com/", "/"],
    ["//evil.example.com/", "/"],
    ["/\\evil.example.com", "/"],
    ["/%2F/evil", "/%2F/evil"],
    ["/a/..//evil.example.com", "/"],
    ["javascript:alert(1)", "/"],
    ["/\t/evil.example.com", "/"],
    ["/auth/login", "/"],
    ["/x/../auth/callback", "/"],
    ["", "/"],
    [`/${"x".repeat(600)}`, "/"],
    ["/\u2028", "/"],
  ])("[SI4] with to=%j is %s", (to, path) => {
    expect(toLocalPath(to, HOST)).toBe(path)
  })
})

describe("requests from other sites", () => {
  test("[SI8] only the page can get a token or sign out", async () => {
    const provider = await startProvider()
    await registerIssuer("si-csrf", provider)
    const browser = new TestBrowser("si-csrf")
    await browser.signIn()
    for (const path of ["/auth/token", "/auth/logout"]) {
      for (const headers of [
        { origin: "https://evil.example.com", "sec-fetch-site": "cross-site" },
        { origin: "https://evil.cuecard.test", "sec-fetch-site": "same-site" },
        { origin: HOST, "sec-fetch-site": "cross-site" },
        { origin: "null", "sec-fetch-site": "cross-site" },
      ])
        expect(await browser.post(path, {}, headers)).toEqual(refusal(403, "origin_denied"))
      const typed = await browser.post(path, {}, { "content-type": "text/plain" })
      expect(typed).toEqual(refusal(415, "body_type_refused"))
      const options = { method: "POST", headers: { cookie: browser.jar.header }, body: "{}" }
      expect(await call(path, { ...options, env: { PAGE_TENANT: "si-csrf" } })).toEqual(refusal(403, "origin_denied"))
      expect((await browser.get(path)).status).toBe(404)
    }
    for (const dest of ["iframe", "image", "script", "empty"])
      expect(await browser.get("/auth/login", { "sec-fetch-dest": dest })).toEqual(refusal(403, "origin_denied"))
    const allowed = await browser.post("/auth/token", {})
    expect(allowed.status).toBe(200)
    expect(allowed.headers.get("access-control-allow-origin")).toBe(null)
  })

  test("[SI5] the cookie is for /auth only, and no script can read it", async () => {
    const provider = await startProvider()
    await registerIssuer("si-cookie", provider)
    const browser = new TestBrowser("si-cookie")
    const completed = await browser.get(await browser.beginSignIn())
    const cookies = completed.headers.getSetCookie()
    expect(cookies).toHaveLength(2)
    for (const cookie of cookies)
      expect(cookie).toMatch(
        /^__Host-cuecard(-signin-[\w-]{12})?=[\w-]*; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/,
      )
    expect(completed.headers.get("referrer-policy")).toBe("no-referrer")
    expect(completed.headers.get("cache-control")).toBe("no-store")
    for (const path of ["/v1/sessions", "/v1/settings", "/v1/issuers"])
      expect(await browser.get(path)).toEqual(refusal(401, "token_missing"))
    expect(JSON.stringify(cookies)).not.toContain("ada")
  })
})

describe("the tenant of a host", () => {
  const vars = { ENVIRONMENT: "local", AUTH: "jwt", PAGE_DOMAIN: "chat.test" }
  test.each([
    ["https://acme.chat.test/", "acme"],
    ["https://acme.eu.chat.test/", "eu.acme"],
    ["https://acme.fedramp-high.chat.test/", "fedramp-high.acme"],
    ["https://ACME.chat.test/", "acme"],
    ["https://chat.test/", null],
    ["https://acme.moon.chat.test/", null],
    ["https://a.b.eu.chat.test/", null],
    ["https://acmechat.test/", null],
    ["https://acme.chat.test.evil.example/", null],
    ["https://-a.chat.test/", null],
    ["https://a_b.chat.test/", null],
  ])("[SI10] for %s is %s", (url, tenant) => {
    expect(getPageTenant(vars, new URL(url))).toBe(tenant)
  })

  test("[SI10] a cookie of another tenant is not accepted", async () => {
    const provider = await startProvider()
    await registerIssuer("si-host-a", provider)
    const browser = new TestBrowser("si-host-a")
    await browser.signIn()
    const other = new TestBrowser("si-host-b")
    other.jar.set("__Host-cuecard", browser.jar.get("__Host-cuecard") ?? "")
    expect(await other.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect((await browser.post("/auth/token")).status).toBe(200)
  })

  test.each([
    [{ PAGE_DOMAIN: "chat.example.com" }, null],
    [{ PAGE_DOMAIN: "Chat.example.com" }, "PAGE_DOMAIN is not a domain in lower case"],
    [{ PAGE_DOMAIN: "example" }, "PAGE_DOMAIN is not a domain in lower case"],
    [{ PAGE_DOMAIN: ".example.com" }, "PAGE_DOMAIN is not a domain in lower case"],
    [{ PAGE_DOMAIN: "a.com;*" }, "PAGE_DOMAIN is not a domain in lower case"],
    [{ PAGE_DOMAIN: "example.com", PAGE_TENANT: "acme" }, "PAGE_DOMAIN and PAGE_TENANT are both set"],
    [{ PAGE_DOMAIN: "example.com", PAGE_ORIGIN: "https://example.com" }, "PAGE_DOMAIN and PAGE_ORIGIN are both set"],
    [
      { PAGE_DOMAIN: "example.com", CANVAS_ORIGIN: "https://canvas.example.com" },
      "CANVAS_ORIGIN is PAGE_DOMAIN or one of its subdomains",
    ],
    [{ PAGE_DOMAIN: "example.com", CANVAS_ORIGIN: "https://canvas.example.net" }, null],
  ])("[SI10] a deployment with %j: %s", (change, fault) => {
    const safe = { ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "0123456789".repeat(4) }
    expect(findDeploymentFault({ ...safe, ...change }, new URL("https://acme.example.com/"))).toBe(fault)
  })
})
