/**
 * page.test.ts: tests the headers of the page's HTML for different deployments and tenants, and deployments that refuse
 * to serve.
 */

import { env } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import { clearCachedSettings } from "../../worker/routes/page-routes.ts"
import { call, HOST, refusal } from "./http.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"

/** Returns a fake asset binding that records the Worker's requests. */
function createFiles() {
  const requests: Request[] = []
  const ASSETS = {
    fetch: async (request: Request) => {
      requests.push(request)
      const headers = { "content-type": "text/html; charset=utf-8", etag: '"1"', "x-file": "yes" }
      return new Response("<!doctype html>", { headers })
    },
  }
  return { ASSETS, requests }
}

describe("a path without a file", () => {
  const ASSETS = { fetch: async () => new Response("", { status: 404 }) }

  test("[RT14] gets a 404 that is never cached: a short page for browsers, and JSON for all other clients", async () => {
    const page = await call("/nope", { env: { ASSETS }, headers: { accept: "text/html,*/*;q=0.8" } })
    expect(page).toMatchObject({ status: 404, text: expect.stringContaining('<a href="/">Open Cuecard</a>') })
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    })
    for (const path of ["/nope", "/favicon.ico", "/assets/gone-12345678.js"])
      expect(await call(path, { env: { ASSETS } })).toEqual(refusal(404, "route_unknown"))
  })
})

describe("a hashed file of another version", () => {
  const ASSETS = { fetch: async () => new Response("", { status: 404 }) }

  test("[DP10] is served from the bucket like the files of this version, with the same headers", async () => {
    await env.MEDIA.put("~page/user-menu-AbC_12-9.js", "export const a = 1")
    await env.MEDIA.put("~page/index-12345678.css", "p{}")
    const script = await call("/assets/user-menu-AbC_12-9.js", { env: { ASSETS } })
    expect(script).toMatchObject({ status: 200, text: "export const a = 1" })
    expect(Object.fromEntries(script.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-dns-prefetch-control": "off",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    })
    expect((await call("/assets/index-12345678.css", { env: { ASSETS } })).headers.get("content-type")).toBe(
      "text/css; charset=utf-8",
    )
  })

  test("[DP10] is looked up only under hashed names of scripts and styles, and is treated as missing if the bucket fails", async () => {
    const asked: string[] = []
    const MEDIA = {
      get: async (key: string) => {
        asked.push(key)
        throw new Error("the bucket is unavailable")
      },
    }
    for (const path of [
      "/assets/../acme/s1/a1",
      "/assets/acme%2Fs1-12345678.js",
      "/assets/index.js",
      "/assets/index-12345678.json",
      `/assets/${"a".repeat(200)}-12345678.js`,
      "/other/index-12345678.js",
    ])
      expect(await call(path, { env: { ASSETS, MEDIA } })).toMatchObject({ status: 404 })
    expect(asked).toEqual([])
    expect(await call("/assets/index-12345678.js", { env: { ASSETS, MEDIA } })).toMatchObject({ status: 404 })
    expect(asked).toEqual(["~page/index-12345678.js"])
  })

  /** Returns a fake bucket that contains one script and records the keys that are read. */
  function createBucket() {
    const keys: string[] = []
    const recordGet = async (key: string) => {
      keys.push(key)
      return key === "~page/old-script-00000001.js" ? { body: "export const a = 1" } : null
    }
    return { keys, MEDIA: { get: recordGet } }
  }

  test("[DP14] a missing file is looked up once by an isolate, however often it is requested", async () => {
    const { MEDIA, keys } = createBucket()
    for (let n = 0; n < 5; n += 1)
      expect(await call("/assets/gone-00000001.js", { env: { ASSETS, MEDIA } })).toMatchObject({ status: 404 })
    expect(keys).toEqual(["~page/gone-00000001.js"])
    for (let n = 0; n < 2; n += 1)
      expect(await call("/assets/old-script-00000001.js", { env: { ASSETS, MEDIA } })).toMatchObject({ status: 200 })
    expect(keys.length).toBe(3)
  })

  test("[DP14] an IP address that requests too many missing files is refused before the bucket is read; others are not", async () => {
    const { MEDIA, keys } = createBucket()
    const counted: string[] = []
    const RATE_READ = {
      limit: async ({ key }: { key: string }) => {
        counted.push(key)
        return { success: counted.length < 3 }
      },
    }
    const requestScript = (name: string, address: string) =>
      call(`/assets/${name}.js`, {
        env: { ASSETS, MEDIA, RATE_READ },
        headers: { "cf-connecting-ip": address },
      })
    // Requests for existing files must not be counted.
    for (let n = 0; n < 5; n += 1) await requestScript("old-script-00000001", "203.0.113.7")
    expect(counted).toEqual([])
    for (const name of ["one-00000002", "two-00000002", "three-00000002"])
      expect(await requestScript(name, "203.0.113.7")).toMatchObject({ status: 404 })
    expect(new Set(counted)).toEqual(new Set(["page file 203.0.113.7/32"]))
    const reads = keys.length
    expect(await requestScript("four-00000002", "203.0.113.7")).toEqual(refusal(429, "rate_limited"))
    expect(await requestScript("old-script-00000001", "203.0.113.7")).toEqual(refusal(429, "rate_limited"))
    expect(keys.length).toBe(reads)
    expect(await requestScript("old-script-00000001", "203.0.113.8")).toMatchObject({ status: 200 })
  })
})

function parsePolicy(headers: Headers): Map<string, string> {
  const policy = headers.get("content-security-policy") ?? ""
  return new Map(
    policy.split("; ").map((directive) => [directive.split(" ", 1)[0] ?? "", directive.split(" ").slice(1).join(" ")]),
  )
}

async function policyOf(vars: Record<string, unknown>) {
  const { headers } = await call("/", { env: { ...createFiles(), ...vars } })
  return parsePolicy(headers)
}

describe("the page's policy", () => {
  test("[HD1] the page loads scripts, styles and data only from its own origin, and can't turn strings into markup", async () => {
    const { ASSETS, requests } = createFiles()
    const page = await call("/", { env: { ASSETS }, headers: { "if-none-match": '"1"' } })
    expect(page).toMatchObject({ status: 200, text: "<!doctype html>" })
    expect(Object.fromEntries(parsePolicy(page.headers))).toEqual({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "worker-src": "'none'",
      "font-src": "'self'",
      "manifest-src": "'self'",
      "img-src": "'self' data: blob:",
      "media-src": "'self' blob:",
      "connect-src": "'self' wss://cuecard.test",
      "frame-src": `${HOST}/canvas/documents/`,
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'self'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "'none'",
    })
    // There must be no ETag, because a 304 would keep the policy of an earlier response.
    expect(page.headers.get("etag")).toBeNull()
    expect(requests[0]?.headers.get("if-none-match")).toBeNull()
  })

  test("[HD4] the page sends no referrer, prefetches nothing, is revalidated, and may use the microphone and the screen", async () => {
    const { ASSETS } = createFiles()
    const headers = Object.fromEntries((await call("/", { env: { ASSETS } })).headers)
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-dns-prefetch-control": "off",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "origin-agent-cluster": "?1",
      "cache-control": "no-cache",
      "x-file": "yes",
    })
    const granted = headers["permissions-policy"]?.split(", ").filter((feature) => !feature.endsWith("=()"))
    expect(granted).toEqual(["display-capture=(self)", "microphone=(self)"])
    expect(headers["permissions-policy"]).toContain("camera=()")
  })

  test("[HD1] a file that isn't HTML keeps its headers", async () => {
    const ASSETS = { fetch: async () => new Response("x", { headers: { "content-type": "text/plain", etag: '"1"' } }) }
    const { headers } = await call("/robots.txt", { env: { ASSETS } })
    expect(headers.get("etag")).toBe('"1"')
    expect(headers.get("content-security-policy")).toContain("default-src 'none'")
  })

  test("[HD2] the page frames only the origins that the tenant of its host allows; a change takes effect at once in the isolate that made it", async () => {
    await env.TENANT.getByName("demo").setSettings(SYSTEM_ACTOR, {
      embed_origins: ["https://charts.example.com"],
      media_hosts: [],
    })
    clearCachedSettings("demo")
    const own = `${HOST}/canvas/documents/`
    expect((await policyOf({})).get("frame-src")).toBe(`${own} https://charts.example.com`)
    expect((await policyOf({ PAGE_TENANT: "hd-other" })).get("frame-src")).toBe(own)
    await env.TENANT.getByName("hd-third").setSettings(SYSTEM_ACTOR, {
      embed_origins: ["https://third.example.com"],
      media_hosts: [],
    })
    expect((await policyOf({ PAGE_TENANT: "hd-third", AUTH: "jwt" })).get("frame-src")).toContain(
      "https://third.example.com",
    )
    // Without PAGE_TENANT, the page's tenant is unknown.
    expect((await policyOf({ AUTH: "jwt" })).get("frame-src")).toBe(own)
    const forAll = { AUTH: "jwt", EMBED_ORIGINS: "https://all.example.com" }
    expect((await policyOf(forAll)).get("frame-src")).toBe(`${own} https://all.example.com`)
  })

  test("[HD2] if the tenant's settings can't be read, the page is served and frames the origins that the deployment allows", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {})
    const TENANT = { getByName: () => ({ getPageSettings: () => Promise.reject(new Error("away")) }) }
    const policy = await policyOf({ TENANT, PAGE_TENANT: "hd-away", EMBED_ORIGINS: "https://all.example.com" })
    expect(policy.get("frame-src")).toBe(`${HOST}/canvas/documents/ https://all.example.com`)
    expect(String(logged.mock.calls[0]?.[0])).toContain("settings_unknown")
    logged.mockRestore()
  })

  test("[HD2] the tenant's settings are read only once for several requests", async () => {
    let count = 0
    const getPageSettings = async () => {
      count++
      return { embed_origins: [], media_hosts: [] }
    }
    const TENANT = { getByName: () => ({ getPageSettings }) }
    for (let n = 0; n < 5; n++) await policyOf({ TENANT, PAGE_TENANT: "hd-seldom" })
    expect(count).toBe(1)
  })

  test("[HD3] the page frames the canvas origin, if there is one, instead of its own", async () => {
    const vars = { CANVAS_ORIGIN: "https://canvas.example.net", PAGE_ORIGIN: HOST, PAGE_TENANT: "hd-canvas" }
    expect((await policyOf(vars)).get("frame-src")).toBe("https://canvas.example.net/canvas/documents/")
  })
})

const ORIGINS = { CANVAS_ORIGIN: "https://canvas.example.net", PAGE_ORIGIN: "https://cuecard.example.com" }

describe("a deployment with invalid settings", () => {
  test.each([
    ["CANVAS_ORIGIN is not an https origin", { ...ORIGINS, CANVAS_ORIGIN: "https://canvas.example.net/" }],
    ["CANVAS_ORIGIN is not an https origin", { ...ORIGINS, CANVAS_ORIGIN: "canvas.example.net" }],
    ["CANVAS_ORIGIN is not an https origin", { ...ORIGINS, CANVAS_ORIGIN: "https://a.example;script-src" }],
    ["PAGE_ORIGIN is missing", { CANVAS_ORIGIN: ORIGINS.CANVAS_ORIGIN }],
    ["PAGE_ORIGIN is not an https origin", { ...ORIGINS, PAGE_ORIGIN: "https://*.example.com" }],
    ["CANVAS_ORIGIN is PAGE_ORIGIN or in ALLOWED_ORIGINS", { ...ORIGINS, PAGE_ORIGIN: ORIGINS.CANVAS_ORIGIN }],
    ["CANVAS_ORIGIN is PAGE_ORIGIN or in ALLOWED_ORIGINS", { ...ORIGINS, ALLOWED_ORIGINS: ORIGINS.CANVAS_ORIGIN }],
    ["PAGE_TENANT is not a valid tenant id", { PAGE_TENANT: "a:b" }],
    ["EMBED_ORIGINS has an entry that is not a public https origin", { EMBED_ORIGINS: "https://a.example.com, *" }],
    ["MEDIA_HOSTS has an entry that is not a public host name", { MEDIA_HOSTS: "10.0.0.1" }],
  ])("[HD3] refuses to serve: %s", async (because, vars) => {
    expect(await call("/healthz", { env: vars })).toEqual(refusal(503, "deployment_unsafe", because))
  })

  test("[HD3] serves once the settings are valid; plain HTTP is allowed on localhost", async () => {
    expect((await call("/healthz", { env: ORIGINS })).status).toBe(200)
    const local = { CANVAS_ORIGIN: "http://canvas.localhost:8787", PAGE_ORIGIN: "http://localhost:8787" }
    expect((await call("/healthz", { env: local })).status).toBe(200)
    const production = {
      ...local,
      ENVIRONMENT: "production",
      AUTH: "jwt",
      JWT_SECRET: "x".repeat(40),
      OPERATOR_SECRET: undefined,
    }
    expect(await call("/healthz", { env: production })).toEqual(refusal(503, "deployment_unsafe", "CANVAS_ORIGIN"))
  })

  test("[SE4] the deployment's settings apply to all tenants", async () => {
    const { readDeploymentSettings: deploymentSettings, mergeSettings: joinSettings } = await import(
      "../../worker/settings/tenant-settings.ts"
    )
    const given = deploymentSettings({ EMBED_ORIGINS: "https://a.example.com , *", MEDIA_HOSTS: "img.example.com" })
    expect(given).toEqual({ embed_origins: ["https://a.example.com"], media_hosts: ["img.example.com"] })
    const own = { embed_origins: ["https://a.example.com", "https://b.example.com"], media_hosts: [] }
    expect(joinSettings(own, given)).toEqual({ ...own, media_hosts: ["img.example.com"] })
  })
})
