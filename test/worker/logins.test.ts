/**
 * logins.test.ts: tests a sign-in from start to end: rotation of its secret, copies of its cookie, limits, and signing
 * out.
 */

import { env, evictDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { LOGIN_IDLE_MS, LOGIN_MS, LOGIN_OVERLAP_MS, PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import { MAX_LOGINS } from "../../worker/directory/login-rows.ts"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { call, makeSession, openSocket, refusal } from "./http.ts"
import { registerIssuer, startProvider, TestBrowser, tokenOfRole } from "./oidc.ts"

const COOKIE = "__Host-cuecard"
const DAY_MS = 24 * 60 * 60_000

afterEach(() => {
  vi.useRealTimers()
})

function advanceClock(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms })
}

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

function copyOf(tenant: string, browser: TestBrowser): TestBrowser {
  const copy = new TestBrowser(tenant)
  copy.jar.set(COOKIE, browser.jar.get(COOKIE) ?? "")
  return copy
}

const tokenFrom = async (browser: TestBrowser): Promise<string> => (await browser.post("/auth/token")).json.token

describe("the secret of a cookie", () => {
  test("[SI7] is replaced by each use; two tabs at the same time get the same next secret", async () => {
    const { browser } = await signedIn("si-tabs")
    const first = browser.jar.get(COOKIE)
    const tabs = [copyOf("si-tabs", browser), copyOf("si-tabs", browser), copyOf("si-tabs", browser)]
    const issued = await Promise.all(tabs.map((tab) => tab.post("/auth/token")))
    expect(issued.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(tabs.map((tab) => tab.jar.get(COOKIE))).not.toContain(first)
    // The cookie from whichever response came last must still work after the overlap.
    advanceClock(LOGIN_OVERLAP_MS + 1)
    for (const tab of tabs) expect((await copyOf("si-tabs", tab).post("/auth/token")).status).toBe(200)
  })

  test("[SI7] stays usable after a lost response", async () => {
    const { browser } = await signedIn("si-lost")
    expect((await copyOf("si-lost", browser).post("/auth/token")).status).toBe(200)
    advanceClock(LOGIN_OVERLAP_MS - 1_000)
    expect((await browser.post("/auth/token")).status).toBe(200)
    advanceClock(LOGIN_OVERLAP_MS + 1)
    expect((await browser.post("/auth/token")).status).toBe(200)
  })

  test("[SI7] ends the sign-in and revokes its tokens when an old secret is used, whoever uses it", async () => {
    const { browser, signInAgain } = await signedIn("si-stolen")
    const other = await signInAgain()
    const otherToken = await tokenFrom(other)
    const thief = copyOf("si-stolen", browser)
    await browser.post("/auth/token")
    const token = await tokenFrom(browser)
    expect((await call("/v1/sessions", { token })).status).toBe(200)
    // The thief is two secrets behind.
    const refused = await thief.post("/auth/token")
    expect(refused).toEqual(refusal(401, "sign_in_required"))
    expect(thief.jar.get(COOKIE)).toBeUndefined()
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    advanceClock(TOKEN_TRUST_MS)
    expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_revoked"))
    // Another sign-in of the same person must continue.
    expect((await call("/v1/sessions", { token: otherToken })).status).toBe(200)
    expect((await other.post("/auth/token")).status).toBe(200)
  })

  test("[SI7] [AL13] is recorded once, with the user, when a copied cookie is used", async () => {
    const { browser } = await signedIn("si-copied")
    const { user } = (await browser.post("/auth/token")).json
    const thief = copyOf("si-copied", browser)
    await browser.post("/auth/token")
    await browser.post("/auth/token")
    const headers = { "cf-connecting-ip": "203.0.113.9" }
    expect(await thief.post("/auth/token", {}, headers)).toEqual(refusal(401, "sign_in_required"))
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    const token = await tokenOfRole("si-copied", "owner")
    const { entries } = (await call("/v1/audit?action=sign_in.copied", { token })).json
    const actor = { kind: "anonymous", id: "", address: "203.0.113.0/24" }
    expect(entries).toMatchObject([{ target: user.id, actor }])
  })

  test("[SI7] detects a copied cookie even if the copy is used before the original", async () => {
    const { browser } = await signedIn("si-second")
    const thief = copyOf("si-second", browser)
    await thief.post("/auth/token")
    const stolen = await tokenFrom(thief)
    advanceClock(LOGIN_OVERLAP_MS + 1)
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect(await thief.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect(await call("/v1/sessions", { token: stolen })).toEqual(refusal(401, "token_revoked"))
  })

  test("[SI7] is stored only as a hash, and survives an eviction of the directory", async () => {
    const { browser } = await signedIn("si-hash")
    const { user } = (await browser.post("/auth/token")).json
    const directory = env.DIRECTORY.getByName(`si-hash:${user.id}`)
    const { runInDurableObject } = await import("cloudflare:test")
    const rows = await runInDurableObject(directory, (_object, { storage }) =>
      storage.sql.exec("SELECT hash, previous, issuer FROM logins").toArray(),
    )
    expect(rows).toEqual([
      { hash: expect.stringMatching(/^[\w-]{43}$/), previous: expect.stringMatching(/^[\w-]{43}$/), issuer: "idp" },
    ])
    await evictDurableObject(directory)
    expect((await browser.post("/auth/token")).status).toBe(200)
  })
})

describe("how long a sign-in lasts", () => {
  test("[SI6] it ends after a month without use", async () => {
    const { browser, signInAgain } = await signedIn("si-idle")
    const other = await signInAgain()
    advanceClock(LOGIN_IDLE_MS - 60_000)
    expect((await browser.post("/auth/token")).status).toBe(200)
    advanceClock(61_000)
    expect(await other.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect((await browser.post("/auth/token")).status).toBe(200)
  })

  test("[SI6] it ends after three months, even if it is used", async () => {
    const { browser } = await signedIn("si-absolute")
    const begun = Date.now()
    for (let day = 20; day < 90; day += 20) {
      vi.useFakeTimers({ toFake: ["Date"], now: begun + day * DAY_MS })
      expect((await browser.post("/auth/token")).status).toBe(200)
    }
    vi.useFakeTimers({ toFake: ["Date"], now: begun + LOGIN_MS + 10_000 })
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[SI6] beyond the limit, a new sign-in ends the least recently used one", async () => {
    const { browser } = await signedIn("si-many")
    const { user } = (await browser.post("/auth/token")).json
    const directory = env.DIRECTORY.getByName(`si-many:${user.id}`)
    for (let i = 0; i < MAX_LOGINS; i++) {
      advanceClock(1_000)
      await directory.addLogin({ id: `login-${i}`, hash: `hash-${i}`, issuer: "idp", generation: 1, role: null })
    }
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    const useLogin = (i: number) => directory.useLogin(`login-${i}`, { presented: `hash-${i}`, next: "next" })
    expect(await useLogin(0)).toMatchObject({ ok: true })
    expect((await directory.getRevocationState()).tokens).toHaveLength(1)
  })

  test("[SI2] an id is never used for a second sign-in, even after the first has ended", async () => {
    const directory = env.DIRECTORY.getByName("si-ids:ada")
    const login = { id: "one", hash: "hash", issuer: "idp", generation: 1, role: null }
    expect(await directory.addLogin(login)).toMatchObject({ ok: true })
    expect(await directory.addLogin(login)).toMatchObject({ fault: { reason: "sign_in_required" } })
    await directory.endLogin("one", "hash", false)
    expect(await directory.addLogin(login)).toMatchObject({ fault: { reason: "sign_in_required" } })
  })

  test("[SI5] the tokens of a sign-in are valid for ten minutes and contain its id", async () => {
    const { browser } = await signedIn("si-short")
    const token = await tokenFrom(browser)
    const claims = JSON.parse(atob(token.split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/") ?? ""))
    expect(claims).toMatchObject({ sid: expect.stringMatching(/^[\w-]{22}$/), role: "member" })
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(PAGE_TOKEN_SECONDS)
    advanceClock((PAGE_TOKEN_SECONDS + 6) * 1_000)
    expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_expired"))
    expect((await call("/v1/sessions", { token: await tokenFrom(browser) })).status).toBe(200)
  })
})

describe("signing out", () => {
  test("[SI9] ends the sign-in, its tokens and its sockets, but no other sign-in", async () => {
    const { browser, signInAgain } = await signedIn("si-out")
    const other = await signInAgain()
    const [token, otherToken] = [await tokenFrom(browser), await tokenFrom(other)]
    const id = await makeSession(token)
    const [socket, otherSocket] = [await openSocket(id, token), await openSocket(id, otherToken)]
    const gone = await browser.post("/auth/logout", {})
    expect(gone.status).toBe(204)
    expect(browser.jar.get(COOKIE)).toBeUndefined()
    await expect.poll(() => socket.closed).toBe(4401)
    expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_revoked"))
    expect(otherSocket.closed).toBe(null)
    expect((await call("/v1/sessions", { token: otherToken })).status).toBe(200)
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    // Repeating the request must change nothing.
    expect((await browser.post("/auth/logout", {})).status).toBe(204)
    otherSocket.socket.close()
  })

  test("[SI9] another tab with the old cookie stays signed out", async () => {
    const { browser } = await signedIn("si-tab-out")
    const tab = copyOf("si-tab-out", browser)
    await browser.post("/auth/logout", {})
    expect(await tab.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[SI9] everywhere ends all sign-ins, tokens and sockets of the user, but nobody else's", async () => {
    const { browser, signInAgain } = await signedIn("si-all")
    const other = await signInAgain()
    const grace = new TestBrowser("si-all")
    await grace.signIn("grace")
    const [token, otherToken, graceToken] = [await tokenFrom(browser), await tokenFrom(other), await tokenFrom(grace)]
    const id = await makeSession(otherToken)
    const socket = await openSocket(id, otherToken)
    expect((await browser.post("/auth/logout", { everywhere: true })).status).toBe(204)
    await expect.poll(() => socket.closed).toBe(4401)
    for (const revoked of [token, otherToken])
      expect(await call("/v1/sessions", { token: revoked })).toEqual(refusal(401, "token_revoked"))
    expect(await other.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect((await call("/v1/sessions", { token: graceToken })).status).toBe(200)
    expect((await grace.post("/auth/token")).status).toBe(200)
    // Signing in again must work at once.
    const again = await signInAgain()
    expect((await call("/v1/sessions", { token: await tokenFrom(again) })).status).toBe(200)
  })

  test("[SI9] everywhere is refused if this sign-in has ended or its cookie is an old copy; the other sign-ins continue", async () => {
    const { browser, signInAgain } = await signedIn("si-late")
    const [ended, other] = [copyOf("si-late", browser), await signInAgain()]
    await browser.post("/auth/logout", {})
    expect(await ended.post("/auth/logout", { everywhere: true })).toEqual(refusal(401, "sign_in_required"))
    expect(ended.jar.get(COOKIE)).toBeUndefined()
    expect(await ended.post("/auth/logout", { everywhere: true })).toEqual(refusal(401, "sign_in_required"))
    expect((await ended.post("/auth/logout", {})).status).toBe(204)
    const [third, old] = [await signInAgain(), copyOf("si-late", other)]
    await other.post("/auth/token")
    await other.post("/auth/token")
    expect(await old.post("/auth/logout", { everywhere: true })).toEqual(refusal(401, "sign_in_required"))
    // An old copy ends its own sign-in, as any other use of the copy would.
    expect(await other.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
    expect((await third.post("/auth/token")).status).toBe(200)
    // The request must work with the current cookie and with the previous one, because a response may have been lost.
    const previous = copyOf("si-late", third)
    await third.post("/auth/token")
    expect((await previous.post("/auth/logout", { everywhere: true })).status).toBe(204)
    expect(await third.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[SI9] revoking all tokens over the API also ends the sign-ins", async () => {
    const { browser } = await signedIn("si-api")
    const token = await tokenFrom(browser)
    const revoked = await call("/v1/tokens/revoke", { method: "POST", token, body: '{"all":true}' })
    expect(revoked.json.revoked).toBe("all")
    expect(await browser.post("/auth/token")).toEqual(refusal(401, "sign_in_required"))
  })

  test("[SI9] a misspelt field is an error, and signs nobody out", async () => {
    const { browser } = await signedIn("si-misspelt")
    expect(await browser.post("/auth/logout", { everywhre: true })).toEqual(refusal(400, "field_invalid"))
    expect((await browser.post("/auth/token")).status).toBe(200)
  })
})
