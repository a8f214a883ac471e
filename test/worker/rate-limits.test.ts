/** rate-limits.test.ts: tests the rate limits of users, tenants and IP addresses. */

import { createExecutionContext, env } from "cloudflare:test"
import { nanoid } from "nanoid"
import { expect, test } from "vitest"
import {
  MAX_SOCKET_FRAMES,
  RATE_LIMITS,
  RATE_PERIOD_SECONDS,
  SIGN_IN_PERIOD_SECONDS,
} from "../../shared/user-limits.ts"
import { FrameRates } from "../../worker/limits/frame-rates.ts"
import worker from "../../worker/index.ts"
import { shareOf } from "../support/seeded.ts"
import type { RemoteProvider } from "../support/oidc-client.ts"
import { call, HOST, makeSession, openSocket, refusal, roleToken, socketHeaders, tokenOf } from "./http.ts"
import { recordAskedObjects } from "./asked-objects.ts"
import { foreignClaims, registerIssuer, startProvider } from "./oidc.ts"

/** Admits 5 requests per key and minute, so up to 10 if a run extends past the end of a minute. */
const RATE_OF_FIVE = Reflect.get(env, "RATE_OF_FIVE") as RateLimit
const ATTEMPTS = 14
const MAX_ADMITTED = 10

const createTenant = (): string => `t-${nanoid(8)}`.toLowerCase().replaceAll("_", "x")
const createSession = (token: string, over: object) =>
  call("/v1/sessions", { method: "POST", token, body: "{}", env: over })

async function createMany(token: string, over: object, attempts = ATTEMPTS) {
  const responses = []
  for (let i = 0; i < attempts; i++) responses.push(await createSession(token, over))
  return responses
}

test("[LI1] a user's writes over the limit are refused, before any object is called", async () => {
  const tenant = createTenant()
  const token = await tokenOf(tenant, "ada")
  const { asked, over } = recordAskedObjects()
  const responses = await createMany(token, { ...over, RATE_WRITE: RATE_OF_FIVE })
  const refused = responses.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(ATTEMPTS - MAX_ADMITTED)
  expect(responses.filter(({ status }) => status === 201).length).toBe(ATTEMPTS - refused.length)
  const before = asked.length
  const more = await createMany(token, { ...over, RATE_WRITE: { limit: async () => ({ success: false }) } }, 100)
  expect(more.every(({ status }) => status === 429)).toBe(true)
  expect(asked.length).toBe(before)
})

test("[LI1] if one user sends thousands of requests that create sessions, the refused ones call no object", async () => {
  const attempts = shareOf(5_000)
  const token = await tokenOf(createTenant(), "ada")
  const { asked, over } = recordAskedObjects()
  let admitted = 0
  for (let i = 0; i < attempts; i++) {
    const before = asked.length
    const { status } = await createSession(token, { ...over, RATE_WRITE: RATE_OF_FIVE })
    if (status === 201) admitted += 1
    else expect([status, asked.length]).toEqual([429, before])
  }
  // A slow run can extend over several minutes.
  expect(admitted).toBeLessThan(attempts / 10)
})

test("[LI1] writes, reads and sockets are counted separately, and separately for each user", async () => {
  const tenant = createTenant()
  const [ada, eve] = [await tokenOf(tenant, "ada"), await tokenOf(tenant, "eve")]
  const over = { RATE_WRITE: RATE_OF_FIVE }
  await createMany(ada, over)
  expect((await call("/v1/sessions", { token: ada, env: over })).status).toBe(200)
  expect((await createSession(eve, over)).status).toBe(201)
})

test("[LI1] [LI13] the requests of all users count towards the tenant's limit, except those that a user's own limit refuses", async () => {
  const tenant = createTenant()
  const counted: string[] = []
  const RATE_WRITE_TENANT = {
    limit: async ({ key }: { key: string }) => {
      counted.push(key)
      return { success: counted.length <= 2 }
    },
  }
  const statuses = []
  for (const user of ["ada", "eve", "kim"])
    statuses.push((await createSession(await tokenOf(tenant, user), { RATE_WRITE_TENANT })).status)
  expect(statuses).toEqual([201, 201, 429])
  expect(counted).toEqual([1, 2, 3].map(() => `write:${tenant}`))
  const RATE_WRITE = { limit: async () => ({ success: false }) }
  expect((await createSession(await tokenOf(tenant, "ada"), { RATE_WRITE, RATE_WRITE_TENANT })).status).toBe(429)
  expect(counted).toHaveLength(3)
})

test("[LI2] a refusal states when to retry, and pages of other origins can read that time", async () => {
  const origin = "https://other.example"
  const over = { RATE_READ: { limit: async () => ({ success: false }) }, ALLOWED_ORIGINS: origin }
  const token = await tokenOf(createTenant(), "ada")
  const refused = await call("/v1/sessions", { token, env: over, headers: { origin } })
  expect(refused).toEqual(refusal(429, "rate_limited", `${RATE_PERIOD_SECONDS} seconds`))
  expect(refused.headers.get("retry-after")).toBe(String(RATE_PERIOD_SECONDS))
  expect(refused.headers.get("ratelimit")).toBe(`"read-per-user";r=0;t=${RATE_PERIOD_SECONDS}`)
  const policy = `"read-per-user";q=${RATE_LIMITS.read.user};w=${RATE_PERIOD_SECONDS}`
  expect(refused.headers.get("ratelimit-policy")).toBe(policy)
  expect(refused.headers.get("access-control-expose-headers")).toContain("retry-after")
})

test("[LI2] a binding that fails or hangs admits the request", async () => {
  const token = await tokenOf(createTenant(), "ada")
  const failing = { limit: () => Promise.reject(new Error("down")) }
  const hanging = { limit: () => new Promise<never>(() => {}) }
  expect((await createSession(token, { RATE_WRITE: failing, RATE_WRITE_TENANT: hanging })).status).toBe(201)
  expect((await createSession(token, { RATE_WRITE: undefined, RATE_WRITE_TENANT: undefined })).status).toBe(201)
})

test("[LI3] a refused socket request gets 429; a browser's socket is opened and closed with 4429 and the reason", async () => {
  const over = { ...env, RATE_SOCKET: { limit: async () => ({ success: false }) } }
  const token = await tokenOf(createTenant(), "ada")
  const openSocketWith = (headers: Record<string, string>) =>
    worker.fetch(new Request(`${HOST}/v1/sessions/any/socket`, { headers }), over, createExecutionContext())
  const plain = await openSocketWith(socketHeaders(token))
  expect([plain.status, plain.headers.get("retry-after")]).toEqual([429, String(RATE_PERIOD_SECONDS)])
  const { webSocket, headers } = await openSocketWith(socketHeaders(token, HOST))
  expect(headers.get("sec-websocket-protocol")).toBe("cuecard.v1")
  const frames: unknown[] = []
  const closed = new Promise<CloseEvent>((resolve) => webSocket?.addEventListener("close", resolve))
  webSocket?.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))))
  webSocket?.accept()
  expect((await closed).code).toBe(4429)
  const fields = { rateClass: "socket", per: "user", retryAfterSeconds: 10 }
  expect(frames).toEqual([{ type: "error", code: "rate_limited", text: expect.any(String), fields }])
})

test("[LI4] a flooding socket gets an error for each frame over the limit, and stays open", async () => {
  const token = await tokenOf(createTenant(), "ada")
  const flooding = await openSocket(await makeSession(token), token)
  for (let i = 0; i < MAX_SOCKET_FRAMES * 2; i++) flooding.socket.send("{")
  await expect.poll(() => flooding.received.length).toBeGreaterThan(MAX_SOCKET_FRAMES * 2)
  const limited = flooding.received.filter((type) => type === "rate_limited")
  expect(limited.length).toBe(MAX_SOCKET_FRAMES + 1)
  expect(flooding.closed).toBeNull()
  flooding.socket.close()
})

test("[LI4] changes made over a socket count towards the user's write limit", async () => {
  const rates = new FrameRates({ RATE_WRITE: RATE_OF_FIVE })
  const user = { tenant: createTenant(), user: "ada" }
  // Poll, because the binding counts a change only after the change has been admitted.
  await expect.poll(() => rates.countChange(user)).toMatchObject({ reason: "rate_limited", rateClass: "write" })
  expect(rates.countChange({ ...user, user: "eve" })).toBeNull()
})

test("[LI5] signed links, imports and external producers count towards their user's limits", async () => {
  const tenant = createTenant()
  const token = await tokenOf(tenant, "ada")
  const id = await makeSession(token)
  const issued = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body: "{}" })
  const refuse = { limit: async () => ({ success: false }) }
  const over = { RATE_WRITE: refuse }
  const imported = await call(`/v1/sessions/${id}/import`, { method: "POST", token, body: "{}", env: over })
  expect(imported).toEqual(refusal(429, "rate_limited"))
  const path = `/external/sessions/${id}/messages`
  const produced = await call(path, { method: "POST", token: issued.json.token, body: '{"text":"Hi."}', env: over })
  expect(produced).toEqual(refusal(429, "rate_limited"))
  const body = JSON.stringify({ urls: ["https://example.com/a.png"] })
  const signing = await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token, body, env: over })
  expect(signing.status).toBe(200)
  const link = await call(signing.json.signed[0].href, { env: { RATE_READ: refuse } })
  expect(link).toEqual(refusal(429, "rate_limited"))
})

test("[LI7] an IP address with too many failed sign-ins has to wait, and others don't", async () => {
  const { asked, over } = recordAskedObjects()
  const attemptFrom = (address: string) =>
    call("/v1/tenants", {
      method: "POST",
      token: "wrong",
      body: "{}",
      headers: { "cf-connecting-ip": address },
      env: { ...over, RATE_SIGN_IN: RATE_OF_FIVE },
    })
  const responses = []
  for (let i = 0; i < ATTEMPTS; i++) responses.push(await attemptFrom("203.0.113.7"))
  const limited = responses.filter(({ status }) => status === 429)
  expect(limited.length).toBeGreaterThanOrEqual(ATTEMPTS - MAX_ADMITTED - 2)
  expect(limited[0]).toEqual(refusal(429, "sign_ins_limited"))
  expect(limited[0]?.headers.get("retry-after")).toBe(String(SIGN_IN_PERIOD_SECONDS))
  expect((await attemptFrom("203.0.113.8")).status).toBe(401)
  expect(asked).toEqual([])
})

test("[LI7] a browser at an IP address with too many failed sign-ins is redirected to the page", async () => {
  const attemptFrom = (address: string) =>
    call("/auth/callback/none?state=unknown", {
      headers: { "cf-connecting-ip": address },
      env: { RATE_SIGN_IN: RATE_OF_FIVE },
    })
  const seen = []
  for (let i = 0; i < ATTEMPTS; i++) seen.push((await attemptFrom("2001:db8:7::1")).headers.get("location"))
  expect(seen[0]).toBe("/#/signin-error/state_invalid")
  expect(seen.at(-1)).toBe("/#/signin-error/attempts_limited")
  // Use another IP address in the same network.
  expect((await attemptFrom("2001:db8:7::2")).headers.get("location")).toBe("/#/signin-error/attempts_limited")
  expect((await attemptFrom("2001:db8:8::1")).headers.get("location")).toBe("/#/signin-error/state_invalid")
})

/** Bindings whose limiter reports that there were too many failed sign-ins. */
const FAILED_TOO_OFTEN = { RATE_SIGN_IN: { limit: async () => ({ success: false }) } }

test("[LI7] an API key that the isolate remembers works from an IP address with too many failed sign-ins", async () => {
  const owner = await roleToken(createTenant(), "boss", "owner")
  const body = JSON.stringify({ name: "k", roles: ["admin"] })
  const createKey = async () => (await call("/v1/keys", { method: "POST", token: owner, body })).json
  const [known, revoked, unknown] = [await createKey(), await createKey(), await createKey()]
  const headers = { "cf-connecting-ip": "203.0.113.99" }
  const listUsers = async (key: { key: string }, over = {}) =>
    (await call("/v1/users", { token: key.key, headers, env: over })).status
  expect(await listUsers(known)).toBe(200)
  await call(`/v1/keys/${revoked.id}`, { method: "DELETE", token: owner })
  expect(await listUsers(revoked, FAILED_TOO_OFTEN)).toBe(401)
  expect(await listUsers(known)).toBe(200)
  expect(await listUsers(unknown)).toBe(429)
})

test("[LI7] failed tokens of issuers don't block a valid token of an issuer that the isolate knows", async () => {
  const [provider, other] = [await startProvider(), await startProvider()]
  await registerIssuer(createTenant(), provider)
  await registerIssuer(createTenant(), other)
  const headers = { "cf-connecting-ip": "198.51.100.99" }
  const listSessions = async (token: string, over = {}) =>
    (await call("/v1/sessions", { token, headers, env: over })).status
  const signToken = async (by: RemoteProvider, change = {}) => await by.sign({ payload: foreignClaims(by, change) })
  const signWrong = async (by: RemoteProvider) => `${(await signToken(by)).slice(0, -8)}AAAAAAAA`
  expect(await listSessions(await signToken(provider))).toBe(200)
  expect(await listSessions(await signToken(other))).toBe(200)
  const unknownToken = await signToken(provider, { iss: "https://nobody.example.com" })
  expect(await listSessions(unknownToken, FAILED_TOO_OFTEN)).toBe(401)
  expect(await listSessions(await signWrong(provider), FAILED_TOO_OFTEN)).toBe(401)
  expect(await listSessions(unknownToken)).toBe(429)
  expect(await listSessions(await signWrong(provider))).toBe(429)
  expect(await listSessions(await signWrong(other))).toBe(401)
  expect(await listSessions(await signToken(provider))).toBe(200)
})

test("[LI5] requests to /auth count towards the limit of their IP address, not of the tenant", async () => {
  const counted: string[] = []
  const createLimiter = (success: boolean) => ({
    limit: async ({ key }: { key: string }) => {
      counted.push(key)
      return { success }
    },
  })
  const requestProviders = async (over: object) =>
    await call("/auth/providers", { headers: { "cf-connecting-ip": "203.0.113.5" }, env: over })
  expect(
    (await requestProviders({ RATE_READ: createLimiter(true), RATE_READ_TENANT: createLimiter(false) })).status,
  ).toBe(200)
  expect(await requestProviders({ RATE_READ: createLimiter(false) })).toEqual(refusal(429, "rate_limited"))
  // This key can't belong to a user, because no user's id contains a colon.
  expect(counted).toEqual([1, 2].map(() => expect.stringMatching(/^read:[^:]+:auth:203\.0\.113\.5\//)))
})
