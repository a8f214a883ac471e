/** routes.test.ts: the HTTP doors: tokens, origins, bodies, sessions, history; through the whole Worker. */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import { SignJWT } from "jose"
import { describe, expect, test } from "vitest"
import { MAX_BODY_BYTES, MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import worker from "../../worker/index.ts"
import { issueToken } from "../../worker/tenant/keys.ts"

const HOST = "https://cuecard.test"
const SECRET = String(env.JWT_SECRET)

function tokenOf(tenant: string, user: string, seconds = 600): Promise<string> {
  return issueToken({ tenant, user, expires: Math.floor(Date.now() / 1000) + seconds }, SECRET)
}

interface Call {
  readonly method?: string
  readonly token?: string
  readonly body?: BodyInit
  readonly headers?: Record<string, string>
}

async function call(path: string, { method = "GET", token, body, headers = {} }: Call = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const init = { method, headers: { ...authorization, ...headers }, ...(body === undefined ? {} : { body }) }
  const response = await SELF.fetch(`${HOST}${path}`, init)
  const text = response.status === 101 || response.status === 204 ? "" : await response.text()
  return { status: response.status, headers: response.headers, json: text.startsWith("{") ? JSON.parse(text) : null }
}

async function makeSession(token: string, title?: string): Promise<string> {
  const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ title }) })
  expect(made.status).toBe(201)
  return made.json.id
}

describe("sessions", () => {
  test("[RT1] make, say, read: the same effect as on the socket", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const said = await call(`/v1/sessions/${id}/messages`, {
      method: "POST",
      token,
      body: '{"id":"m1","content":"/say hi"}',
    })
    expect(said).toMatchObject({ status: 202, json: { id: "m1", seq: 1, duplicate: false } })
    const again = await call(`/v1/sessions/${id}/messages`, {
      method: "POST",
      token,
      body: '{"id":"m1","content":"other"}',
    })
    expect(again).toMatchObject({ status: 202, json: { id: "m1", seq: 1, duplicate: true } })
    const page = await call(`/v1/sessions/${id}/conversation/recent`, { token })
    expect(page.status).toBe(200)
    expect(page.json.messages).toHaveLength(2)
    expect(page.headers.get("cache-control")).toBe("no-store")
    expect(page.headers.get("x-content-type-options")).toBe("nosniff")
  })

  test("[RT2] a message without an id is given one", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const said = await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: '{"content":"/say hi"}' })
    expect(said.json.id).toMatch(/^[\w-]{21}$/)
  })

  test.each(["0", "121", "-1", "1.5", "x", ""])("[RT3] limit=%s is refused", async (limit) => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const page = await call(`/v1/sessions/${id}/conversation/recent?limit=${limit}`, { token })
    expect(page).toMatchObject({ status: 400, json: { code: "field_invalid" } })
  })

  test.each(["-1", "0", "abc", "1e3", "99999999999999999999"])("[RT3] before=%s is refused", async (before) => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const page = await call(`/v1/sessions/${id}/conversation/recent?before=${before}`, { token })
    expect(page).toMatchObject({
      status: 400,
      json: { code: "field_invalid", text: expect.stringContaining("before") },
    })
  })

  test.each([
    ["no JSON", "{", 400, "body_malformed"],
    ["no object", "[]", 400, "body_malformed"],
    ["no content", "{}", 400, "field_invalid"],
    ["a content that is no text", '{"content":7}', 400, "field_invalid"],
    ["an id that is none", '{"id":"a b","content":"x"}', 400, "field_invalid"],
    ["an empty message", '{"content":"  "}', 400, "message_empty"],
    ["a long message", JSON.stringify({ content: "x".repeat(MAX_MESSAGE_BYTES + 1) }), 413, "message_too_large"],
    ["a long body", JSON.stringify({ content: "x".repeat(MAX_BODY_BYTES) }), 413, "body_too_large"],
    ["an answer to nothing", '{"content":"x","reply_to":"ghost"}', 400, "frame_invalid"],
  ])("[RT4] a body with %s is told, and nothing is stored", async (_what, body, status, code) => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    expect(await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body })).toMatchObject({
      status,
      json: { code },
    })
    expect((await call(`/v1/sessions/${id}/conversation/recent`, { token })).json.messages).toEqual([])
  })

  test("[RT4] a body that never says its length is counted as it comes", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const chunk = new Uint8Array(64 * 1024).fill(120)
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += chunk.byteLength
        if (sent > MAX_BODY_BYTES * 8) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const said = await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body })
    expect(said).toMatchObject({ status: 413, json: { code: "body_too_large" } })
  })

  test("[RT5] what is not there is said in JSON", async () => {
    const token = await tokenOf("acme", "ada")
    expect(await call("/v1/nothing", { token })).toMatchObject({ status: 404, json: { code: "route_unknown" } })
    expect(await call("/v1/sessions/ghost/conversation/recent", { token })).toMatchObject({
      ...{ status: 404, json: { code: "session_unknown" } },
    })
    expect(await call(`/v1/sessions/${"x".repeat(65)}/conversation/recent`, { token })).toMatchObject({ status: 404 })
    const id = await makeSession(token)
    expect(await call(`/v1/sessions/${id}/socket`, { token })).toMatchObject({ status: 426 })
  })

  test("[RT5] health needs no token", async () => {
    expect(await call("/healthz")).toMatchObject({ status: 200, json: { ok: true } })
  })

  test("[RT6] no route opens another tenant's or another user's session, and the refusal stores nothing", async () => {
    const id = await makeSession(await tokenOf("acme", "ada"))
    for (const [tenant, user] of [
      ["evil", "ada"],
      ["acme", "eve"],
    ] as const) {
      const token = await tokenOf(tenant, user)
      expect(await call(`/v1/sessions/${id}/conversation/recent`, { token })).toMatchObject({ status: 404 })
      const said = await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: '{"content":"x"}' })
      expect(said).toMatchObject({ status: 404, json: { code: "session_unknown" } })
      const headers = { upgrade: "websocket", "sec-websocket-protocol": `cuecard.v1, token.${token}` }
      expect(await call(`/v1/sessions/${id}/socket`, { headers })).toMatchObject({ status: 404 })
    }
    const tables = await runInDurableObject(env.SESSION.getByName(`evil:${id}`), (_object, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
    )
    expect(tables).toEqual([])
  })
})

describe("the directory", () => {
  test("[DI1] lists a user's own sessions, the last one used first, titled by their first words", async () => {
    const token = await tokenOf("list", "ada")
    const [one, two] = [await makeSession(token), await makeSession(token, "Named")]
    await call(`/v1/sessions/${one}/messages`, { method: "POST", token, body: '{"content":"/say  first\\nwords"}' })
    await expect
      .poll(async () => (await call("/v1/sessions", { token })).json.sessions.map((s: { title: string }) => s.title))
      .toEqual(["/say first words", "Named"])
    const { sessions } = (await call("/v1/sessions", { token })).json
    expect(sessions.map((session: { id: string }) => session.id)).toEqual([one, two])
    expect((await call("/v1/sessions", { token: await tokenOf("list", "eve") })).json.sessions).toEqual([])
  })

  test("[DI2] reading an unknown user's list writes nothing", async () => {
    const stub = env.DIRECTORY.getByName("nobody:nobody")
    expect(await stub.list(5)).toEqual([])
    await stub.touch("ghost", 1, "x")
    const tables = await runInDurableObject(stub, (_object, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
    )
    expect(tables).toEqual([])
  })
})

describe("tokens", () => {
  const sign = (payload: Record<string, unknown>, alg = "HS256", secret = SECRET) =>
    new SignJWT(payload).setProtectedHeader({ alg }).setExpirationTime("10m").sign(new TextEncoder().encode(secret))

  test("[AU1] no token, no entry", async () => {
    expect(await call("/v1/sessions")).toMatchObject({ status: 401, json: { code: "token_missing" } })
    const token = await tokenOf("acme", "ada")
    expect(await call(`/v1/sessions?token=${token}&access_token=${token}`)).toMatchObject({ status: 401 })
  })

  test("[AU1] an expired token is told so", async () => {
    const token = await tokenOf("acme", "ada", -60)
    expect(await call("/v1/sessions", { token })).toMatchObject({ status: 401, json: { code: "token_expired" } })
  })

  test("[AU1] wrong secret, algorithm, shape or ids are all the same to us", async () => {
    const none = `${btoa('{"alg":"none"}')}.${btoa('{"tenant":"acme","sub":"ada","exp":4000000000}')}.`.replaceAll(
      "=",
      "",
    )
    const tokens = [
      none,
      "rubbish",
      await sign({ tenant: "acme", sub: "ada" }, "HS256", `${SECRET}x`),
      await sign({ tenant: "acme", sub: "ada" }, "HS512"),
      await sign({ sub: "ada" }),
      await sign({ tenant: "acme" }),
      await sign({ tenant: "ac:me", sub: "ada" }),
      await sign({ tenant: "acme", sub: "a".repeat(65) }),
    ]
    for (const token of tokens) {
      expect(await call("/v1/sessions", { token })).toMatchObject({ status: 401, json: { code: "token_invalid" } })
    }
  })

  test("[AU2] a socket takes its token as a subprotocol and is answered with ours alone", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const headers = { upgrade: "websocket", "sec-websocket-protocol": `cuecard.v1, token.${token}` }
    const response = await SELF.fetch(`${HOST}/v1/sessions/${id}/socket`, { headers })
    expect(response.status).toBe(101)
    expect(response.headers.get("sec-websocket-protocol")).toBe("cuecard.v1")
    response.webSocket?.accept()
    response.webSocket?.close()
  })

  test("[AU2] claims that come from outside are thrown away", async () => {
    const id = await makeSession(await tokenOf("acme", "ada"))
    const headers = {
      upgrade: "websocket",
      "sec-websocket-protocol": `cuecard.v1, token.${await tokenOf("acme", "eve")}`,
      "x-cuecard-claims": JSON.stringify({ tenant: "acme", user: "ada", expires: 4_000_000_000 }),
    }
    expect(await call(`/v1/sessions/${id}/socket`, { headers })).toMatchObject({ status: 404 })
  })

  test.each([
    [{ AUTH: "dev" }, "AUTH is dev"],
    [{ JWT_SECRET: undefined }, "missing"],
    [{ JWT_SECRET: "short" }, "shorter than 32"],
    [{ JWT_SECRET: "local-development-only-never-deploy-this" }, "local development secret"],
  ])("[AU3] production with %j refuses to serve, saying which", async (vars, because) => {
    const production = { ...env, ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "x".repeat(32), ...vars }
    for (const path of ["/healthz", "/v1/sessions", "/v1/dev/token"]) {
      const response = await worker.fetch(new Request(`${HOST}${path}`), production)
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ code: "deployment_unsafe", text: expect.stringContaining(because) })
    }
  })

  test("[AU3] a safe production serves, and hands out no tokens", async () => {
    const production = { ...env, ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "x".repeat(32) }
    expect((await worker.fetch(new Request(`${HOST}/healthz`), production)).status).toBe(200)
    const asked = await worker.fetch(new Request(`${HOST}/v1/dev/token`, { method: "POST" }), production)
    expect(asked.status).toBe(404)
  })

  test("[AU4] with AUTH=dev the page gets a token for the tenant demo", async () => {
    const given = await call("/v1/dev/token", { method: "POST", body: '{"user":"me"}' })
    expect(given).toMatchObject({ status: 200, json: { tenant: "demo", user: "me" } })
    expect(await call("/v1/sessions", { token: given.json.token })).toMatchObject({ status: 200 })
    expect(await call("/v1/dev/token", { method: "POST", body: '{"user":"a:b"}' })).toMatchObject({ status: 400 })
  })
})

describe("origins", () => {
  test("[AU5] a strange origin is refused on routes and sockets; our own and the listed ones are not", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    for (const origin of ["https://evil.example", "null", "http://cuecard.test"]) {
      expect(await call("/v1/sessions", { token, headers: { origin } })).toMatchObject({ status: 403 })
      const headers = { origin, upgrade: "websocket", "sec-websocket-protocol": `cuecard.v1, token.${token}` }
      expect(await call(`/v1/sessions/${id}/socket`, { headers })).toMatchObject({ json: { code: "origin_denied" } })
    }
    const own = await call("/v1/sessions", { token, headers: { origin: HOST } })
    expect(own.status).toBe(200)
    expect(own.headers.get("access-control-allow-origin")).toBe(HOST)
    expect(own.headers.get("vary")).toContain("Origin")
  })

  test("[AU5] a preflight of a listed origin is answered without a token", async () => {
    const listed = { ...env, ALLOWED_ORIGINS: "https://app.example, https://b.example" }
    const headers = { origin: "https://b.example", "access-control-request-method": "POST" }
    const asked = await worker.fetch(new Request(`${HOST}/v1/sessions`, { method: "OPTIONS", headers }), listed)
    expect(asked.status).toBe(204)
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization")
    const denied = { ...headers, origin: "https://c.example" }
    expect(
      (await worker.fetch(new Request(`${HOST}/v1/sessions`, { method: "OPTIONS", headers: denied }), listed)).status,
    ).toBe(403)
  })
})
