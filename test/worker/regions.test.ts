/**
 * regions.test.ts: tests that the objects and files of a tenant are in the region that the tenant's id names, and
 * nowhere else.
 */

import { env } from "cloudflare:test"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { describe, expect, test, vi } from "vitest"
import { createApiKey } from "../../worker/auth/api-key.ts"
import { findDeploymentFault } from "../../worker/env.ts"
import { checkRegion, listServedRegions, mediaBucket } from "../../worker/platform/media-bucket.ts"
import { ACCESS_TABLE } from "../../worker/routes/access/administration-rules.ts"
import { readLocationHint } from "../../worker/routes/access/location-hint.ts"
import { png } from "./files.ts"
import { HELLO, nowSeconds, tablesOf } from "./http.ts"
import { RECORDED_OPERATOR, type RecordedDeployment, withRecordedDeployment } from "./recorded-objects.ts"

const JSON_TYPE = { "content-type": "application/json" }

/** Uses every route of the API, opens links, and runs a turn with an agent and a generated file. */
async function useEveryRoute({ fetch, tokenFor }: RecordedDeployment, tenant: string): Promise<void> {
  const operator = { authorization: `Bearer ${RECORDED_OPERATOR}`, ...JSON_TYPE }
  const made = await fetch("/v1/tenants", { method: "POST", headers: operator, body: JSON.stringify({ id: tenant }) })
  const { key } = await made.json<{ key: string }>()
  const [owner, viewer] = [
    await tokenFor({ tenant, user: "ada", role: "owner" }),
    await tokenFor({ tenant, user: "eve", role: "viewer" }),
  ]
  const id = `r-${tenant.replace(".", "-")}`
  const sendRequest = async (
    method: string,
    path: string,
    body?: BodyInit,
    token = owner,
    headers: HeadersInit = JSON_TYPE,
  ) => {
    const init = { method, headers: { ...headers, authorization: `Bearer ${token}` } }
    const response = await fetch(path, body === undefined ? init : { ...init, body })
    const text = response.webSocket === null ? await response.text() : ""
    return { status: response.status, json: text.startsWith("{") ? JSON.parse(text.split("\n")[0] ?? "") : null }
  }
  expect((await sendRequest("POST", "/v1/sessions", JSON.stringify({ id }))).status).toBe(201)
  const untilIdle = async (count: number): Promise<void> =>
    await expect
      .poll(async () => {
        const { messages } = (await sendRequest("GET", `/v1/sessions/${id}/conversation/recent?limit=50`)).json
        return [messages.length >= count, messages.at(-1)?.status]
      })
      .toEqual([true, "completed"])
  for (const [n, content] of ["Paint a sunset", "Ask the researcher about the weather in Oslo"].entries()) {
    await sendRequest("POST", `/v1/sessions/${id}/messages`, JSON.stringify({ id: `q${n}`, content }))
    await untilIdle(2 * n + 2)
  }
  const bytes = png(7)
  const length = { "content-length": String(bytes.byteLength) }
  const asset = (await sendRequest("POST", `/v1/sessions/${id}/assets?name=a.png`, bytes, owner, length)).json.id
  const newUser = JSON.stringify({ user: "eve", role: "viewer" })
  expect((await sendRequest("POST", "/v1/tokens", newUser, key)).status).toBe(200)
  expect((await sendRequest("PUT", `/v1/sessions/${id}/viewers/eve`)).status).toBe(200)
  for (const token of [owner, viewer]) {
    const urls = JSON.stringify({ urls: [`/media/${asset}`] })
    const signed = await sendRequest("POST", `/v1/sessions/${id}/media/sign?owner=ada`, urls, token)
    expect((await fetch(signed.json.signed[0].href)).status).toBe(200)
    const upgrade = { upgrade: "websocket", "sec-websocket-protocol": `cuecard.v1, token.${token}` }
    const { webSocket } = await fetch(`/v1/sessions/${id}/socket?owner=ada`, { headers: upgrade })
    webSocket?.accept()
    webSocket?.send(HELLO)
    webSocket?.close()
  }
  const exported = await (
    await fetch(`/v1/sessions/${id}/events`, { headers: { authorization: `Bearer ${owner}` } })
  ).text()
  const copy = await sendRequest("POST", "/v1/sessions", "{}")
  const imported = await sendRequest("POST", `/v1/sessions/${copy.json.id}/import`, exported)
  expect(imported.json).toMatchObject({ state: "done", isSealed: true, skipped: 0 })
  const external = await sendRequest("POST", `/v1/sessions/${id}/external-token`, "{}")
  await sendRequest("POST", `/external/sessions/${id}/messages`, '{"text":"outside"}', external.json.token)
  expect((await sendRequest("POST", "/v1/tokens", '{"user":"ben"}', key)).status).toBe(200)
  await useIssuer(tenant, sendRequest)
  // Use the remaining routes of the table, and finally those that erase.
  for (const { method, path } of ACCESS_TABLE) {
    if (path.endsWith("/revoke") || path.endsWith("/socket") || method === "DELETE") continue
    const body = method === "GET" ? undefined : "{}"
    await sendRequest(method, path.replace(":id", id).replace(":user", "eve").replace(":name", "notes"), body)
  }
  for (const path of ["/v1/agents/notes", `/v1/sessions/${id}/viewers/eve`, `/v1/sessions/${id}`])
    await sendRequest("DELETE", path)
  await sendRequest("POST", "/v1/tokens/revoke", '{"all":true}')
}

/**
 * Registers a provider, and uses one of its tokens and a token of an unknown issuer. Replaces the provider's public
 * URLs.
 */
async function useIssuer(
  tenant: string,
  ask: (method: string, path: string, body?: string, token?: string) => Promise<{ status: number }>,
): Promise<void> {
  const issuer = `https://${tenant}.id.example.com`
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true })
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] })
  const fetching = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(keys))
  try {
    const body = { issuer, audience: "api", jwks_uri: `${issuer}/keys` }
    expect((await ask("PUT", "/v1/issuers/idp", JSON.stringify(body))).status).toBe(200)
  } finally {
    fetching.mockRestore()
  }
  for (const [aud, status] of [
    ["api", 200],
    ["of-nobody", 401],
  ] as const) {
    const claims = { iss: issuer, aud, sub: "ada", iat: nowSeconds(), exp: nowSeconds() + 60 }
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(privateKey)
    expect((await ask("GET", "/v1/sessions", undefined, token)).status).toBe(status)
  }
  expect((await ask("DELETE", "/v1/issuers/idp")).status).toBe(204)
}

/** Matches the one exception: the name of an issuer's registry, which reveals only a hash. */
const REGISTRY_KEY = /^(?:eu!eu\.)?issuer:[0-9a-f]{64}$/

/** Returns whether an object belongs to an earlier test, whose tenants may still have running jobs. */
const isOfEarlierTest = (name: string): boolean => /region[12](?::|$)/.test(name)

describe("a tenant's data", () => {
  test("[RG1] with a region, is never created or written elsewhere, on any route", async () => {
    await withRecordedDeployment({ MEDIA_EU: env.MEDIA }, async (deployment) => {
      await useEveryRoute(deployment, "eu.region1")
      const { asked, written } = deployment
      // The region's registry lists the tenant.
      const elsewhere = [...asked].filter((name) => !/^eu!eu\.(?:region1(?::|$)|tenants$)/.test(name))
      expect(elsewhere.filter((name) => !REGISTRY_KEY.test(name))).toEqual([])
      // The registry for tenants without a region was called with two hashes, and must not have stored anything.
      const registries = elsewhere.filter((name) => !name.startsWith("eu!"))
      expect(registries).toHaveLength(2)
      for (const name of registries) expect(await tablesOf(env.REGISTRY.getByName(name))).toEqual([])
      expect([...written].filter((key) => !key.startsWith("MEDIA_EU eu.region1/"))).toEqual([])
      // Objects are sessions, agents' sessions, both directories and the tenant. Files are those of a user, a tool and
      // an import.
      expect([asked.size > 5, written.size > 2]).toEqual([true, true])
      expect([asked.has("eu!eu.region1"), asked.has("eu!eu.region1:ada"), asked.has("eu!eu.region1:eve")]).toEqual([
        true,
        true,
        true,
      ])
    })
  })

  test("[RG1] without a region, is where version 0.1.0 stored it", async () => {
    await withRecordedDeployment({ MEDIA_EU: env.MEDIA }, async (deployment) => {
      await useEveryRoute(deployment, "region2")
      const others = [...deployment.asked].filter((name) => !/^(?:region2(?::|$)|tenants$)/.test(name))
      expect(others.filter((name) => !name.includes("eu.region1") && !REGISTRY_KEY.test(name))).toEqual([])
      const keys = [...deployment.written].filter((key) => !key.startsWith("MEDIA region2/"))
      expect(keys.filter((key) => !key.startsWith("MEDIA_EU eu.region1/"))).toEqual([])
    })
  })

  test("[RG2] in a region whose bucket is not bound is refused before any object is called", async () => {
    await withRecordedDeployment({ MEDIA_EU: env.MEDIA }, async ({ asked, fetch, tokenFor }) => {
      for (const tenant of ["us.region3", "fedramp.region3", "fedramp-high.region3"]) {
        const headers = { authorization: `Bearer ${await tokenFor({ tenant, user: "ada", role: "owner" })}` }
        for (const { method, path, allow } of ACCESS_TABLE) {
          if (!Array.isArray(allow) || !allow.includes("owner")) continue
          const response = await fetch(path.replaceAll(":", ""), { method, headers })
          expect([response.status, (await response.json<{ code: string }>()).code], path).toEqual([
            503,
            "region_unavailable",
          ])
        }
      }
      const operator = { authorization: `Bearer ${RECORDED_OPERATOR}`, ...JSON_TYPE }
      for (const [path, body] of [
        ["/v1/tenants", '{"id":"us.region3"}'],
        ["/v1/tenants/us.region3/keys", '{"name":"k"}'],
      ] as const) {
        const response = await fetch(path, { method: "POST", headers: operator, body })
        expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([503, "region_unavailable"])
      }
      const { text: key } = await createApiKey("us.region3")
      const used = await fetch("/v1/keys", { headers: { authorization: `Bearer ${key}` } })
      expect((await used.json<{ code: string }>()).code).toBe("region_unavailable")
      expect([...asked].filter((name) => !isOfEarlierTest(name))).toEqual([])
    })
    const production = { ...env, ENVIRONMENT: "production" }
    expect(() => mediaBucket(production, "us.acme")).toThrow("no bucket")
    expect(checkRegion(production, "us.acme")).toEqual({
      ok: false,
      fault: { reason: "region_unavailable", region: "us" },
    })
    expect(listServedRegions({ ...production, MEDIA_US: env.MEDIA })).toEqual(["us"])
    expect(mediaBucket(env, "us.acme")).toBe(env.MEDIA)
  })

  test("[RG2] a deployment is unsafe if its page belongs to a tenant whose region is not served", () => {
    const [url, safe] = [
      new URL("https://chat.example.com"),
      { ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "x".repeat(40) },
    ]
    expect(findDeploymentFault({ ...safe, PAGE_TENANT: "us.acme" }, url)).toBe(
      "PAGE_TENANT has a region whose bucket is not bound",
    )
    expect(findDeploymentFault({ ...safe, PAGE_TENANT: "us.acme", MEDIA_US: env.MEDIA }, url)).toBe(null)
    expect(findDeploymentFault({ ...safe, PAGE_TENANT: "acme" }, url)).toBe(null)
  })
})

describe("the page at a host name", () => {
  test("[RG7] has no tenant if the host names a region that is not served, and no object is called", async () => {
    const bindings = { MEDIA_EU: env.MEDIA, PAGE_DOMAIN: "chat.example.com" }
    await withRecordedDeployment(bindings, async ({ asked, fetch }) => {
      const tenantOf = async (host: string) => {
        const response = await fetch(`https://${host}/auth/providers`)
        return (await response.json<{ tenant: string | null }>()).tenant
      }
      expect(await tenantOf("acme.us.chat.example.com")).toBe(null)
      expect([...asked].filter((name) => !isOfEarlierTest(name))).toEqual([])
      expect(await tenantOf("acme.eu.chat.example.com")).toBe("eu.acme")
      expect([...asked].filter((name) => !isOfEarlierTest(name))).toEqual(["eu!eu.acme"])
    })
  })
})

describe("without a region", () => {
  test.each([
    [{ continent: "EU", longitude: "10.7" }, "weur"],
    [{ continent: "EU", longitude: "21.0" }, "eeur"],
    [{ continent: "EU" }, "weur"],
    [{ continent: "NA", longitude: "-122.4" }, "wnam"],
    [{ continent: "NA", longitude: "-74" }, "enam"],
    [{ continent: "NA" }, "enam"],
    [{ continent: "AS", longitude: "55.3" }, "me"],
    [{ continent: "AS", longitude: "139.7" }, "apac"],
    [{ continent: "AS" }, "apac"],
    [{ continent: "SA", longitude: "-58" }, "sam"],
    [{ continent: "AF", longitude: "18" }, "afr"],
    [{ continent: "OC", longitude: "-176" }, "oc"],
    [{ continent: "AN" }, undefined],
    [{ continent: "T1", longitude: "x" }, undefined],
    [{ continent: "__proto__" }, undefined],
    [{ continent: 7 }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])("[RG3] a client at %j gets the location %s", (cf, hint) => {
    expect(readLocationHint(cf === undefined ? {} : { cf })).toBe(hint)
  })

  test("[RG3] a session and its user's directory are created near the client", async () => {
    await withRecordedDeployment({ MEDIA_EU: env.MEDIA }, async ({ fetch, hints, tokenFor }) => {
      const createSession = async (tenant: string) =>
        await fetch("/v1/sessions", {
          method: "POST",
          headers: { ...JSON_TYPE, authorization: `Bearer ${await tokenFor({ tenant, user: "ada" })}` },
          body: '{"id":"s1"}',
          cf: { continent: "SA" } as RequestInitCfProperties,
        })
      expect([(await createSession("region4")).status, (await createSession("eu.region4")).status]).toEqual([201, 201])
      expect([hints.get("region4:ada"), hints.get("region4:s1")]).toEqual(["sam", "sam"])
      expect([hints.get("eu!eu.region4:ada"), hints.get("eu!eu.region4:s1")]).toEqual([undefined, undefined])
    })
  })
})
