/**
 * widget-access.test.ts: tests which sites may show a tenant's widget: the setting, the API, sockets, media and frames.
 */

import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { signLink } from "../../worker/auth/link-signing.ts"
import { isEmbedHost, MAX_EMBED_HOSTS, parseEmbedHost } from "../../worker/settings/embed-hosts.ts"
import { createSettingsSchema } from "../../worker/settings/settings-schema.ts"
import { call, makeSession, nowSeconds, refusal, roleToken, SECRET, socketHeaders, tokenOf } from "./http.ts"

const SHOP = "https://www.shop.example.com"

async function putSettings(tenant: string, settings: unknown) {
  const token = await roleToken(tenant, "root", "admin")
  return await call("/v1/settings", { method: "PUT", token, body: JSON.stringify(settings) })
}

const from = (origin: string, more: Record<string, string> = {}) => ({ headers: { origin, ...more } })
const preflightOf = (origin: string) => ({
  method: "OPTIONS",
  ...from(origin, { "access-control-request-method": "GET" }),
})

describe("the setting", () => {
  test.each([
    ["https://Shop.Example.com/", "https://shop.example.com"],
    ["https://shop.example.com:8443", "https://shop.example.com:8443"],
    ["https://*.Shop.example.com", "https://*.shop.example.com"],
  ])("[WG1] %s is stored as %s", (text, stored) => {
    expect(parseEmbedHost(text, false)).toEqual({ ok: true, value: stored })
  })

  test.each([
    "http://shop.example.com",
    "https://shop.example.com/chat",
    "https://*.com",
    "https://*",
    "https://www.*.example.com",
    "https://*.shop.example.com:8443",
    "https://10.0.0.1",
    "https://user@shop.example.com",
    "https://shop.example.com; script-src *",
    "http://localhost:3000",
    "shop.example.com",
    "null",
    "*",
  ])("[WG1] %s is refused", (text) => {
    expect(parseEmbedHost(text, false).ok).toBe(false)
  })

  test("[WG1] a site on the same machine is accepted in development only", async () => {
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:8080", "http://shop.localhost:3000"]) {
      expect(parseEmbedHost(origin, true)).toEqual({ ok: true, value: origin })
    }
    expect((await putSettings("wg-local", { embed_hosts: ["http://localhost:3000"] })).status).toBe(200)
    const inProduction = v.safeParse(createSettingsSchema(false), { embed_hosts: ["http://localhost:3000"] })
    expect(inProduction.success).toBe(false)
  })

  test("[WG1] an administrator sets the sites; without any, the settings don't contain the field", async () => {
    const set = await putSettings("wg-set", { embed_hosts: [SHOP, SHOP, "https://*.shop.example.com"] })
    expect(set.json).toEqual({
      embed_origins: [],
      media_hosts: [],
      embed_hosts: [SHOP, "https://*.shop.example.com"],
    })
    expect((await putSettings("wg-set", { media_hosts: [] })).json).toEqual({ embed_origins: [], media_hosts: [] })
    expect(await putSettings("wg-set", { embed_hosts: ["https://*.com"] })).toEqual(refusal(400, "field_invalid"))
    const many = Array.from({ length: MAX_EMBED_HOSTS + 1 }, (_, at) => `https://s${at}.example.com`)
    expect(await putSettings("wg-set", { embed_hosts: many })).toEqual(refusal(400, "field_invalid"))
    const user = await tokenOf("wg-set", "ada")
    const body = JSON.stringify({ embed_hosts: [SHOP] })
    expect(await call("/v1/settings", { method: "PUT", token: user, body })).toEqual(refusal(403, "scope_denied"))
  })

  test("[WG1] a star matches only subdomains", () => {
    const entries = ["https://*.shop.example.com"]
    for (const origin of ["https://www.shop.example.com", "https://a.b.shop.example.com"])
      expect(isEmbedHost(entries, origin)).toBe(true)
    for (const origin of [
      "https://shop.example.com",
      "https://evilshop.example.com",
      "http://www.shop.example.com",
      "https://www.shop.example.com:8443",
      "https://www.shop.example.com.evil.example",
      "https://evil.example/.shop.example.com",
      "null",
    ])
      expect(isEmbedHost(entries, origin), origin).toBe(false)
  })
})

describe("the API", () => {
  test("[WG2] [WG10] an allowed site can call routes and sockets with a token of the tenant, without credentials", async () => {
    await putSettings("wg-api", { embed_hosts: [SHOP] })
    const token = await tokenOf("wg-api", "ada")
    const preflight = await call("/v1/sessions", preflightOf(SHOP))
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get("access-control-allow-origin")).toBe(SHOP)
    expect(preflight.headers.get("vary")).toBe("Origin")
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull()
    const answer = await call("/v1/sessions", { token, ...from(SHOP) })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("access-control-allow-origin")).toBe(SHOP)
    expect(answer.headers.get("vary")).toContain("Origin")
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
    const id = await makeSession(token)
    const path = `/v1/sessions/${id}/socket`
    expect((await call(path, { headers: socketHeaders(token, SHOP) })).status).toBe(101)
    expect(await call(path, { headers: socketHeaders(token, "https://other.example") })).toEqual(
      refusal(403, "origin_denied"),
    )
  })

  test("[WG10] other sites, and sites of another tenant, get a refusal that they can read", async () => {
    await putSettings("wg-one", { embed_hosts: [SHOP] })
    for (const [tenant, origin] of [
      ["wg-two", SHOP],
      ["wg-one", "https://evil.example"],
    ] as const) {
      const denied = await call("/v1/sessions", { token: await tokenOf(tenant, "ada"), ...from(origin) })
      expect(denied).toEqual(refusal(403, "origin_denied"))
      expect(denied.headers.get("access-control-allow-origin")).toBe(origin)
    }
    const body = JSON.stringify({ id: "wg-written" })
    const token = await tokenOf("wg-two", "ada")
    expect(await call("/v1/sessions", { method: "POST", token, body, ...from(SHOP) })).toEqual(
      refusal(403, "origin_denied"),
    )
    expect((await call("/v1/sessions", { token })).json).toMatchObject({ sessions: [] })
  })

  test("[WG2] without a token, or on routes that don't use a tenant's token, a site is refused", async () => {
    await putSettings("wg-open", { embed_hosts: [SHOP] })
    expect(await call("/v1/sessions", from(SHOP))).toEqual(refusal(403, "origin_denied"))
    const token = await tokenOf("wg-open", "ada")
    for (const [method, path] of [
      ["POST", "/v1/dev/token"],
      ["GET", "/v1/tenants"],
    ] as const)
      expect(await call(path, { method, token, ...from(SHOP) })).toEqual(refusal(403, "origin_denied"))
    expect(await call("/external/sessions/x/claim", { method: "POST", token, ...from(SHOP) })).toEqual(
      refusal(403, "origin_denied"),
    )
    const expired = await call("/v1/sessions", { token: await tokenOf("wg-open", "ada", -60), ...from(SHOP) })
    expect(expired.status).toBe(401)
    expect(expired.headers.get("access-control-allow-origin")).toBe(SHOP)
  })

  test("[WG10] a removed site is refused at once", async () => {
    await putSettings("wg-gone", { embed_hosts: [SHOP] })
    const token = await tokenOf("wg-gone", "ada")
    expect((await call("/v1/sessions", { token, ...from(SHOP) })).status).toBe(200)
    await putSettings("wg-gone", {})
    expect(await call("/v1/sessions", { token, ...from(SHOP) })).toEqual(refusal(403, "origin_denied"))
  })

  test.each(["null", "http://www.shop.example.com", "https://shop.example.com; x"])(
    "[WG10] a preflight of %j is refused",
    async (origin) => {
      expect(await call("/v1/sessions", preflightOf(origin))).toEqual(refusal(403, "origin_denied"))
    },
  )
})

describe("media and frames", () => {
  async function signImage(tenant: string): Promise<string> {
    const token = await tokenOf(tenant, "ada")
    const id = await makeSession(token)
    const body = JSON.stringify({ urls: ["https://pictures.example.com/a.png"] })
    const { json } = await call(`/v1/sessions/${id}/media/sign`, { method: "POST", token, body })
    return json.signed[0].href
  }
  const crossSite = { "sec-fetch-site": "cross-site" }

  test("[WG3] an allowed site can load the media of signed links, and others can't read it", async () => {
    await putSettings("wg-media", { embed_hosts: [SHOP] })
    const href = await signImage("wg-media")
    const shown = await call(href, from(SHOP, crossSite))
    expect(shown.headers.get("cross-origin-resource-policy")).toBe("cross-origin")
    expect(shown.headers.get("access-control-allow-origin")).toBe(SHOP)
    expect(shown.headers.get("vary")).toContain("Origin")
    const other = await call(href, from("https://evil.example", crossSite))
    expect(other.headers.get("access-control-allow-origin")).toBeNull()
    const own = await call(href, { headers: { "sec-fetch-site": "same-origin" } })
    expect(own.headers.get("cross-origin-resource-policy")).not.toBe("cross-origin")
    const closed = await call(await signImage("wg-closed"), { headers: crossSite })
    expect(closed.headers.get("cross-origin-resource-policy")).not.toBe("cross-origin")
  })

  test("[WG3] a canvas document can be framed by the sites of its tenant", async () => {
    await putSettings("wg-canvas", { embed_hosts: [SHOP] })
    const [expires, session] = [nowSeconds() + 60, "s1"]
    const claims = { tenant: "wg-canvas", session, user: "ada", what: "doc", expires }
    const policyOf = async (link: string): Promise<string | null> => {
      const headers = { "sec-fetch-dest": "iframe" }
      const answer = await call(`/canvas/documents/doc/index.html?token=${link}`, { headers })
      return answer.headers.get("content-security-policy")
    }
    expect(await policyOf(await signLink(SECRET, "canvas", claims))).toContain(`frame-ancestors 'self' ${SHOP};`)
    const other = await signLink(SECRET, "canvas", { ...claims, tenant: "wg-other" })
    expect(await policyOf(other)).toContain("frame-ancestors 'self';")
    // Without a valid signature, nobody can make the server read a tenant's settings.
    expect(await policyOf(await signLink("x".repeat(40), "canvas", claims))).toContain("frame-ancestors 'self';")
  })

  test("[WG4] the frame's page can be framed only by an allowed site that its URL names", async () => {
    await putSettings("wg-frame", { embed_hosts: [SHOP, "https://secret.example.com"] })
    const ASSETS = { fetch: async () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }) }
    const ancestorsOf = async (query: string): Promise<string> => {
      const { headers } = await call(`http://localhost/embed?${query}`, { env: { ASSETS } })
      return /frame-ancestors ([^;]*)/.exec(headers.get("content-security-policy") ?? "")?.[1] ?? ""
    }
    expect(await ancestorsOf(`tenant=wg-frame&origin=${SHOP}`)).toBe(SHOP)
    expect(await ancestorsOf("tenant=wg-frame&origin=https://evil.example")).toBe("'none'")
    expect(await ancestorsOf(`tenant=wg-other&origin=${SHOP}`)).toBe("'none'")
    expect(await ancestorsOf(`tenant=wg-frame&origin=${SHOP}%3B%20x`)).toBe("'none'")
    expect(await ancestorsOf("tenant=a:b&origin=null")).toBe("'none'")
    expect(await ancestorsOf("")).toBe("'none'")
  })
})
