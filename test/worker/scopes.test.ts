/** scopes.test.ts: tests the rights of each scope, and the tokens of external producers. */

import { SELF } from "cloudflare:test"
import { SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { EXTERNAL_TOKEN_SECONDS, MAX_EXTERNAL_TOKEN_SECONDS } from "../../shared/limits.ts"
import { issueToken, verifyToken } from "../../worker/auth/verify-token.ts"
import { call, HOST, makeSession, nowSeconds, refusal, SECRET, socketHeaders, tokenOf } from "./http.ts"
import type { Scope } from "../../worker/platform/rpc/claims.ts"

afterEach(() => void vi.useRealTimers())

const DENIED = refusal(403, "scope_denied")

function createScopedToken(
  tenant: string,
  scope: Scope,
  session?: string,
  token: string | null = "j1",
): Promise<string> {
  const [expires, issued] = [nowSeconds() + 600, Date.now() / 1000]
  return issueToken({ tenant, user: "ada", expires, token, issued, scope, session }, SECRET)
}

async function externalToken(id: string, token: string, body = "{}"): Promise<string> {
  const answer = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body })
  expect(answer.status).toBe(200)
  return answer.json.token
}

const sendMessage = (id: string, token: string) =>
  call(`/external/sessions/${id}/messages`, { method: "POST", token, body: JSON.stringify({ text: "x" }) })

describe("scopes", () => {
  test("[AU10] a user's routes and sockets accept the scope user or no scope, and no other scope", async () => {
    const token = await tokenOf("au10a", "ada")
    const id = await makeSession(token)
    const routes: [method: string, path: string][] = [
      ["GET", "/v1/sessions"],
      ["POST", "/v1/sessions"],
      ["GET", `/v1/sessions/${id}/conversation/recent`],
      ["POST", `/v1/sessions/${id}/messages`],
      ["POST", `/v1/sessions/${id}/cancel`],
      ["GET", `/v1/sessions/${id}/events`],
      ["POST", `/v1/sessions/${id}/import`],
      ["POST", `/v1/sessions/${id}/external-token`],
      ["GET", `/v1/sessions/${id}/socket`],
    ]
    for (const scope of ["external", "admin"] as const) {
      const other = await createScopedToken("au10a", scope, id)
      for (const [method, path] of routes) {
        const body = method === "POST" ? { body: "{}" } : {}
        expect(await call(path, { method, token: other, ...body }), `${scope} ${path}`).toEqual(DENIED)
      }
      expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(other) })).toEqual(DENIED)
    }
    expect((await call("/v1/sessions", { token: await createScopedToken("au10a", "user") })).status).toBe(200)
    for (const wrong of [token, await createScopedToken("au10a", "admin", id)])
      expect(await sendMessage(id, wrong)).toEqual(DENIED)
  })

  test("[AU10] tokens with an unknown scope, or with the scope external but no session, are invalid", async () => {
    const signToken = (more: object) =>
      new SignJWT({ tenant: "au10b", sub: "ada", exp: nowSeconds() + 600, ...more })
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode(SECRET))
    for (const more of [
      { scope: "root" },
      { scope: "external" },
      { scope: "external", session: "a b" },
      { scope: 1 },
    ]) {
      expect(await verifyToken(await signToken(more), SECRET, Date.now())).toEqual({
        ok: false,
        fault: { reason: "token_invalid" },
      })
    }
  })
})

describe("a token for an external producer", () => {
  test("[AU11] is issued only to the session's owner, for that session, and lasts as long as requested, within limits", async () => {
    const token = await tokenOf("au11a", "ada")
    const [id, other] = [await makeSession(token), await makeSession(token)]
    const given = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body: "{}" })
    expect(given.json.expires - nowSeconds()).toBeGreaterThan(EXTERNAL_TOKEN_SECONDS - 10)
    expect(await verifyToken(given.json.token, SECRET, Date.now())).toMatchObject({
      value: { tenant: "au11a", user: "ada", scope: "external", session: id, token: expect.any(String) },
    })
    expect(await sendMessage(id, given.json.token)).toMatchObject({ status: 200 })
    expect(await sendMessage(other, given.json.token)).toEqual(DENIED)
    const short = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body: '{"seconds":60}' })
    expect(short.json.expires - nowSeconds()).toBeLessThanOrEqual(60)
    for (const seconds of [0, 1.5, -1, MAX_EXTERNAL_TOKEN_SECONDS + 1, "60"]) {
      const body = JSON.stringify({ seconds })
      expect(await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body })).toEqual(
        refusal(400, "field_invalid", "seconds"),
      )
    }
    const otherToken = await tokenOf("au11a", "eve")
    for (const path of [id, "ghost", "no id"]) {
      const request = { method: "POST", token: path === id ? otherToken : token, body: "{}" }
      expect(await call(`/v1/sessions/${encodeURIComponent(path)}/external-token`, request)).toEqual(
        refusal(404, "session_unknown"),
      )
    }
  })

  test("[AU11] can be revoked on its own or together with all of its user's tokens, and can revoke only itself", async () => {
    const token = await tokenOf("au11b", "ada")
    const id = await makeSession(token)
    const [one, two] = [await externalToken(id, token), await externalToken(id, token)]
    const revokeTokens = (who: string, body: string) => call("/v1/tokens/revoke", { method: "POST", token: who, body })
    expect(await revokeTokens(one, '{"all":true}')).toEqual(DENIED)
    expect(await revokeTokens(await createScopedToken("au11b", "external", id, null), "{}")).toEqual(DENIED)
    expect(await revokeTokens(one, "{}")).toMatchObject({ status: 200, json: { revoked: "token" } })
    expect(await sendMessage(id, one)).toEqual(refusal(401, "token_revoked"))
    expect(await sendMessage(id, two)).toMatchObject({ status: 200 })
    expect(await revokeTokens(token, '{"all":true}')).toMatchObject({ status: 200 })
    expect(await sendMessage(id, two)).toEqual(refusal(401, "token_revoked"))
  })

  test("[AU11] a request in progress ends when its token is revoked or expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const token = await tokenOf("au11c", "ada")
    const id = await makeSession(token)
    const startSending = async (outside: string) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const init = { method: "POST", headers: { authorization: `Bearer ${outside}` }, body: readable }
      const answer = SELF.fetch(`${HOST}/external/sessions/${id}/events?responseId=r1`, init)
      const writer = writable.getWriter()
      const sendText = (text: string) => writer.write(new TextEncoder().encode(text)).catch(() => {})
      return { answer, send: sendText }
    }
    const first = await startSending(await externalToken(id, token))
    await first.send('{"type":"text_delta","delta":"a"}\n')
    await expect.poll(async () => (await call("/v1/sessions", { token })).status).toBe(200)
    await expect
      .poll(async () => (await call(`/v1/sessions/${id}/conversation/recent`, { token })).json.messages.length)
      .toBe(1)
    await call("/v1/tokens/revoke", { method: "POST", token, body: '{"all":true}' })
    expect(await (await first.answer).json()).toMatchObject({ code: "token_revoked", status: "running" })
    vi.setSystemTime(Date.now() + 2_000)
    const later = await tokenOf("au11c", "ada")
    const lastContent = async () =>
      (await call(`/v1/sessions/${id}/conversation/recent`, { token: later })).json.messages[0].content
    const second = await startSending(await externalToken(id, later, '{"seconds":60}'))
    // The server accepts the request's first record before the token expires.
    await second.send('{"type":"text_delta","delta":"b"}\n')
    await expect.poll(lastContent).toBe("ab")
    vi.setSystemTime(Date.now() + 61_000)
    await second.send('{"type":"text_delta","delta":"late"}\n')
    expect(await (await second.answer).json()).toMatchObject({ code: "token_expired" })
    expect(await lastContent()).toBe("ab")
  })
})
