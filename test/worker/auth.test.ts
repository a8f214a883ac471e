/** auth.test.ts: tests access with tokens, sockets whose token expires, and sockets that aren't used. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { succeed } from "../../shared/fault.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import { Sockets } from "../../worker/socket/sockets.ts"
import {
  call,
  HELLO,
  makeSession,
  nowSeconds,
  openSocket,
  refusal,
  SECRET,
  socketHeaders,
  tablesOf,
  tokenOf,
} from "./http.ts"

const GOOD = { tenant: "acme", sub: "ada" }

function signToken(payload: Record<string, unknown>, alg = "HS256", secret = SECRET): Promise<string> {
  return new SignJWT({ exp: nowSeconds() + 600, ...payload })
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(secret))
}

function createUnsignedToken(payload: Record<string, unknown>): string {
  const encodeJson = (value: unknown): string => btoa(JSON.stringify(value)).replaceAll("=", "")
  return `${encodeJson({ alg: "none" })}.${encodeJson({ exp: nowSeconds() + 600, ...payload })}.`
}

describe("tokens", () => {
  test.each([
    ["GET", "/v1/sessions"],
    ["POST", "/v1/sessions"],
    ["GET", "/v1/sessions/s1/conversation/recent"],
    ["POST", "/v1/sessions/s1/messages"],
    ["GET", "/v1/sessions/s1/socket"],
    ["POST", "/v1/tokens/revoke"],
  ])("[AU1] %s %s needs a token in a header, not in the URL", async (method, path) => {
    const token = await tokenOf("acme", "ada")
    expect(await call(path, { method })).toEqual(refusal(401, "token_missing"))
    expect(await call(`${path}?token=${token}&access_token=${token}`, { method })).toEqual(
      refusal(401, "token_missing"),
    )
    expect(await call(path, { method, headers: { authorization: `Basic ${token}` } })).toEqual(
      refusal(401, "token_missing"),
    )
    expect(await call(path, { method, headers: { cookie: `token=${token}` } })).toEqual(refusal(401, "token_missing"))
  })

  test("[AU1] a token in a socket's URL is ignored too", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const headers = { upgrade: "websocket", "sec-websocket-protocol": "cuecard.v1" }
    expect(await call(`/v1/sessions/${id}/socket?token=${token}`, { headers })).toEqual(refusal(401, "token_missing"))
  })

  test("[AU1] an expired token is reported as such, on routes and sockets, and stores nothing", async () => {
    const token = await tokenOf("acme", "late", -60)
    expect(await call("/v1/sessions", { method: "POST", token, body: "{}" })).toEqual(refusal(401, "token_expired"))
    expect(await call("/v1/sessions/s1/socket", { headers: socketHeaders(token) })).toEqual(
      refusal(401, "token_expired"),
    )
    expect(await tablesOf(env.DIRECTORY.getByName("acme:late"))).toEqual([])
  })

  test("[AU1] a signer's clock may differ by at most five seconds", async () => {
    const now = 1_800_000_000
    const token = await signToken({ ...GOOD, exp: now })
    expect(await verifyToken(token, SECRET, (now + 4) * 1000)).toEqual({
      ok: true,
      value: { tenant: "acme", user: "ada", expires: now, token: null, issued: 0 },
    })
    expect(await verifyToken(token, SECRET, (now + 5) * 1000)).toMatchObject({ fault: { reason: "token_expired" } })
    const early = await signToken({ ...GOOD, nbf: now, exp: now + 60 })
    expect(await verifyToken(early, SECRET, (now - 5) * 1000)).toMatchObject({ ok: true })
    expect(await verifyToken(early, SECRET, (now - 6) * 1000)).toMatchObject({ fault: { reason: "token_invalid" } })
    const coming = await signToken({ ...GOOD, iat: now, jti: "t 1", exp: now + 60 })
    expect(await verifyToken(coming, SECRET, (now - 5) * 1000)).toMatchObject({ value: { token: "t 1", issued: now } })
    expect(await verifyToken(coming, SECRET, (now - 6) * 1000)).toMatchObject({ fault: { reason: "token_invalid" } })
  })

  test.each<[string, () => string | Promise<string>]>([
    ["rubbish", () => "rubbish"],
    ["no signature", () => createUnsignedToken(GOOD)],
    ["another secret", () => signToken(GOOD, "HS256", `${SECRET}x`)],
    ["HS512 with our secret", () => signToken(GOOD, "HS512")],
    ["HS384 with our secret", () => signToken(GOOD, "HS384")],
    [
      "a changed payload",
      async () =>
        (await signToken(GOOD)).replace(/\.[^.]+\./, `.${createUnsignedToken({ ...GOOD, sub: "eve" }).split(".")[1]}.`),
    ],
    ["no tenant", () => signToken({ sub: "ada" })],
    ["no user", () => signToken({ tenant: "acme" })],
    ["no expiry", () => signToken({ ...GOOD, exp: undefined })],
    ["an expiry that is not a number", () => signToken({ ...GOOD, exp: "never" })],
    ["a tenant with a colon", () => signToken({ tenant: "ac:me", sub: "ada" })],
    ["an empty user", () => signToken({ tenant: "acme", sub: "" })],
    ["a user of 65 characters", () => signToken({ tenant: "acme", sub: "a".repeat(65) })],
    ["a tenant that is not a string", () => signToken({ tenant: ["acme"], sub: "ada" })],
    ["an id that is not a string", () => signToken({ ...GOOD, jti: 7 })],
    ["an empty id", () => signToken({ ...GOOD, jti: "" })],
    ["an id of 257 characters", () => signToken({ ...GOOD, jti: "x".repeat(257) })],
    ["an id that no header can carry", () => signToken({ ...GOOD, jti: "grüße" })],
    ["a time of issue in milliseconds", () => signToken({ ...GOOD, iat: Date.now() })],
    ["a time of issue that is not a number", () => signToken({ ...GOOD, iat: "now" })],
  ])("[AU1] %s gets token_invalid, without details", async (_what, make) => {
    const token = await make()
    expect(await call("/v1/sessions", { token })).toEqual(refusal(401, "token_invalid"))
  })
})

describe("sockets", () => {
  test("[AU2] a socket sends its token as a subprotocol and gets only the server's subprotocol back", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const opened = await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })
    expect(opened.status).toBe(101)
    expect(opened.headers.get("sec-websocket-protocol")).toBe("cuecard.v1")
  })

  test("[AU2] a client that can send headers can omit subprotocols, and then gets none back", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const opened = await call(`/v1/sessions/${id}/socket`, { token, headers: { upgrade: "websocket" } })
    expect(opened.status).toBe(101)
    expect(opened.headers.get("sec-websocket-protocol")).toBeNull()
  })

  test("[AU2] a client that offers only unknown subprotocols gets an error that names the server's", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const headers = { upgrade: "websocket", "sec-websocket-protocol": `chat, token.${token}` }
    expect(await call(`/v1/sessions/${id}/socket`, { headers })).toEqual(refusal(400, "protocol_unsupported"))
  })

  test("[AU2] a token in the subprotocols is accepted only for sockets", async () => {
    const { upgrade: _, ...headers } = socketHeaders(await tokenOf("acme", "ada"))
    expect(await call("/v1/sessions", { headers })).toEqual(refusal(401, "token_missing"))
  })

  test("[AU2] claims that a client sends are discarded", async () => {
    const id = await makeSession(await tokenOf("acme", "ada"))
    const claims = JSON.stringify({ tenant: "acme", user: "ada", expires: 4_000_000_000 })
    const headers = { ...socketHeaders(await tokenOf("acme", "eve")), "x-cuecard-claims": claims }
    expect(await call(`/v1/sessions/${id}/socket`, { headers })).toEqual(refusal(404, "session_unknown"))
  })
})

describe("sockets whose token expires", () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  /** Advances the clock and evicts the object, because the object reads the clock again when it wakes up. */
  const passSeconds = (seconds: number, id: string): Promise<void> => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 })
    return evictDurableObject(env.SESSION.getByName(`acme:${id}`))
  }
  const historyOf = async (id: string, token: string) =>
    (await call(`/v1/sessions/${id}/conversation/recent`, { token })).json.messages

  test.each([
    ["a message", '{"type":"send","id":"q1","content":"hi"}'],
    ["a hello", HELLO],
    ["rubbish", "{"],
    ["a seen frame", '{"type":"seen","seq":0}'],
  ])("[WS10] are closed when they receive %s, which has no effect", async (_what, frame) => {
    const [short, long] = [await tokenOf("acme", "ada", 60), await tokenOf("acme", "ada", 600)]
    const id = await makeSession(long)
    const [connection, other] = [await openSocket(id, short), await openSocket(id, long)]
    await passSeconds(61, id)
    connection.socket.send(frame)
    connection.socket.send(frame)
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received).toEqual(["hello", "token_expired"])
    expect(await historyOf(id, long)).toEqual([])
    expect(other.closed).toBeNull()
  })

  test("[WS10] receive no more of an answer if the token expires in the middle of it", async () => {
    const [short, long] = [await tokenOf("acme", "ada", 3), await tokenOf("acme", "ada", 600)]
    const id = await makeSession(long)
    const [connection, other] = [await openSocket(id, short), await openSocket(id, long)]
    other.socket.send('{"type":"send","id":"q1","content":"/bench deltas=400 tools=0 delay_ms=10"}')
    await expect.poll(() => connection.received).toContain("ops")
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received.at(-1)).toBe("token_expired")
    const received = connection.received.length
    await expect.poll(() => other.received.length).toBeGreaterThan(received)
    expect(connection.received).toHaveLength(received)
  })

  test("[WS10] are closed at once if they are opened within the clock tolerance, and can't be opened after it", async () => {
    const [short, long] = [await tokenOf("acme", "ada", 60), await tokenOf("acme", "ada", 600)]
    const id = await makeSession(long)
    await passSeconds(62, id)
    const connection = await openSocket(id, short, null)
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received).toEqual(["token_expired"])
    await passSeconds(5, id)
    expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(short) })).toEqual(
      refusal(401, "token_expired"),
    )
  })
})

describe("unused sockets", () => {
  const stubOf = (id: string) => env.SESSION.getByName(`acme:${id}`)
  const alarmOf = (id: string) => runInDurableObject(stubOf(id), (_object, { storage }) => storage.getAlarm())

  /** Opens a socket to a session object that waits for a hello for a tenth of a second instead of half a minute. */
  async function openUnderShortLimits(hello: string | null) {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const claims = await verifyToken(token, SECRET, Date.now())
    if (!claims.ok) throw new Error("no claims")
    return await runInDurableObject(stubOf(id), async (_object, state) => {
      const host = { now: Date.now, helloMs: 100, registerMs: 5_000, armBy: () => {}, waitUntil: () => {} }
      const sockets = new Sockets(state, { ...host, authorizeSocket: async () => succeed(null) })
      const socket = sockets.acceptSocket(claims.value).webSocket
      if (socket === null) throw new Error("no socket")
      const seen = { codes: [] as string[], closed: 0 }
      socket.addEventListener("message", ({ data }) => seen.codes.push(JSON.parse(String(data)).code ?? "hello"))
      socket.addEventListener("close", ({ code }) => {
        seen.closed = code
      })
      socket.accept()
      const [server] = state.getWebSockets()
      const resume = { epoch: "e", seq: 0, after: null, live: true, changesSince: () => [] }
      if (hello !== null && server !== undefined) sockets.resumeSocket(server, resume)
      await new Promise((resolve) => setTimeout(resolve, 300))
      return seen
    })
  }

  test("[AU15] a socket without a hello is closed", async () => {
    expect(await openUnderShortLimits(null)).toEqual({ codes: ["hello_timeout"], closed: 4408 })
  })

  test("[AU15] a socket with a hello stays open", async () => {
    expect(await openUnderShortLimits(HELLO)).toEqual({ codes: ["hello"], closed: 0 })
  })

  test("[AU16] an idle socket is closed by the alarm when its token expires, even if the object has slept", async () => {
    const [short, long] = [await tokenOf("acme", "ada", 60), await tokenOf("acme", "ada", 600)]
    const id = await makeSession(long)
    const other = await openSocket(id, long)
    const connection = await openSocket(id, short)
    const expiresAt = (token: string) =>
      verifyToken(token, SECRET, Date.now()).then((read) => read.ok && read.value.expires * 1000)
    const [first, second] = [await expiresAt(short), await expiresAt(long)]
    await expect.poll(() => alarmOf(id)).toBe(first)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 })
    await evictDurableObject(stubOf(id))
    await runDurableObjectAlarm(stubOf(id))
    await expect.poll(() => connection.closed).toBe(4401)
    expect(connection.received).toEqual(["hello", "token_expired"])
    expect(other.closed).toBeNull()
    await expect.poll(() => alarmOf(id)).toBe(second)
  })

  test("[AU16] an earlier alarm isn't postponed", async () => {
    const token = await tokenOf("acme", "ada", 600)
    const id = await makeSession(token)
    const soon = Date.now() + 100_000
    await runInDurableObject(stubOf(id), (_object, { storage }) => storage.setAlarm(soon))
    await openSocket(id, token)
    expect(await alarmOf(id)).toBe(soon)
  })
})
