/** login-tokens.test.ts: tests what the server reads for each token of a sign-in, and the provider's sign-out. */

import { env } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { Directory } from "../../worker/directory/directory-object.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { call, refusal, roleToken } from "./http.ts"
import { CLIENT_ID, putIssuer, registerIssuer, startProvider, TestBrowser, tokenOfRole } from "./oidc.ts"

const COOKIE = "__Host-cuecard"

afterEach(() => {
  vi.useRealTimers()
})

async function signedIn(tenant: string, login = "ada") {
  const provider = await startProvider()
  await registerIssuer(tenant, provider)
  const browser = new TestBrowser(tenant)
  await browser.signIn(login)
  const signInAgain = async (): Promise<TestBrowser> => {
    const next = new TestBrowser(tenant)
    await next.signIn(login)
    return next
  }
  return { browser, signInAgain, provider }
}

const tokenFrom = async (browser: TestBrowser): Promise<string> => (await browser.post("/auth/token")).json.token

describe("the provider's sign-out", () => {
  async function logoutFrom(
    tenant: string,
    change: Record<string, unknown>,
    body: object = {},
    beforeLogout: () => void = () => {},
  ) {
    const provider = await startProvider()
    await registerIssuer(tenant, provider, change)
    const browser = new TestBrowser(tenant)
    await browser.signIn()
    const token = await tokenFrom(browser)
    beforeLogout()
    const { status, json } = await browser.post("/auth/logout", body)
    // The sign-in must have ended in every case.
    expect((await call("/v1/sessions", { token })).status).toBe(401)
    expect(browser.jar.get(COOKIE)).toBeUndefined()
    return { status, json, provider }
  }

  test("[SI13] is the next step after signing out if the issuer is registered with `logout`; its URL names the client and the page to return to", async () => {
    for (const [at, body] of [{}, { everywhere: true }].entries()) {
      const { status, json, provider } = await logoutFrom(`si13-${at}`, { logout: true }, body)
      expect(status).toBe(200)
      const { origin, pathname, searchParams } = new URL(json.location)
      expect(`${origin}${pathname}`).toBe(`${provider.issuer}/session/end`)
      expect(Object.fromEntries(searchParams)).toEqual({
        client_id: CLIENT_ID,
        post_logout_redirect_uri: "https://cuecard.test/",
      })
    }
  })

  test("[SI13] is skipped by default, for a provider that has no sign-out URL, and while the tenant can't be reached", async () => {
    expect((await logoutFrom("si13-off", {})).status).toBe(204)
    expect((await logoutFrom("si13-false", { logout: false })).status).toBe(204)
    const get = Tenant.prototype.getSignInClient
    vi.spyOn(Tenant.prototype, "getSignInClient").mockImplementation(async function (this: Tenant, name) {
      const client = await get.call(this, name)
      if (client === null || client === "secret_unreadable") return client
      const { end_session_endpoint: _end, ...metadata } = client.metadata
      return { ...client, metadata }
    })
    expect((await logoutFrom("si13-none", { logout: true })).status).toBe(204)
    let isAway = false
    vi.spyOn(Tenant.prototype, "getSignInClient").mockImplementation(async function (this: Tenant, name) {
      if (isAway) throw new Error("away")
      return await get.call(this, name)
    })
    const takeTenantAway = (): void => {
      isAway = true
      // By then, the configuration from the sign-in must be read again.
      vi.useFakeTimers({ now: Date.now() + 4 * 60_000, toFake: ["Date"] })
    }
    expect((await logoutFrom("si13-away", { logout: true }, {}, takeTenantAway)).status).toBe(204)
    vi.restoreAllMocks()
  })

  test("[SI13] a registration can turn it on and off without ending sign-ins; `logout` must be a boolean", async () => {
    const { browser, provider } = await signedIn("si13-change")
    expect((await registerIssuer("si13-change", provider, { logout: true })).logout).toBe(true)
    expect((await browser.post("/auth/token")).status).toBe(200)
    expect((await registerIssuer("si13-change", provider)).logout).toBe(false)
    expect((await browser.post("/auth/token")).status).toBe(200)
    const put = await putIssuer("si13-bad", { issuer: provider.issuer, audience: "a", logout: "yes" })
    expect(put).toEqual(refusal(400, "field_invalid"))
  })
})

describe("what is read with each token", () => {
  test("[SI11] a removed issuer ends its sign-ins", async () => {
    const { browser } = await signedIn("si-removed")
    const token = await tokenOfRole("si-removed", "owner")
    await call("/v1/issuers/idp", { method: "DELETE", token })
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[CM5] [SI11] the tenant is called for the first token, after ADMISSION_MS and after a change, and not in between", async () => {
    const { browser } = await signedIn("si-asked")
    const asked = vi.spyOn(Tenant.prototype, "admitSignIn")
    const { user } = (await browser.post("/auth/token")).json
    for (let i = 0; i < 3; i++) await browser.post("/auth/token")
    expect(asked).toHaveBeenCalledTimes(1)
    vi.useFakeTimers({ now: Date.now() + 11 * 3_600_000, toFake: ["Date"] })
    await browser.post("/auth/token")
    expect(asked).toHaveBeenCalledTimes(1)
    vi.setSystemTime(Date.now() + 2 * 3_600_000)
    await browser.post("/auth/token")
    expect(asked).toHaveBeenCalledTimes(2)
    vi.useRealTimers()
    const owner = await roleToken("si-asked", "olga", "owner")
    const change = { method: "PATCH", token: owner, body: '{"role":"viewer"}' }
    expect((await call(`/v1/users/${user.id}`, change)).status).toBe(200)
    await expect.poll(async () => (await browser.post("/auth/token")).json.user.role).toBe("viewer")
    vi.restoreAllMocks()
  })

  test("[US15] a new name is in the next token of a sign-in; no token is revoked, and the tenant is called only once for it", async () => {
    const { browser } = await signedIn("us15a")
    const token = await tokenFrom(browser)
    const { user } = (await browser.post("/auth/token")).json
    const asked = vi.spyOn(Tenant.prototype, "admitSignIn")
    const owner = await roleToken("us15a", "olga", "owner")
    const change = { method: "PATCH", token: owner, body: '{"name":"Ada, Countess"}' }
    expect((await call(`/v1/users/${user.id}`, change)).status).toBe(200)
    for (let i = 0; i < 3; i++) expect((await browser.post("/auth/token")).json.user.name).toBe("Ada, Countess")
    expect(asked).toHaveBeenCalledTimes(1)
    expect((await call("/v1/sessions", { token })).status).toBe(200)
    vi.restoreAllMocks()
  })

  test("[US15] a new name doesn't replace a pending notice to the directory that revokes the user's tokens", async () => {
    const { browser } = await signedIn("us15c")
    const token = await tokenFrom(browser)
    const { user } = (await browser.post("/auth/token")).json
    const owner = await roleToken("us15c", "olga", "owner")
    const patchUser = (body: string) => call(`/v1/users/${user.id}`, { method: "PATCH", token: owner, body })
    vi.spyOn(Directory.prototype, "applyUserState").mockImplementationOnce(() => {
      throw new Error("unreachable")
    })
    expect((await patchUser('{"role":"viewer"}')).status).toBe(200)
    expect((await patchUser('{"name":"Ada"}')).status).toBe(200)
    await expect.poll(async () => (await call("/v1/sessions", { token })).status).toBe(401)
    vi.restoreAllMocks()
  })

  test("[SI11] [OI18] the user has the stored role, but never a higher one than the issuer can assign", async () => {
    const { browser, provider } = await signedIn("si-roles")
    const { user } = (await browser.post("/auth/token")).json
    const { runInDurableObject } = await import("cloudflare:test")
    const setUser = async (column: string, value: string): Promise<void> => {
      await runInDurableObject(env.TENANT.getByName("si-roles"), (_object, { storage }) => {
        storage.sql.exec(`UPDATE users SET ${column} = ? WHERE id = ?`, value, user.id)
      })
      // Raise the version in the directory, as an administrator's change does.
      await runInDurableObject(env.DIRECTORY.getByName(`si-roles:${user.id}`), (_object, { storage }) => {
        storage.sql.exec("UPDATE account SET version = version + 1, suspended = ?", value === "suspended" ? 1 : 0)
      })
    }
    const roleNow = async () => (await browser.post("/auth/token")).json.user.role
    await setUser("role", "admin")
    expect(await roleNow()).toBe("admin")
    await setUser("role", "owner")
    expect(await roleNow()).toBe("admin")
    await registerIssuer("si-roles", provider, { roles: ["owner", "member"] })
    await browser.signIn()
    expect(await roleNow()).toBe("owner")
    await setUser("role", "admin")
    expect(await roleNow()).toBe("member")
    await setUser("status", "suspended")
    expect(await browser.post("/auth/token")).toEqual(refusal(403, "user_suspended"))
    const again = new TestBrowser("si-roles")
    expect(await again.signIn()).toBe("/#/signin-error/user_suspended")
    await setUser("status", "active")
    expect(await roleNow()).toBe("member")
    await setUser("status", "erasing")
    await runInDurableObject(env.DIRECTORY.getByName(`si-roles:${user.id}`), (_object, { storage }) => {
      storage.sql.exec("UPDATE account SET registered = 0")
    })
    expect(await new TestBrowser("si-roles").signIn()).toBe("/#/signin-error/user_erased")
  })
})
