/** role-changes.test.ts: tests role changes while requests, sockets and sign-ins still have the old role. */

import { env, runDurableObjectAlarm } from "cloudflare:test"
import { decodeJwt } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { CLAIMED_ROLE_MS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { createForeignUserId } from "../../worker/auth/issuer/foreign-token.ts"
import type { Env } from "../../worker/env.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import { issuePageToken, signOut } from "../../worker/signin/page-token.ts"
import { readLoginCookie } from "../../worker/signin/sign-in-cookies.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { call, makeSession, nowSeconds, openSocket, refusal, SECRET } from "./http.ts"
import {
  CLIENT_ID,
  CLIENT_SECRET,
  foreignClaims,
  putIssuer,
  registerIssuer,
  startProvider,
  TestBrowser,
  tokenOfRole,
} from "./oidc.ts"
import { createTenant, postJson, tokenWith } from "./tenant-access.ts"

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const REVOKED = refusal(401, "token_revoked")

function advanceClock(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds })
}

const patchRole = async (tenant: string, user: string, role: Role) =>
  await call(`/v1/users/${user}`, {
    method: "PATCH",
    token: await tokenOfRole(tenant, "owner"),
    body: JSON.stringify({ role }),
  })

/** Changes a role as another isolate would, without clearing anything that this isolate caches. */
const changeElsewhere = async (tenant: string, user: string, role: Role) =>
  await env.TENANT.getByName(tenant).changeUser(
    { actor: { kind: "user", id: "boss", address: null }, role: "owner" },
    user,
    { role },
  )

describe("a user of an issuer who gets a lower role", () => {
  async function memberOf(tenant: string) {
    const provider = await startProvider()
    await registerIssuer(tenant, provider)
    const user = await createForeignUserId(provider.issuer, "sub", "ada")
    const signToken = () => provider.sign({ payload: foreignClaims(provider, { exp: nowSeconds() + 3600 }) })
    const id = await makeSession(await signToken())
    // Wait for the next second. `iat` is in whole seconds, so a token issued in this second would be revoked together
    // with the others.
    const signNext = async () => {
      const begun = nowSeconds()
      await expect.poll(nowSeconds).toBeGreaterThan(begun)
      return await signToken()
    }
    return { id, user, signNext }
  }

  const tryWrite = async (id: string, token: string): Promise<string | undefined> => {
    const { socket, received } = await openSocket(id, token)
    socket.send(JSON.stringify({ type: "send", id: "q1", content: "/say hi" }))
    await expect.poll(() => received.length).toBeGreaterThan(1)
    return received[1]
  }

  test("[US10] loses the right to write on new sockets at once, in the isolate that made the change", async () => {
    const { id, user, signNext } = await memberOf("us10a")
    expect((await patchRole("us10a", user, "viewer")).status).toBe(200)
    expect(await tryWrite(id, await signNext())).toBe("scope_denied")
  })

  test("[US10] is disconnected if an isolate that still caches the old role admitted the socket", async () => {
    const { id, user, signNext } = await memberOf("us10b")
    await changeElsewhere("us10b", user, "viewer")
    const token = await signNext()
    const { received } = await openSocket(id, token, null)
    await expect.poll(() => received).toEqual(["token_revoked"])
    advanceClock(TOKEN_TRUST_MS)
    expect(await tryWrite(id, token)).toBe("scope_denied")
  })
})

describe("a revocation while a token is being issued", () => {
  test("[US11] signing out everywhere revokes the token of the page", async () => {
    const provider = await startProvider()
    await registerIssuer("us11a", provider)
    const browser = new TestBrowser("us11a")
    await browser.signIn()
    const cookie = await readLoginCookie(SECRET, browser.jar.header)
    if (cookie === null) throw new Error("not signed in")
    const admit = Tenant.prototype.admitSignIn
    vi.spyOn(Tenant.prototype, "admitSignIn").mockImplementationOnce(async function (this: Tenant, user) {
      const admitted = await admit.call(this, user)
      await signOut(env as Env, cookie, true, SYSTEM_ACTOR, "https://cuecard.test")
      return admitted
    })
    const issued = await issuePageToken(env as Env, cookie, SYSTEM_ACTOR)
    if (!issued.ok) throw new Error(issued.fault.reason)
    advanceClock(TOKEN_TRUST_MS)
    expect(await call("/v1/sessions", { token: issued.value.body.token })).toEqual(REVOKED)
  })

  test("[US11] signing out everywhere revokes each sign-in by its id, whenever its tokens were issued", async () => {
    const provider = await startProvider()
    await registerIssuer("us11b", provider)
    const browser = new TestBrowser("us11b")
    await browser.signIn()
    const cookie = await readLoginCookie(SECRET, browser.jar.header)
    if (cookie === null) throw new Error("not signed in")
    await signOut(env as Env, cookie, true, SYSTEM_ACTOR, "https://cuecard.test")
    expect((await env.DIRECTORY.getByName(`us11b:${cookie.user}`).getRevocationState()).tokens).toEqual([cookie.login])
  })

  test("[US11] a new role revokes the token that a backend gets with the old one", async () => {
    const key = await createTenant("us11c")
    await tokenWith(key, "ada", { role: "admin" })
    const admit = Tenant.prototype.admitTokenUser
    vi.spyOn(Tenant.prototype, "admitTokenUser").mockImplementationOnce(function (this: Tenant, actor, user) {
      const admitted = admit.call(this, actor, user)
      return this.changeUser({ actor, role: "owner" }, "ada", { role: "viewer" }).then(() => admitted) as never
    })
    const token = await tokenWith(key, "ada", { ttl: 86_400 })
    advanceClock(TOKEN_TRUST_MS)
    expect(await call("/v1/users", { token })).toEqual(REVOKED)
    expect((await call("/v1/sessions", { token: await tokenWith(key, "ada") })).status).toBe(200)
  })

  test("[US11] an external token has the same issue time as the token that requested it", async () => {
    const key = await createTenant("us11d")
    const token = await tokenWith(key, "ada")
    const id = await makeSession(token)
    advanceClock(5_000)
    const external = await postJson(`/v1/sessions/${id}/external-token`, token)
    expect([decodeJwt(external.json.token).iat, external.status]).toEqual([decodeJwt(token).iat, 200])
  })
})

describe("a role that the provider sends", () => {
  async function claimedRole(tenant: string) {
    const provider = await startProvider()
    await registerIssuer(tenant, provider, { role_claim: "role" })
    const browser = new TestBrowser(tenant)
    await browser.signIn("admin-adi")
    const { user } = (await browser.post("/auth/token")).json
    expect(user.role).toBe("admin")
    return { provider, browser, user: user.id as string }
  }

  test("[US12] can't be changed by an owner, but the user's name can", async () => {
    const { user } = await claimedRole("us12a")
    expect(await patchRole("us12a", user, "viewer")).toEqual(refusal(409, "role_from_issuer"))
    const token = await tokenOfRole("us12a", "owner")
    const named = await call(`/v1/users/${user}`, { method: "PATCH", token, body: '{"name":"Adi","role":"admin"}' })
    expect(named).toMatchObject({ status: 200, json: { name: "Adi", role: "admin" } })
  })

  test("[US12] is listed as the provider last sent it; once no claim is configured, the listed role applies", async () => {
    const { provider, browser, user } = await claimedRole("us12b")
    const signToken = (role: string) => provider.sign({ payload: foreignClaims(provider, { sub: "admin-adi", role }) })
    advanceClock(TOKEN_TRUST_MS)
    expect((await call("/v1/sessions", { token: await signToken("viewer") })).status).toBe(200)
    expect(await env.TENANT.getByName("us12b").findUser(user)).toMatchObject({ role: "viewer" })
    await registerIssuer("us12b", provider)
    expect((await patchRole("us12b", user, "member")).json.role).toBe("member")
    vi.useRealTimers()
    await browser.signIn("admin-adi")
    expect((await browser.post("/auth/token")).json.user.role).toBe("member")
  })

  testInFull(
    "[US15] at a sign-in through another registration of the issuer is in the next token of the other sign-ins",
    async () => {
      const provider = await startProvider()
      await registerIssuer("us15b", provider)
      const browser = new TestBrowser("us15b")
      await browser.signIn("admin-adi")
      const { user } = (await browser.post("/auth/token")).json
      expect(user.role).toBe("member")
      const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, audience: "https://other.cuecard.test" }
      const put = await putIssuer(
        "us15b",
        { issuer: provider.issuer, ...client, role_claim: "role" },
        { name: "second" },
      )
      expect(put.status, put.text).toBe(200)
      const tenant = env.TENANT.getByName("us15b")
      const { generation } = (await tenant.getSignInClient("second")) as unknown as { generation: number }
      const admitSignIn = (role: Role, isNew: boolean) =>
        tenant.admitSignIn({ id: user.id, name: null, issuer: "second", generation, role, isNew })
      await admitSignIn("admin", true)
      await runDurableObjectAlarm(tenant)
      const asked = vi.spyOn(Tenant.prototype, "admitSignIn")
      const nextRole = async () => (await browser.post("/auth/token")).json.user.role
      await expect.poll(nextRole).toBe("admin")
      for (let i = 0; i < 3; i++) expect(await nextRole()).toBe("admin")
      expect(asked).toHaveBeenCalledTimes(1)
      // Later tokens of a sign-in must not send notifications. Otherwise, two sign-ins with different roles would
      // notify each other endlessly.
      await admitSignIn("viewer", false)
      await runDurableObjectAlarm(tenant)
      expect(await nextRole()).toBe("admin")
      vi.restoreAllMocks()
    },
  )

  test("[US13] is valid for CLAIMED_ROLE_MS; then the sign-in ends", async () => {
    const { browser } = await claimedRole("us13a")
    advanceClock(CLAIMED_ROLE_MS - 60_000)
    expect((await browser.post("/auth/token")).status).toBe(200)
    advanceClock(60_000)
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    vi.useRealTimers()
    await browser.signIn("admin-adi")
    expect((await browser.post("/auth/token")).json.user.role).toBe("admin")
  })
})
