/**
 * revocation.test.ts: tests how tokens are revoked, and which access a revoked token loses, through the whole Worker.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import {
  createRevocationCache,
  isRevoked,
  MAX_REVOKED_LIMITED_TOKENS,
  MAX_REVOKED_TOKENS,
  NO_REVOCATIONS,
} from "../../worker/auth/revocation.ts"
import {
  call,
  type TestConnection,
  makeSession,
  nowSeconds,
  openSocket,
  refusal,
  SECRET,
  socketHeaders,
  tablesOf,
  tokenOf,
} from "./http.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"

const REVOKED = refusal(401, "token_revoked")

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/**
 * Returns a token that was signed elsewhere and is valid for an hour. Apart from the tenant and the user, it has only
 * the claims in `more`.
 */
function foreignToken(tenant: string, user: string, more: Record<string, unknown> = {}): Promise<string> {
  return new SignJWT({ tenant, sub: user, exp: nowSeconds() + 3600, ...more })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(SECRET))
}

const revokeTokens = (token: string, body = "{}") => call("/v1/tokens/revoke", { method: "POST", token, body })
const listSessions = (token: string) => call("/v1/sessions", { token })
const tryOpen = (id: string, token: string) => call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })
const directoryStubOf = (tenant: string, user = "ada") => env.DIRECTORY.getByName(`${tenant}:${user}`)

async function claimsOf(token: string): Promise<Claims> {
  const verified = await verifyToken(token, SECRET, Date.now())
  if (!verified.ok) throw new Error(verified.fault.reason)
  return verified.value
}

/** Returns a token that was issued just after the revocation. */
const laterToken = (tenant: string, upTo: number) => foreignToken(tenant, "ada", { iat: upTo + 0.001 })

const alarmOf = (stub: DurableObjectStub) => runInDurableObject(stub, (_object, { storage }) => storage.getAlarm())

function countRows(stub: DurableObjectStub): Promise<Record<string, number>> {
  return runInDurableObject(stub, (_object, { storage: { sql } }) => {
    const countRows = (table: string): number => Number(sql.exec(`SELECT count(*) AS n FROM ${table}`).one()["n"])
    return { revoked: countRows("revoked"), holder: countRows("holder") }
  })
}

async function expectClosed(connection: TestConnection): Promise<void> {
  await expect.poll(() => connection.closed).toBe(4401)
  expect(connection.received.at(-1)).toBe("token_revoked")
}

describe("a revoked token", () => {
  test("[AU7] opens nothing, over HTTP or as a socket, while the user's other tokens work", async () => {
    const [lost, stillValid] = [await tokenOf("au7a", "ada"), await tokenOf("au7a", "ada")]
    const id = await makeSession(lost)
    expect(await revokeTokens(lost)).toMatchObject({ status: 200, json: { revoked: "token" } })
    expect(await listSessions(lost)).toEqual(REVOKED)
    expect(await call("/v1/sessions", { method: "POST", token: lost, body: "{}" })).toEqual(REVOKED)
    const post = { method: "POST", token: lost, body: '{"content":"x"}' }
    expect(await call(`/v1/sessions/${id}/messages`, post)).toEqual(REVOKED)
    expect(await call(`/v1/sessions/${id}/conversation/recent`, { token: lost })).toEqual(REVOKED)
    expect(await tryOpen(id, lost)).toEqual(REVOKED)
    expect((await listSessions(stillValid)).json.sessions).toHaveLength(1)
    expect(await tryOpen(id, stillValid)).toMatchObject({ status: 101 })
  })

  test("[AU7] is refused after TOKEN_TRUST_MS by an isolate that accepted it before; a new socket is closed sooner", async () => {
    const token = await tokenOf("au7b", "ada", 6000)
    const id = await makeSession(token)
    // Revoke the token as another isolate does, so that the revocation is not in this isolate's memory.
    expect(await directoryStubOf("au7b").revokeTokens(await claimsOf(token), false)).toMatchObject({ ok: true })
    expect(await listSessions(token)).toMatchObject({ status: 200 })
    await expectClosed(await openSocket(id, token, null))
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TOKEN_TRUST_MS })
    expect(await listSessions(token)).toEqual(REVOKED)
    expect(await tryOpen(id, token)).toEqual(REVOKED)
  })

  test("[AU7] is refused even if the request asks for an upgrade on another route", async () => {
    const token = await tokenOf("au7c", "ada")
    await revokeTokens(token)
    const headers = { upgrade: "websocket" }
    expect(await call("/v1/sessions", { token, headers })).toEqual(REVOKED)
    expect(await call("/v1/sessions", { headers: socketHeaders(token) })).toEqual(REVOKED)
  })

  test("[AU7] checking an unknown user stores nothing, and neither does another user's request for a session", async () => {
    const id = await makeSession(await tokenOf("au7d", "ada"))
    const token = await tokenOf("au7d", "nobody")
    expect(await listSessions(token)).toMatchObject({ status: 200 })
    expect(await tryOpen(id, token)).toEqual(refusal(404, "session_unknown"))
    expect(await tryOpen("ghost", token)).toEqual(refusal(404, "session_unknown"))
    expect(await tablesOf(directoryStubOf("au7d", "nobody"))).toEqual([])
  })

  test("[AU7] the Worker's cache fetches once per user within TOKEN_TRUST_MS, and keeps only the newest users", async () => {
    const memory = createRevocationCache(2)
    const fetches: string[] = []
    const lookUp = (who: string, now: number) =>
      memory.getOrFetch(who, now, () => {
        fetches.push(`${who}@${now}`)
        return Promise.resolve(NO_REVOCATIONS)
      })
    await lookUp("a", 0)
    await lookUp("a", TOKEN_TRUST_MS - 1)
    await lookUp("a", TOKEN_TRUST_MS)
    await lookUp("a", 5) // The clock was set back.
    await lookUp("b", 6)
    await lookUp("c", 7)
    await lookUp("b", 8)
    await lookUp("a", 9)
    memory.delete("a")
    await lookUp("a", 10)
    expect(fetches).toEqual(["a@0", `a@${TOKEN_TRUST_MS}`, "a@5", "b@6", "c@7", "a@9", "a@10"])
    await expect(memory.getOrFetch("d", 0, () => Promise.reject(new Error("away")))).rejects.toThrow("away")
    await lookUp("d", 1)
    expect(fetches.at(-1)).toBe("d@1")
  })
})

describe("revoking", () => {
  test("[AU9] revoking the same token again gives the same response and changes nothing", async () => {
    const [one, two] = [await tokenOf("au9a", "ada"), await tokenOf("au9a", "ada")]
    for (let n = 0; n < 2; n += 1)
      expect(await revokeTokens(one)).toMatchObject({ status: 200, json: { revoked: "token" } })
    const all = await revokeTokens(two, '{"all":true}')
    const later = await laterToken("au9a", all.json.up_to)
    expect((await revokeTokens(two, '{"all":true}')).json).toEqual(all.json)
    expect((await revokeTokens(two)).json).toEqual({ revoked: "token" })
    expect(await listSessions(later)).toMatchObject({ status: 200 })
    expect(await listSessions(two)).toEqual(REVOKED)
  })

  test("[AU13] a token that was revoked individually can't lock its owner out", async () => {
    const [found, own] = [await tokenOf("au9b", "ada"), await tokenOf("au9b", "ada")]
    await revokeTokens(found)
    expect(await revokeTokens(found, '{"all":true}')).toEqual(REVOKED)
    expect(await listSessions(own)).toMatchObject({ status: 200 })
  })

  test("[AU9] `all` covers every token issued up to that moment, and those of other signers up to the end of that second", async () => {
    const token = await tokenOf("au9c", "ada")
    const { up_to } = (await revokeTokens(token, '{"all":true}')).json
    expect(Math.abs(up_to - Date.now() / 1000)).toBeLessThan(5)
    expect(await listSessions(await foreignToken("au9c", "ada", { iat: Math.floor(up_to) }))).toEqual(REVOKED)
    expect(await listSessions(await foreignToken("au9c", "ada", { iat: up_to }))).toEqual(REVOKED)
    expect(await listSessions(await foreignToken("au9c", "ada", { iat: up_to + 0.001 }))).toMatchObject({ status: 200 })
    expect(await listSessions(await foreignToken("au9c", "ada", { iat: Math.floor(up_to) + 1 }))).toMatchObject({
      status: 200,
    })
  })

  test("[AU12] a token whose signer's clock is ahead can revoke itself too", async () => {
    const token = await foreignToken("au9d", "ada", { iat: nowSeconds() + 4 })
    expect(await revokeTokens(token, '{"all":true}')).toMatchObject({ status: 200 })
    expect(await listSessions(token)).toEqual(REVOKED)
  })

  test("[AU12] revoking a token without an id revokes all tokens; one without an issue time stays revoked", async () => {
    const bare = await foreignToken("au9e", "ada")
    const named = await foreignToken("au9e", "ada", { jti: "t1" })
    const connection = await openSocket(await makeSession(bare), bare)
    expect(await listSessions(named)).toMatchObject({ status: 200 })
    const answer = await revokeTokens(bare)
    expect(answer.json).toEqual({ revoked: "all", up_to: expect.any(Number) })
    await expectClosed(connection)
    for (const token of [bare, named, await foreignToken("au9e", "ada", { jti: "new" })]) {
      expect(await listSessions(token)).toEqual(REVOKED)
    }
    expect(await listSessions(await laterToken("au9e", answer.json.up_to))).toMatchObject({ status: 200 })
    expect(isRevoked({ token: null, issued: Number.NaN } as Claims, { n: 1, tokens: [], upTo: 1 })).toBe(true)
  })

  describe("revoked one by one", () => {
    const FULL = { ok: false, fault: { reason: "revocations_full", max: expect.any(Number) } }
    const createClaims = (tenant: string, token: string, scope?: "external"): Claims => ({
      ...{ tenant, user: "ada", expires: nowSeconds() + 600, token, issued: 5 },
      ...(scope === undefined ? {} : { scope, session: "s" }),
    })
    const fillRevoked = (stub: DurableObjectStub, count: number, prefix: string) =>
      runInDurableObject(stub, (_object, { storage: { sql } }) => {
        const add = "INSERT INTO revoked (token, issued, expires) VALUES (?, 5, ?)"
        for (let n = 0; n < count; n += 1) sql.exec(add, `${prefix}${n}`, nowSeconds() + 600)
      })

    test("[AU14] the 101st revocation revokes that token and no other", async () => {
      const stub = directoryStubOf("au14a")
      for (let n = 0; n <= 100; n += 1) {
        expect(await stub.revokeTokens(createClaims("au14a", `t${n}`), false)).toEqual({
          ok: true,
          value: { revoked: "token" },
        })
      }
      const revoked = await stub.getRevocationState()
      expect(revoked).toMatchObject({ upTo: null, tokens: { length: 101 } })
      expect(isRevoked(createClaims("au14a", "other"), revoked)).toBe(false)
    })

    test("[AU14] tokens with a limited scope leave room for the user's own tokens, and a full list changes nothing", async () => {
      const stub = directoryStubOf("au14b")
      await stub.revokeTokens(createClaims("au14b", "first"), false)
      await fillRevoked(stub, MAX_REVOKED_LIMITED_TOKENS - 1, "x")
      expect(await stub.revokeTokens(createClaims("au14b", "limited", "external"), false)).toEqual(FULL)
      expect(await stub.revokeTokens(createClaims("au14b", "own"), false)).toMatchObject({
        value: { revoked: "token" },
      })
      await fillRevoked(stub, MAX_REVOKED_TOKENS - MAX_REVOKED_LIMITED_TOKENS - 1, "y")
      expect(await stub.revokeTokens(createClaims("au14b", "own2"), false)).toEqual(FULL)
      // Revoking a revoked token again must still change nothing.
      expect(await stub.revokeTokens(createClaims("au14b", "own"), false)).toMatchObject({
        value: { revoked: "token" },
      })
      const revoked = await stub.getRevocationState()
      expect(revoked).toMatchObject({ upTo: null, tokens: { length: MAX_REVOKED_TOKENS } })
      expect(isRevoked(createClaims("au14b", "own2"), revoked)).toBe(false)
      expect(await stub.revokeTokens(createClaims("au14b", "own2"), true)).toMatchObject({ value: { revoked: "all" } })
      expect((await stub.getRevocationState()).tokens).toEqual([])
    })

    test("[AU14] a full list is reported, and has room again once its tokens have expired", async () => {
      const own = await tokenOf("au14c", "ada", 7_200)
      const stub = directoryStubOf("au14c")
      await openSocket(await makeSession(own), own)
      await fillRevoked(stub, MAX_REVOKED_TOKENS, "x")
      expect(await revokeTokens(own)).toEqual(refusal(409, "revocations_full", "1000"))
      expect(await listSessions(own)).toMatchObject({ status: 200 })
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 })
      expect(await revokeTokens(own)).toMatchObject({ status: 200, json: { revoked: "token" } })
      expect((await countRows(stub))["revoked"]).toBe(1)
    })
  })

  test("[AU9] the row of one token is deleted when the token would have expired; the row of all tokens stays", async () => {
    const [short, long] = [await tokenOf("au9g", "ada", 60), await tokenOf("au9g", "ada", 6000)]
    await openSocket(await makeSession(short), short)
    await revokeTokens(short)
    const stub = directoryStubOf("au9g")
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 62_000 })
    await runDurableObjectAlarm(stub)
    expect(await countRows(stub)).toEqual({ revoked: 1, holder: 0 })
    vi.setSystemTime(Date.now() + 10_000)
    await runDurableObjectAlarm(stub)
    expect(await countRows(stub)).toEqual({ revoked: 0, holder: 0 })
    expect(await alarmOf(stub)).toBeNull()
    await revokeTokens(long, '{"all":true}')
    vi.setSystemTime(Date.now() + 10_000_000)
    await evictDurableObject(stub)
    expect(await stub.getRevocationState()).toMatchObject({ n: 2, upTo: expect.any(Number) })
  })

  const FIELDS = ['{"all":"yes"}', '{"all":1}', '{"all":null}', '{"alll":true}', '{"token":"t1"}']
  test.each([
    ...["{", "[]"].map((body) => [body, "body_malformed"] as const),
    ...FIELDS.map((body) => [body, "field_invalid"] as const),
  ])("[AU9] the body %s revokes nothing", async (body, code) => {
    const token = await tokenOf("au9h", "ada")
    expect(await revokeTokens(token, body)).toEqual(refusal(400, code))
    expect(await listSessions(token)).toMatchObject({ status: 200 })
    expect(await tablesOf(directoryStubOf("au9h"))).toEqual([])
  })

  test("[AU9] revoking needs a valid token and an allowed origin, and there is no GET", async () => {
    expect(await revokeTokens(await tokenOf("au9i", "ada", -60))).toEqual(refusal(401, "token_expired"))
    expect(await revokeTokens("rubbish")).toEqual(refusal(401, "token_invalid"))
    const token = await tokenOf("au9i", "ada")
    const sendRequest = (origin: string) =>
      call("/v1/tokens/revoke", {
        method: "POST",
        token,
        body: "{}",
        headers: { origin },
        env: { ALLOWED_ORIGINS: "https://b.example" },
      })
    expect(await sendRequest("https://evil.example")).toEqual(refusal(403, "origin_denied"))
    expect(await listSessions(token)).toMatchObject({ status: 200 })
    expect((await sendRequest("https://b.example")).headers.get("access-control-allow-origin")).toBe(
      "https://b.example",
    )
    expect(await listSessions(token)).toEqual(REVOKED)
    expect(await call("/v1/tokens/revoke", { token })).toEqual(refusal(404, "route_unknown"))
    expect(await call("/v1/tokens", { token })).toEqual(refusal(404, "route_unknown"))
  })
})
