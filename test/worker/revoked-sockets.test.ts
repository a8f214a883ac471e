/**
 * revoked-sockets.test.ts: tests that the sockets of a revoked token are closed, in every session and even after
 * objects have slept.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { Session } from "../../worker/session/session-object.ts"
import { connect, createSession, sessionOf } from "../support/socket.ts"
import {
  call,
  HELLO,
  type TestConnection,
  makeSession,
  nowSeconds,
  openSocket,
  SECRET,
  tablesOf,
  tokenOf,
} from "./http.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"

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
const directoryStubOf = (tenant: string, user = "ada") => env.DIRECTORY.getByName(`${tenant}:${user}`)

const alarmOf = (stub: DurableObjectStub) => runInDurableObject(stub, (_object, { storage }) => storage.getAlarm())

async function expectClosed(connection: TestConnection): Promise<void> {
  await expect.poll(() => connection.closed).toBe(4401)
  expect(connection.received.at(-1)).toBe("token_revoked")
}

/** Asserts that a socket is open and gets responses. */
async function expectOpen(connection: TestConnection): Promise<void> {
  const before = connection.received.length
  connection.socket.send(HELLO)
  await expect.poll(() => connection.received.length).toBeGreaterThan(before)
  expect(connection.received.at(-1)).toBe("hello")
  expect(connection.closed).toBeNull()
}

describe("the sockets of a revoked token", () => {
  test("[AU8] are closed with 4401 in every session; another token's sockets stay open", async () => {
    const [lost, stillValid] = [await tokenOf("au8a", "ada"), await tokenOf("au8a", "ada")]
    const [one, two] = [await makeSession(lost), await makeSession(stillValid)]
    const closing = [await openSocket(one, lost), await openSocket(one, lost), await openSocket(two, lost)]
    const staying = [await openSocket(one, stillValid), await openSocket(two, stillValid)]
    await revokeTokens(lost)
    for (const connection of closing) await expectClosed(connection)
    for (const connection of staying) await expectOpen(connection)
  })

  test("[AU8] are closed when all tokens of a user are revoked, but no other user's or tenant's are, whatever the ids", async () => {
    const claims = { jti: "same", iat: nowSeconds() }
    const ownToken = await foreignToken("au8b", "ada", claims)
    const others = [await foreignToken("au8b", "eve", claims), await foreignToken("au8b-2", "ada", claims)]
    const connection = await openSocket(await makeSession(ownToken), ownToken)
    const second = await tokenOf("au8b", "ada")
    const other = await openSocket(await makeSession(second), second)
    const staying = await Promise.all(others.map(async (token) => openSocket(await makeSession(token), token)))
    expect(await revokeTokens(ownToken, '{"all":true}')).toMatchObject({ status: 200, json: { revoked: "all" } })
    await expectClosed(connection)
    await expectClosed(other)
    for (const one of staying) await expectOpen(one)
  })

  test("[AU8] are closed even after the session and the directory have slept", async () => {
    const token = await tokenOf("au8c", "ada")
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    await evictDurableObject(env.SESSION.getByName(`au8c:${id}`))
    await evictDurableObject(directoryStubOf("au8c"))
    await revokeTokens(token)
    await expectClosed(connection)
  })

  test("[AU8] are closed even if the session could not be notified at first: the alarm retries until the session is notified", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    const token = await tokenOf("au8d", "ada", 6000)
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    const revokeSpy = vi.spyOn(Session.prototype, "revoke").mockImplementation(() => {
      throw new Error("away")
    })
    await revokeTokens(token)
    await expect.poll(() => revokeSpy.mock.calls.length).toBe(1)
    await evictDurableObject(directoryStubOf("au8d"))
    const due = await alarmOf(directoryStubOf("au8d"))
    expect(due).not.toBeNull()
    expect(due).toBeLessThanOrEqual(Date.now() + 10_000)
    await runDurableObjectAlarm(directoryStubOf("au8d"))
    expect(revokeSpy.mock.calls).toHaveLength(2)
    expect(await alarmOf(directoryStubOf("au8d"))).toBeLessThanOrEqual(Date.now() + 10_000)
    await expectOpen(connection)
    // Opening a socket with another token must not stop the retries for this token.
    const other = await openSocket(id, await tokenOf("au8d", "ada", 9000))
    revokeSpy.mockRestore()
    await runDurableObjectAlarm(directoryStubOf("au8d"))
    await expectClosed(connection)
    await expectOpen(other)
    // Every session has been notified, so the next alarm is set for the time at which the revocation can be deleted.
    expect(await alarmOf(directoryStubOf("au8d"))).toBeGreaterThan(Date.now() + 60_000)
  })

  test("[AU8] another revocation doesn't postpone the pending notifications", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    vi.spyOn(Session.prototype, "revoke").mockImplementation(() => {
      throw new Error("away")
    })
    const [one, two] = [await tokenOf("au8e", "ada", 6000), await tokenOf("au8e", "ada", 6000)]
    await openSocket(await makeSession(one), one)
    await revokeTokens(one)
    const due = await alarmOf(directoryStubOf("au8e"))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await revokeTokens(two)
    expect(await alarmOf(directoryStubOf("au8e"))).toBe(due)
  })

  test("[AU8] a session that doesn't respond doesn't delay other sessions", async () => {
    const token = await tokenOf("au8f", "ada")
    const [deaf, good] = [await makeSession(token), await makeSession(token)]
    const lines = [await openSocket(deaf, token), await openSocket(good, token)] as const
    const revokeSpy = vi.spyOn(Session.prototype, "revoke").mockImplementationOnce(() => new Promise(() => {}) as never)
    await revokeTokens(token)
    await expect.poll(() => lines.filter(({ closed }) => closed === 4401).length).toBe(1)
    expect(revokeSpy.mock.calls).toHaveLength(2)
    await runDurableObjectAlarm(directoryStubOf("au8f"))
    for (const connection of lines) await expectClosed(connection)
  })

  test("[AU8] are closed when they connect, even if they were admitted before the revocation", async () => {
    const claims: Claims = { tenant: "au8g", user: "ada", expires: 4_000_000_000, token: "late", issued: 1 }
    await createSession("s1", claims)
    const session = sessionOf("s1", claims)
    const early = await connect("s1", claims)
    await session.revoke({ tenant: "au8g", user: "eve" }, { n: 1, tokens: ["late"], upTo: 2 })
    await session.revoke({ tenant: "acme", user: "ada" }, { n: 1, tokens: ["late"], upTo: 2 })
    expect(early.closed).toBeNull()
    await session.revoke(claims, { n: 2, tokens: ["late"], upTo: null })
    expect(await early.untilClosed()).toMatchObject({ code: 4401 })
    // An older revocation state that arrives late must change nothing.
    await session.revoke(claims, { n: 1, tokens: [], upTo: null })
    const late = await connect("s1", claims, null)
    expect(await late.untilClosed()).toMatchObject({ code: 4401 })
    expect(late.texts).toEqual([expect.stringContaining("token_revoked")])
    const other = await connect("s1", { ...claims, token: "other" })
    expect(other.closed).toBeNull()
  })

  test("[AU8] get one error however often the session is notified, and notifying an unknown session stores nothing", async () => {
    const claims: Claims = { tenant: "au8h", user: "ada", expires: 4_000_000_000, token: "t", issued: 1 }
    await createSession("s1", claims)
    const connection = await connect("s1", claims)
    for (const n of [1, 1, 2]) await sessionOf("s1", claims).revoke(claims, { n, tokens: ["t"], upTo: 1 })
    expect(await connection.untilClosed()).toMatchObject({ code: 4401 })
    expect(connection.frames.filter(({ type }) => type === "error")).toHaveLength(1)
    const ghost = env.SESSION.getByName("au8h:ghost")
    await ghost.revoke(claims, { n: 1, tokens: ["t"], upTo: 1 })
    expect(await tablesOf(ghost)).toEqual([])
  })

  test("[AU8] accept no messages if the client leaves them half open, even after the object slept", async () => {
    const [lost, stillValid] = [await tokenOf("au8j", "ada"), await tokenOf("au8j", "ada")]
    const id = await makeSession(stillValid)
    const connection = await openSocket(id, lost, HELLO, { allowHalfOpen: true })
    await revokeTokens(lost)
    await expectClosed(connection)
    for (let n = 0; n < 2; n += 1) {
      connection.socket.send(`{"type":"send","id":"q${n}","content":"/say hi"}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await evictDurableObject(env.SESSION.getByName(`au8j:${id}`))
    }
    const page = await call(`/v1/sessions/${id}/conversation/recent`, { token: stillValid })
    expect(page.json.messages).toEqual([])
  })

  test("[AU8] receive nothing more of a running turn", async () => {
    const [lost, stillValid] = [await tokenOf("au8i", "ada"), await tokenOf("au8i", "ada")]
    const id = await makeSession(stillValid)
    const [connection, other] = [await openSocket(id, lost), await openSocket(id, stillValid)]
    other.socket.send('{"type":"send","id":"q1","content":"/bench deltas=60 tools=0 delay_ms=10"}')
    await expect.poll(() => connection.received).toContain("ops")
    await revokeTokens(lost)
    await expectClosed(connection)
    const received = connection.received.length
    await expect.poll(() => other.received.length).toBeGreaterThan(received + 1)
    expect(connection.received).toHaveLength(received)
  })
})
