/**
 * issuer-keys.test.ts: tests the rotation and withdrawal of OpenID providers' keys, outages, and floods of unknown
 * keys.
 */

import { env, evictDurableObject } from "cloudflare:test"
import { afterEach, expect, test, vi } from "vitest"
import {
  ISSUER_KEYS_COOLDOWN_MS,
  ISSUER_KEYS_FRESH_MS,
  ISSUER_KEYS_TRUST_MS,
  MAX_ISSUER_KEYS_AGE_MS,
  TOKEN_TRUST_MS,
} from "../../shared/limits.ts"
import { requestProvider } from "../../worker/auth/issuer/provider-fetch.ts"
import type { RemoteProvider } from "../support/oidc-client.ts"
import { call, refusal } from "./http.ts"
import { foreignClaims, registerIssuer, startProvider, TestBrowser, tokenOfRole } from "./oidc.ts"

/** Maximum time until a new key works, in milliseconds (SPEC OI6). */
const NEW_KEY_MS = 35_000
const DAY_SECONDS = 24 * 60 * 60

afterEach(() => {
  vi.useRealTimers()
})

function advanceClock(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms })
}

const listSessions = (token: string) => call("/v1/sessions", { token })

/** Returns a token that is valid for a day, so that its acceptance depends only on its key. */
const signLong = (provider: RemoteProvider, change: Record<string, unknown> = {}) =>
  provider.sign({ payload: foreignClaims(provider, { exp: Math.floor(Date.now() / 1000) + DAY_SECONDS, ...change }) })

async function countKeyFetches(provider: RemoteProvider): Promise<number> {
  return (await provider.listRequests()).filter((request) => request === "GET /jwks").length
}

test("[OI6] a new key works within 35 seconds, and the withdrawn key stops working at the same time", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-new", provider)
  const before = await signLong(provider)
  expect((await listSessions(before)).status).toBe(200)
  await provider.rotateKeys()
  const after = await signLong(provider)
  // The keys have just been fetched, so they are not fetched again yet.
  expect(await listSessions(after)).toEqual(refusal(401, "token_invalid"))
  advanceClock(NEW_KEY_MS)
  expect((await listSessions(after)).status).toBe(200)
  expect(await listSessions(before)).toEqual(refusal(401, "token_invalid"))
  expect(await countKeyFetches(provider)).toBe(2)
})

test("[OI6] [SI13] a provider's new keys are fetched even if its sign-out URL is unusable", async () => {
  const provider = await startProvider()
  const { issuer } = provider
  await registerIssuer("ik-logout", provider)
  const metadata = {
    issuer,
    jwks_uri: `${issuer}/jwks`,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
  }
  const unusable = [
    null,
    7,
    "",
    "/logout",
    "http://idp.example.com/",
    "https://10.0.0.1/",
    `https://a.com/${"x".repeat(20_000)}`,
  ]
  for (const end_session_endpoint of unusable) {
    await provider.setFaults({ path: "/.well-known", body: JSON.stringify({ ...metadata, end_session_endpoint }) })
    await provider.rotateKeys()
    advanceClock(2 * DAY_SECONDS * 1_000)
    const { status } = await listSessions(await signLong(provider))
    expect(status, String(end_session_endpoint)).toBe(200)
    const client = await env.TENANT.getByName("ik-logout").getSignInClient("idp")
    expect(client).toMatchObject({ metadata: expect.not.objectContaining({ end_session_endpoint: expect.anything() }) })
  }
})

test("[OI6] during a rotation both keys work", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-both", provider)
  const before = await signLong(provider)
  expect((await listSessions(before)).status).toBe(200)
  await provider.rotateKeys(true)
  const after = await signLong(provider)
  advanceClock(NEW_KEY_MS)
  expect((await listSessions(after)).status).toBe(200)
  expect((await listSessions(before)).status).toBe(200)
})

test("[OI6] unknown key ids cause at most one fetch of the keys in half a minute, even after the object was evicted", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-flood", provider)
  const begun = Date.now()
  const payload = foreignClaims(provider, { exp: Math.floor(begun / 1000) + DAY_SECONDS })
  for (let second = 1; second <= 120; second++) {
    vi.useFakeTimers({ toFake: ["Date"], now: begun + second * 1_000 })
    const tokens = await Promise.all(
      [1, 2].map((i) => provider.sign({ header: { kid: `kid-${second}-${i}` }, payload })),
    )
    for (const refused of await Promise.all(tokens.map(listSessions))) expect(refused.status).toBe(401)
    if (second % 40 === 0) await evictDurableObject(env.TENANT.getByName("ik-flood"))
  }
  const fetches = await countKeyFetches(provider)
  // The first fetch belongs to the registration.
  expect(fetches).toBeGreaterThanOrEqual(4)
  expect(fetches).toBeLessThanOrEqual(1 + (120 * 1_000) / ISSUER_KEYS_COOLDOWN_MS)
})

test("[OI6] simultaneous requests share a fetch", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-shared", provider)
  await provider.rotateKeys()
  advanceClock(NEW_KEY_MS)
  const stub = env.TENANT.getByName("ik-shared")
  const { iss, aud } = foreignClaims(provider)
  await Promise.all(Array.from({ length: 20 }, (_, i) => stub.getIssuerKeys(iss, aud, `unknown-${i}`)))
  expect(await countKeyFetches(provider)).toBe(2)
})

test("[OI6] a cold isolate fetches nothing: the keys are stored", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-cold", provider)
  await evictDurableObject(env.TENANT.getByName("ik-cold"))
  await provider.setFaults({ outage: "down" })
  const { iss, aud } = foreignClaims(provider)
  const keys = await env.TENANT.getByName("ik-cold").getIssuerKeys(iss, aud, null)
  expect(keys?.keys).toHaveLength(3)
  // Nothing private is stored, even if a provider publishes it.
  expect(JSON.stringify(keys)).not.toMatch(/"(?:d|p|q|k|x5c|x5u)":/)
})

test("[OI7] a key that the provider withdrew is refused after ten minutes, even if nobody uses another key", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-withdrawn", provider)
  const token = await signLong(provider)
  await provider.rotateKeys()
  advanceClock(ISSUER_KEYS_FRESH_MS - 60_000)
  expect((await listSessions(token)).status).toBe(200)
  advanceClock(60_000 + TOKEN_TRUST_MS)
  expect(await listSessions(token)).toEqual(refusal(401, "token_invalid"))
})

test.each(["down", "error"] as const)("[OI7] while the provider is %s, known keys work for an hour", async (outage) => {
  const provider = await startProvider()
  await registerIssuer(`ik-${outage}`, provider)
  const token = await signLong(provider)
  const begun = Date.now()
  await provider.setFaults({ outage })
  // Nobody needs the keys for two hours. The outage is discovered with the first token after that.
  for (let minute = 120; minute < 180; minute += 7) {
    vi.useFakeTimers({ toFake: ["Date"], now: begun + minute * 60_000 })
    expect((await listSessions(token)).status, `minute ${minute}`).toBe(200)
  }
  vi.useFakeTimers({ toFake: ["Date"], now: begun + 120 * 60_000 + ISSUER_KEYS_TRUST_MS + 1_000 })
  expect(await listSessions(token)).toEqual(refusal(503, "issuer_unreachable"))
  // An isolate with warm caches also stops trusting the token, and the sign-in reports the reason.
  advanceClock(1_000)
  expect(await listSessions(token)).toEqual(refusal(503, "issuer_unreachable"))
  await provider.setFaults({})
  advanceClock(NEW_KEY_MS)
  expect((await listSessions(token)).status).toBe(200)
})

test("[OI7] keys are trusted for at most a day after they were fetched, and a success restarts that period", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-day", provider)
  const begun = Date.now()
  await provider.setFaults({ outage: "down" })
  vi.useFakeTimers({ toFake: ["Date"], now: begun + MAX_ISSUER_KEYS_AGE_MS - 60_000 })
  expect((await listSessions(await signLong(provider))).status).toBe(200)
  vi.useFakeTimers({ toFake: ["Date"], now: begun + MAX_ISSUER_KEYS_AGE_MS + 1_000 })
  expect(await listSessions(await signLong(provider))).toEqual(refusal(503, "issuer_unreachable"))
  await provider.setFaults({})
  advanceClock(NEW_KEY_MS)
  expect((await listSessions(await signLong(provider))).status).toBe(200)
  await provider.setFaults({ outage: "down" })
  advanceClock(ISSUER_KEYS_TRUST_MS * 2)
  expect((await listSessions(await signLong(provider))).status).toBe(200)
})

test("[OI7] during an outage a new provider key is refused, and known keys still work", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-mixed", provider)
  const known = await signLong(provider)
  expect((await listSessions(known)).status).toBe(200)
  await provider.rotateKeys()
  const unknown = await signLong(provider)
  await provider.setFaults({ path: "/jwks", body: '{"keys":[]}' })
  advanceClock(NEW_KEY_MS)
  expect(await listSessions(unknown)).toEqual(refusal(401, "token_invalid"))
  expect((await listSessions(known)).status).toBe(200)
})

test("[OI7] the page's sign-in works after a rotation", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-page", provider)
  await provider.rotateKeys()
  advanceClock(NEW_KEY_MS)
  const browser = new TestBrowser("ik-page")
  const callback = await browser.beginSignIn()
  // Use real time, because the provider does.
  vi.useRealTimers()
  const now = Date.now()
  advanceClock(0)
  vi.setSystemTime(now + NEW_KEY_MS)
  await provider.setFaults({ idToken: { iat: Math.floor((now + NEW_KEY_MS) / 1000) } })
  expect((await browser.get(callback)).headers.get("location")).toBe("/")
})

test("[OI6] the page's sign-in works with a new key after the cooldown, although a sign-in during the cooldown failed", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-early", provider)
  await provider.rotateKeys()
  const begun = Date.now()
  expect(await new TestBrowser("ik-early").signIn()).toBe("/#/signin-error/identity_invalid")
  const browser = new TestBrowser("ik-early")
  const callback = await browser.beginSignIn()
  await provider.setFaults({ idToken: { iat: Math.floor((begun + NEW_KEY_MS) / 1000) } })
  vi.useFakeTimers({ toFake: ["Date"], now: begun + NEW_KEY_MS })
  expect((await browser.get(callback)).headers.get("location")).toBe("/")
})

test("[OI9] the tokens of a removed issuer are refused after half a minute", async () => {
  const provider = await startProvider()
  await registerIssuer("ik-removed", provider)
  const token = await signLong(provider)
  expect((await listSessions(token)).status).toBe(200)
  await call("/v1/issuers/idp", { method: "DELETE", token: await tokenOfRole("ik-removed", "owner") })
  advanceClock(TOKEN_TRUST_MS)
  expect(await listSessions(token)).toEqual(refusal(401, "token_invalid"))
})

test("[OI4] a provider that is too slow counts as unreachable", async () => {
  const provider = await startProvider()
  await provider.setFaults({ delayMs: 60_000 })
  const scaled = { ENVIRONMENT: "local", TIME_SCALE: "0.02" }
  expect(await requestProvider(`${provider.issuer}/jwks`, scaled)).toEqual({
    ok: false,
    fault: { reason: "issuer_refused", because: "unreachable" },
  })
})
