/**
 * auth-deployments.test.ts: tests which deployments serve requests, the local page's token, and which origins may call
 * the API.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { LOCAL_SECRET } from "../../worker/env.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import { type Call, call, HOST, makeSession, nowSeconds, refusal, SECRET, socketHeaders, tokenOf } from "./http.ts"

describe("deployments", () => {
  const PRODUCTION = {
    ENVIRONMENT: "production",
    AUTH: "jwt",
    JWT_SECRET: "x".repeat(32),
    OPERATOR_SECRET: "o".repeat(32),
  }

  test.each([
    [{ AUTH: "dev" }, "AUTH is dev in production"],
    [{ AUTH: undefined }, "AUTH is neither dev nor jwt"],
    [{ JWT_SECRET: undefined }, "JWT_SECRET is missing"],
    [{ JWT_SECRET: "" }, "JWT_SECRET is missing"],
    [{ JWT_SECRET: "x".repeat(31) }, "JWT_SECRET is shorter than 32 bytes"],
    [{ JWT_SECRET: LOCAL_SECRET }, "JWT_SECRET is the local development secret"],
    [{ ENVIRONMENT: "prodution" }, "ENVIRONMENT is neither local nor production"],
    [{ ENVIRONMENT: undefined }, "ENVIRONMENT is neither local nor production"],
    [{ TIME_SCALE: "0.1" }, "TIME_SCALE is set in production"],
    [{ TENANT_GRACE_MS: "1" }, "TENANT_GRACE_MS is set in production"],
    [{ PROBE_TOOLS: "on" }, "PROBE_TOOLS is set in production"],
    [{ MODEL_SCRIPT: "[]" }, "MODEL_SCRIPT is set in production"],
    [{ AUTH: "dev", JWT_SECRET: "short" }, "AUTH is dev in production; JWT_SECRET is shorter"],
  ])("[AU3] production with %j refuses to serve and names the reason", async (vars, because) => {
    const token = await tokenOf("acme", "ada")
    for (const [method, path] of [
      ["GET", "/healthz"],
      ["GET", "/v1/sessions"],
      ["POST", "/v1/dev/token"],
      ["GET", "/"],
    ] as const) {
      expect(await call(path, { method, token, env: { ...PRODUCTION, ...vars } })).toEqual(
        refusal(503, "deployment_unsafe", because),
      )
    }
  })

  test("[AU3] no refusal contains the secret", async () => {
    const response = await call("/healthz", { env: { ...PRODUCTION, JWT_SECRET: "hush" } })
    expect(response.text).not.toContain("hush")
  })

  test("[AU3] a safe production deployment serves requests and issues no tokens", async () => {
    expect(await call("/healthz", { env: PRODUCTION })).toMatchObject({ status: 200, json: { ok: true } })
    expect(await call("/v1/dev/token", { method: "POST", env: PRODUCTION })).toEqual(refusal(404, "route_unknown"))
  })

  test.each([
    ["http://127.0.0.1:8787", 200],
    ["http://[::1]:8787", 200],
    ["http://localhost:8787", 200],
    ["http://cuecard.localhost", 200],
    ["http://cuecard:8787", 200],
    ["https://listed.example", 200],
    ["https://cuecard.example", 503],
    ["http://127.0.0.1.evil.example", 503],
  ])("[AU6] a local deployment at %s responds with %i", async (origin, status) => {
    const { default: worker } = await import("../../worker/index.ts")
    const local = { ...env, ALLOWED_ORIGINS: "https://listed.example" }
    for (const path of ["/healthz", "/v1/nothing"]) {
      const answer = await worker.fetch(new Request(`${origin}${path}`), local)
      if (status === 503) expect(await answer.json()).toMatchObject({ code: "deployment_unsafe" })
      else expect(answer.status).toBe(path === "/healthz" ? 200 : 404)
    }
  })
})

describe("the local page's token", () => {
  const requestDevToken = (body?: string, more: Call = {}) =>
    call("http://localhost/v1/dev/token", { method: "POST", ...(body === undefined ? {} : { body }), ...more })

  test("[AU4] with AUTH=dev the page gets a token for the tenant demo, valid for an hour", async () => {
    const given = await requestDevToken('{"user":"me"}')
    expect(given).toMatchObject({ status: 200, json: { tenant: "demo", user: "me" } })
    expect(given.json.expires - nowSeconds()).toBeGreaterThan(3_590)
    expect(await call("/v1/sessions", { token: given.json.token })).toMatchObject({ status: 200 })
    expect((await requestDevToken()).json.user).toBe("you")
    const claims = await verifyToken(given.json.token, SECRET, Date.now())
    expect(claims).toMatchObject({ value: { token: expect.stringMatching(/^[\w-]{21}$/) } })
    expect(claims.ok && Math.abs(claims.value.issued - nowSeconds())).toBeLessThan(10)
  })

  test.each([
    ["http://localhost:8787", 200],
    ["http://chat.localhost", 200],
    ["http://127.0.0.1:8787", 200],
    ["http://127.9.9.9", 200],
    ["http://[::1]:8787", 200],
    ["http://192.168.1.5:8787", 404],
    ["http://10.0.0.1", 404],
    ["http://cuecard.test", 404],
    ["http://desk.lan", 404],
    ["http://0.0.0.0:8787", 404],
    ["http://[::ffff:7f00:2]", 404],
  ])("[AU4] at %s the route responds with %i", async (origin, status) => {
    const given = await call(`${origin}/v1/dev/token`, { method: "POST" })
    expect(given.status).toBe(status)
    if (status === 404) expect(given).toEqual(refusal(404, "route_unknown"))
  })

  test("[AU4] without AUTH=dev the route doesn't exist", async () => {
    expect(await requestDevToken("{}", { env: { AUTH: "jwt" } })).toEqual(refusal(404, "route_unknown"))
  })

  test.each(['{"user":"a:b"}', '{"user":7}', '{"user":""}'])("[AU4] %s doesn't name a valid user", async (body) => {
    expect(await requestDevToken(body)).toEqual(refusal(400, "field_invalid", "user"))
  })

  test("[AU4] other sites can't get a token", async () => {
    expect(await requestDevToken("{}", { headers: { origin: "https://evil.example" } })).toEqual(
      refusal(403, "origin_denied"),
    )
  })
})

describe("origins", () => {
  const LISTED = { ALLOWED_ORIGINS: "https://app.example, https://b.example" }
  const PREFLIGHT = { method: "OPTIONS", env: LISTED }
  const createPreflight = (origin: string) => ({ origin, "access-control-request-method": "POST" })

  test.each(["https://evil.example", "null", "http://cuecard.test", "https://cuecard.test.evil.example"])(
    "[AU5] the origin %j is refused on routes and sockets",
    async (origin) => {
      const token = await tokenOf("acme", "ada")
      const id = await makeSession(token)
      const denied = await call("/v1/sessions", { token, headers: { origin } })
      expect(denied).toEqual(refusal(403, "origin_denied"))
      // Only https origins may read the refusal, because a tenant can allow its widget only on https origins (WG10).
      const reader = origin.startsWith("https://") ? origin : null
      expect(denied.headers.get("access-control-allow-origin")).toBe(reader)
      expect(denied.headers.get("vary")).toBe("Origin")
      expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token, origin) })).toEqual(
        refusal(403, "origin_denied"),
      )
    },
  )

  test("[AU5] the deployment's own origin and a listed one may call routes and open sockets", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    for (const origin of [HOST, "https://b.example"]) {
      const answer = await call("/v1/sessions", { token, headers: { origin }, env: LISTED })
      expect(answer.status).toBe(200)
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin)
      const headers = socketHeaders(token, origin)
      expect((await call(`/v1/sessions/${id}/socket`, { headers, env: LISTED })).status).toBe(101)
    }
  })

  test("[AU5] an allowed origin can also read refusals", async () => {
    const answer = await call("/v1/sessions", { headers: { origin: "https://b.example" }, env: LISTED })
    expect(answer.status).toBe(401)
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://b.example")
  })

  test("[AU5] a request without an Origin header needs only a token", async () => {
    const answer = await call("/v1/sessions", { token: await tokenOf("acme", "ada") })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("vary")).toBe("Origin")
  })

  test("[AU5] a preflight from a listed origin succeeds without a token; one from an http origin is refused", async () => {
    const preflight = await call("/v1/sessions", { ...PREFLIGHT, headers: createPreflight("https://b.example") })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://b.example")
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization")
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST")
    expect(preflight.headers.get("vary")).toBe("Origin")
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
    expect(await call("/v1/sessions", { ...PREFLIGHT, headers: createPreflight("http://c.example") })).toEqual(
      refusal(403, "origin_denied"),
    )
  })

  test("[AU5] `null` can't be listed", async () => {
    const answer = await call("/v1/sessions", { headers: { origin: "null" }, env: { ALLOWED_ORIGINS: "null" } })
    expect(answer).toEqual(refusal(403, "origin_denied"))
  })
})
