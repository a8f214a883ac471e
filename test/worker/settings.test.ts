/** settings.test.ts: tests how the origins and hosts that a tenant allows are set, read and used. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import { MAX_EMBED_ORIGINS, MAX_MEDIA_HOSTS } from "../../shared/asset-limits.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { connect, sessionOf } from "../support/socket.ts"
import { call, nowSeconds, refusal, SECRET, tablesOf, tokenOf } from "./http.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)
const adminToken = (tenant: string) =>
  issueToken(
    { tenant, user: "root", expires: nowSeconds() + 600, token: nanoid(), issued: Date.now() / 1000, scope: "admin" },
    SECRET,
  )

async function putSettings(tenant: string, settings: unknown) {
  return await call("/v1/settings", { method: "PUT", token: await adminToken(tenant), body: JSON.stringify(settings) })
}

describe("what a tenant allows", () => {
  test("[SE1] [SE4] is nothing by default, and reading stores nothing", async () => {
    const response = await call("/v1/settings", { token: await tokenOf("se-quiet", "ada") })
    expect(response).toMatchObject({ status: 200, json: { embed_origins: [], media_hosts: [] } })
    expect((await tenantStubOf("se-quiet").getAgentView("general"))?.settings).toBeUndefined()
    expect(await tablesOf(tenantStubOf("se-quiet"))).toEqual([])
  })

  test("[SE1] [SE4] is set by an administrator, both lists at once, and can be read by users; another tenant has its own lists", async () => {
    const allowed = { embed_origins: ["https://charts.example.com"], media_hosts: ["img.example.com"] }
    expect(await putSettings("se-told", allowed)).toMatchObject({ status: 200, json: allowed })
    for (const token of [await tokenOf("se-told", "ada"), await adminToken("se-told")]) {
      expect((await call("/v1/settings", { token })).json).toEqual(allowed)
    }
    const other = await call("/v1/settings", { token: await tokenOf("se-other", "ada") })
    expect(other.json).toEqual({ embed_origins: [], media_hosts: [] })
    // An omitted list becomes empty.
    expect((await putSettings("se-told", { media_hosts: ["a.example.com"] })).json).toEqual({
      embed_origins: [],
      media_hosts: ["a.example.com"],
    })
  })

  test("[SE1] [SE4] can't be set with a user's token, or read with a producer's", async () => {
    const ada = await tokenOf("se-guarded", "ada")
    expect(await call("/v1/settings", { method: "PUT", token: ada, body: "{}" })).toEqual(refusal(403, "scope_denied"))
    const bounds = { scope: "external", session: "s1" } as const
    const issued = Date.now() / 1000
    const claims = { tenant: "se-guarded", user: "ada", expires: nowSeconds() + 60, token: nanoid(), issued, ...bounds }
    const token = await issueToken(claims, SECRET)
    expect(await call("/v1/settings", { token })).toEqual(refusal(403, "scope_denied"))
    expect(await call("/v1/settings")).toEqual(refusal(401, "token_missing"))
    expect(await tablesOf(tenantStubOf("se-guarded"))).toEqual([])
  })

  test("[SE1] does not affect agents that were configured before these settings existed", async () => {
    const tenant = tenantStubOf("se-agents")
    await runInDurableObject(tenant, (_object, { storage }) => {
      // Store the row as the previous version wrote it.
      storage.sql.exec("CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID")
      storage.sql.exec(
        "CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)",
      )
      storage.sql.exec("INSERT INTO schema_version VALUES (1, 1)")
      storage.sql.exec("INSERT INTO agents VALUES ('weather', NULL)")
    })
    // Evict the object, because it migrates its tables when it wakes up.
    await evictDurableObject(tenant)
    await putSettings("se-agents", { media_hosts: ["a.example.com"] })
    expect((await tenant.listAgents()).map(({ name }) => name)).toEqual(["general", "researcher"])
    expect((await tenant.getSettings()).media_hosts).toEqual(["a.example.com"])
  })
})

describe("valid entries", () => {
  test.each([
    ["https://charts.example.com/", "https://charts.example.com"],
    ["HTTPS://Charts.Example.com:443", "https://charts.example.com"],
    ["https://charts.example.com:8443", "https://charts.example.com:8443"],
    ["https://bücher.example.de", "https://xn--bcher-kva.example.de"],
  ])("[SE2] the origin %s is stored once, in normalised form", async (written, stored) => {
    expect((await putSettings("se-kept", { embed_origins: [written, stored] })).json.embed_origins).toEqual([stored])
  })

  test.each([
    "http://charts.example.com",
    "https://localhost",
    "https://10.0.0.1",
    "https://[2606:4700::1111]",
    "https://charts.example.com/path",
    "https://charts.example.com/?q",
    "https://charts.example.com/#x",
    "https://user@charts.example.com",
    "https://*.example.com",
    "https://example.com;script-src",
    "https://example.com,example.org",
    "https://'self'.example.com",
    "https://under_score.example.com",
    "https://example.com.",
    `https://${"a.".repeat(140)}com`,
    "*",
    "'unsafe-inline'",
    "charts.example.com",
    "",
    null,
    7,
  ])("[SE2] %s can't be framed", async (origin) => {
    expect(await putSettings("se-refused", { embed_origins: [origin] })).toEqual(refusal(400, "field_invalid"))
    expect(await tablesOf(tenantStubOf("se-refused"))).toEqual([])
  })

  test.each(["img.example.com", "IMG.example.com", "8.8.8.8"])("[SE2] %s is a host", async (host) => {
    expect((await putSettings("se-hosts", { media_hosts: [host] })).json.media_hosts).toEqual([host.toLowerCase()])
  })

  test.each([
    "https://img.example.com",
    "img.example.com/path",
    "img.example.com:8443",
    "img.example.com?x",
    "user@img.example.com",
    "*.example.com",
    "localhost",
    "printer.local",
    "127.0.0.1",
    "0x7f.1",
    "metadata.google.internal",
    "",
    {},
  ])("[SE2] %s isn't a host whose media may load", async (host) => {
    expect(await putSettings("se-refused", { media_hosts: [host] })).toEqual(refusal(400, "field_invalid"))
  })

  test("[SE2] are limited in number, and an unknown list is refused", async () => {
    const createHosts = (count: number) => Array.from({ length: count }, (_, n) => `h${n}.example.com`)
    const origins = createHosts(MAX_EMBED_ORIGINS).map((host) => `https://${host}`)
    expect(
      (await putSettings("se-full", { embed_origins: origins, media_hosts: createHosts(MAX_MEDIA_HOSTS) })).status,
    ).toBe(200)
    const more = { embed_origins: [...origins, "https://one.example.com"] }
    expect(await putSettings("se-full", more)).toEqual(refusal(400, "field_invalid"))
    expect(await putSettings("se-full", { media_hosts: createHosts(MAX_MEDIA_HOSTS + 1) })).toEqual(
      refusal(400, "field_invalid"),
    )
    expect(await putSettings("se-full", { embed_origin: [] })).toEqual(refusal(400, "field_invalid"))
    expect((await tenantStubOf("se-full").getSettings()).embed_origins).toHaveLength(MAX_EMBED_ORIGINS)
  })
})

test("[SE3] a session gets the allowed origins and hosts when a page opens the session, like the agent's configuration", async () => {
  const claims = { tenant: "se-session", user: "ada", expires: nowSeconds() + 600, token: "t", issued: 0 }
  await sessionOf("s1", claims).create(claims, "s1", "")
  const readKnown = () =>
    runInDurableObject(sessionOf("s1", claims), (_object, { storage }) => {
      const [row] = storage.sql.exec("SELECT agent FROM session").toArray()
      return JSON.parse(String(row?.["agent"])).settings
    })
  expect(await readKnown()).toBeUndefined()
  const allowed = { embed_origins: ["https://charts.example.com"], media_hosts: [] }
  await putSettings("se-session", allowed)
  await connect("s1", claims)
  await expect.poll(readKnown).toEqual(allowed)
  await putSettings("se-session", {})
  await connect("s1", claims)
  await expect.poll(readKnown).toBeUndefined()
})
