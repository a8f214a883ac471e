/**
 * issuers.test.ts: tests the registration of OpenID providers: accepted configurations, stored rows, rights, and
 * fetches.
 */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import { verifyForeignToken } from "../../worker/auth/issuer/foreign-token.ts"
import { MAX_ISSUERS } from "../../worker/settings/issuer-config.ts"
import { call, refusal, tablesOf, tokenOf } from "./http.ts"
import {
  AUDIENCE,
  CLIENT_ID,
  CLIENT_SECRET,
  foreignClaims,
  putIssuer,
  registerIssuer,
  startProvider,
  tokenOfRole,
} from "./oidc.ts"
import { OPERATOR } from "./tenant-access.ts"

async function listIssuers(tenant: string) {
  return (await call("/v1/issuers", { token: await tokenOfRole(tenant, "admin") })).json.issuers
}

async function removeIssuer(tenant: string, name = "idp", role: "owner" | "admin" = "owner") {
  return await call(`/v1/issuers/${name}`, { method: "DELETE", token: await tokenOfRole(tenant, role) })
}

describe("an issuer", () => {
  test("[OI1] [OI2] is registered by discovery, listed without its secret, replaced and removed", async () => {
    const provider = await startProvider()
    const view = {
      name: "idp",
      issuer: provider.issuer,
      audience: AUDIENCE,
      algorithms: ["RS256", "PS256", "ES256", "EdDSA"],
      user_claim: "sub",
      name_claim: "name",
      role_claim: null,
      roles: ["admin", "member", "viewer"],
      authorized_parties: [],
      required_claims: {},
      jwks_uri: null,
      client_id: CLIENT_ID,
      has_client_secret: true,
      scopes: "openid profile email",
      label: "idp",
      logout: false,
      created: expect.any(Number),
      keys_fetched: expect.any(Number),
    }
    expect(await registerIssuer("oi-whole", provider)).toEqual(view)
    expect(await listIssuers("oi-whole")).toEqual([view])
    const token = await tokenOfRole("oi-whole", "admin")
    expect((await call("/v1/issuers/idp", { token })).json).toEqual(view)
    const replaced = await registerIssuer("oi-whole", provider, { label: "Example", algorithms: ["ES256"] })
    expect(replaced).toEqual({ ...view, label: "Example", algorithms: ["ES256"], keys_fetched: expect.any(Number) })
    expect((await removeIssuer("oi-whole")).status).toBe(204)
    expect(await listIssuers("oi-whole")).toEqual([])
    expect(await removeIssuer("oi-whole")).toEqual(refusal(404, "issuer_unknown"))
    expect(await call("/v1/issuers/idp", { token })).toEqual(refusal(404, "issuer_unknown"))
    expect(await provider.listRequests()).toEqual([
      "GET /.well-known/openid-configuration",
      "GET /jwks",
      "GET /.well-known/openid-configuration",
      "GET /jwks",
    ])
  })

  test("[OI1] with jwks_uri and no client is registered without discovery", async () => {
    const provider = await startProvider()
    const { issuer } = provider
    const put = await putIssuer("oi-jwks", { issuer, audience: AUDIENCE, jwks_uri: `${issuer}/jwks` })
    expect(put).toMatchObject({ status: 200, json: { jwks_uri: `${issuer}/jwks`, client_id: null } })
    expect(await provider.listRequests()).toEqual(["GET /jwks"])
  })

  test("[OI2] has its secret stored encrypted, kept if omitted, and removed by null or another client", async () => {
    const provider = await startProvider()
    await registerIssuer("oi-secret", provider)
    const readRows = () =>
      runInDurableObject(env.TENANT.getByName("oi-secret"), (_object, { storage }) =>
        JSON.stringify(storage.sql.exec("SELECT * FROM issuers").toArray()),
      )
    const before = await readRows()
    expect(before).not.toContain(CLIENT_SECRET)
    const stub = env.TENANT.getByName("oi-secret")
    expect(await stub.getSignInClient("idp")).toMatchObject({ clientSecret: CLIENT_SECRET })
    const withoutSecret = { client_secret: undefined }
    expect((await registerIssuer("oi-secret", provider, withoutSecret)).has_client_secret).toBe(true)
    expect(await stub.getSignInClient("idp")).toMatchObject({ clientSecret: CLIENT_SECRET })
    const other = { ...withoutSecret, client_id: "another" }
    expect((await registerIssuer("oi-secret", provider, other)).has_client_secret).toBe(false)
    await registerIssuer("oi-secret", provider)
    expect((await registerIssuer("oi-secret", provider, { client_secret: null })).has_client_secret).toBe(false)
  })

  test.each([
    ["issuer", {}],
    ["issuer", { issuer: "https://a b.example.com" }],
    ["audience", { audience: "" }],
    ["audience", { audience: "a\nb" }],
    ["algorithms.0", { algorithms: ["HS256"] }],
    ["algorithms.0", { algorithms: ["none"] }],
    ["algorithms.1", { algorithms: ["RS256", "HS512"] }],
    ["algorithms", { algorithms: [] }],
    ["roles.0", { roles: ["root"] }],
    ["roles", { roles: [] }],
    ["user_claim", { user_claim: "" }],
    ["algorithm", { algorithm: "RS256" }],
    ["scopes", { scopes: "profile" }],
    ["label", { label: "\u202e" }],
    ["client_secret", { client_secret: "x".repeat(2_000) }],
    ["authorized_parties", { authorized_parties: Array.from({ length: 11 }, (_, i) => `p${i}`) }],
  ])("[OI1] a bad %s is an error, and nothing is fetched or stored: %j", async (field, change) => {
    const whole = field === "issuer" ? {} : { issuer: "http://127.0.0.1:1" }
    const body = { ...whole, audience: AUDIENCE, ...change }
    expect(await putIssuer("oi-bad", body)).toEqual(refusal(400, "field_invalid", field))
    expect(await tablesOf(env.TENANT.getByName("oi-bad"))).toEqual([])
  })

  test.each(["UPPER", "a.b", "a%2Fb", "x".repeat(41), "%C3%A9"])("[OI1] the name %s is an error", async (name) => {
    const put = await putIssuer("oi-name", { issuer: "http://127.0.0.1:1", audience: AUDIENCE }, { name })
    expect(put).toEqual(refusal(400, "field_invalid", "name"))
  })
})

describe("who may register issuers", () => {
  test("[OI16] owners and admins may, and members, viewers and producers may not", async () => {
    const { issuer } = await startProvider()
    for (const role of ["member", "viewer"] as const) {
      const token = await tokenOfRole("oi-who", role)
      expect(await putIssuer("oi-who", { issuer, audience: AUDIENCE }, { role })).toEqual(refusal(403, "scope_denied"))
      expect(await call("/v1/issuers", { token })).toEqual(refusal(403, "scope_denied"))
      expect(await call("/v1/issuers/idp", { method: "DELETE", token })).toEqual(refusal(403, "scope_denied"))
    }
    expect(await call("/v1/issuers", { token: await tokenOf("oi-who", "ada") })).toEqual(refusal(403, "scope_denied"))
    expect((await putIssuer("oi-who", { issuer, audience: AUDIENCE }, { role: "admin" })).status).toBe(200)
  })

  test("[OI18] an admin can neither let an issuer assign the role owner nor change an issuer that may", async () => {
    const { issuer } = await startProvider()
    const body = { issuer, audience: AUDIENCE, role_claim: "role" }
    const roles = ["owner", "member"]
    const denied = refusal(403, "scope_denied")
    expect(await putIssuer("oi-own", { ...body, roles }, { role: "admin" })).toEqual(denied)
    expect((await putIssuer("oi-own", { ...body, roles })).status).toBe(200)
    expect(await putIssuer("oi-own", body, { role: "admin" })).toEqual(denied)
    expect(await removeIssuer("oi-own", "idp", "admin")).toEqual(denied)
    expect((await removeIssuer("oi-own")).status).toBe(204)
  })
})

describe("a pair of issuer and audience", () => {
  test("[OI3] belongs to one tenant until that tenant removes or changes it", async () => {
    const { issuer } = await startProvider()
    const body = { issuer, audience: AUDIENCE }
    expect((await putIssuer("oi-one", body)).status).toBe(200)
    expect(await putIssuer("oi-two", body)).toEqual(refusal(409, "issuer_taken"))
    expect(await listIssuers("oi-two")).toEqual([])
    // Another audience at the same provider is free, because many tenants can share a provider.
    expect((await putIssuer("oi-two", { issuer, audience: "two" })).status).toBe(200)
    expect((await putIssuer("oi-one", { issuer, audience: "one" })).status).toBe(200)
    expect((await putIssuer("oi-two", body)).status).toBe(200)
    expect(await removeIssuer("oi-two")).toMatchObject({ status: 204 })
    expect((await putIssuer("oi-one", body)).status).toBe(200)
  })

  test("[OI3] [OI17] can't be shared by tenants in different regions either, and a token leads to the right region", async () => {
    const provider = await startProvider()
    const body = { issuer: provider.issuer, audience: AUDIENCE }
    expect((await putIssuer("eu.oi-region", body)).status).toBe(200)
    for (const tenant of ["oi-region", "us.oi-region"])
      expect(await putIssuer(tenant, body)).toEqual(refusal(409, "issuer_taken"))
    const token = await provider.sign({ payload: foreignClaims(provider) })
    expect(await verifyForeignToken(env, token, Date.now())).toMatchObject({ value: { tenant: "eu.oi-region" } })
    // A refused registration must leave no claim on the pair.
    await removeIssuer("eu.oi-region")
    expect((await putIssuer("oi-region", body)).status).toBe(200)
    expect(await putIssuer("eu.oi-region", body)).toEqual(refusal(409, "issuer_taken"))
  })

  test("[OI3] if many tenants register a pair at once, one gets it, and the others keep no claim", async () => {
    const { issuer } = await startProvider()
    const body = { issuer, audience: "raced" }
    const tenants = Array.from({ length: 6 }, (_, i) => `oi-race-${i}`)
    const answers = await Promise.all(tenants.map((tenant) => putIssuer(tenant, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const winner = tenants[answers.findIndex(({ status }) => status === 200)] ?? ""
    await removeIssuer(winner)
    const next = tenants.find((tenant) => tenant !== winner) ?? ""
    expect((await putIssuer(next, body)).status).toBe(200)
  })

  test("[OI3] the claim of a registration that was cut off is freed by the next change", async () => {
    const { issuer } = await startProvider()
    const stub = env.TENANT.getByName("oi-cut")
    expect((await putIssuer("oi-cut", { issuer, audience: "first" })).status).toBe(200)
    const { claimIssuer } = await import("../../worker/auth/issuer/issuer-registry.ts")
    // Recreate the state that a kill between the claim and the row leaves.
    await runInDurableObject(stub, async (_object, { storage }) => {
      storage.sql.exec("INSERT INTO issuer_claims (issuer, audience) VALUES (?, 'lost')", issuer)
      await claimIssuer(env, "oi-cut", issuer, "lost")
    })
    expect(await putIssuer("oi-cut-b", { issuer, audience: "lost" })).toEqual(refusal(409, "issuer_taken"))
    await putIssuer("oi-cut", { issuer, audience: "first" })
    expect((await putIssuer("oi-cut-b", { issuer, audience: "lost" })).status).toBe(200)
  })

  test("[OI3] the claim of a registration that was killed is freed by an alarm", async () => {
    const { issuer } = await startProvider()
    const stub = env.TENANT.getByName("oi-killed")
    const shared = await runInDurableObject(
      stub,
      (object) => (object as unknown as { env: Record<string, unknown> }).env,
    )
    const registry = env.REGISTRY
    const claimName = async (name: string) => {
      await registry.getByName(name).claim("oi-killed")
      throw new Error("killed")
    }
    shared["REGISTRY"] = { getByName: (name: string) => ({ claim: () => claimName(name) }) }
    try {
      expect((await putIssuer("oi-killed", { issuer, audience: "lost" })).status).toBe(500)
    } finally {
      shared["REGISTRY"] = registry
    }
    expect(await putIssuer("oi-killed-b", { issuer, audience: "lost" })).toEqual(refusal(409, "issuer_taken"))
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 })
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    vi.useRealTimers()
    expect((await putIssuer("oi-killed-b", { issuer, audience: "lost" })).status).toBe(200)
    // No alarm is left, because nothing is left to do.
    expect(await runDurableObjectAlarm(stub)).toBe(false)
  })

  test("[OI3] a tenant has at most MAX_ISSUERS", async () => {
    const { issuer } = await startProvider()
    for (let i = 0; i < MAX_ISSUERS; i++)
      expect((await putIssuer("oi-full", { issuer, audience: `a${i}` }, { name: `n${i}` })).status).toBe(200)
    expect(await putIssuer("oi-full", { issuer, audience: "more" }, { name: "more" })).toEqual(
      refusal(409, "issuers_full"),
    )
    // Replacing an issuer still works.
    expect((await putIssuer("oi-full", { issuer, audience: "a0" }, { name: "n0" })).status).toBe(200)
    expect((await putIssuer("oi-full-b", { issuer, audience: "more" })).status).toBe(200)
  })
})

describe("the responses of a provider", () => {
  const metadataPath = "/.well-known/openid-configuration"
  const key = { kty: "RSA", n: "x".repeat(342), e: "AQAB" }
  test.each([
    ["nothing", { outage: "down" }, "unreachable"],
    ["503", { outage: "error" }, "status"],
    ["a redirect of the metadata", { path: metadataPath, status: 302, location: "http://127.0.0.1:9/" }, "status"],
    ["a redirect of the keys", { path: "/jwks", status: 301, location: "http://127.0.0.1:9/" }, "status"],
    [
      "another issuer",
      { path: metadataPath, body: '{"issuer":"https://a.example.com","jwks_uri":"https://a.example.com/"}' },
      "issuer_differs",
    ],
    ["no JSON", { path: metadataPath, body: "<html>" }, "malformed"],
    ["no URLs", { path: metadataPath, body: "{}" }, "malformed"],
    ["keys that are not a list", { path: "/jwks", body: '{"keys":{}}' }, "malformed"],
    ["too much", { path: "/jwks", body: `{"keys":[${" ".repeat(70_000)}]}` }, "too_large"],
    ["JSON that is too deep", { path: "/jwks", body: `{"keys":${"[".repeat(50)}${"]".repeat(50)}}` }, "malformed"],
    ["no keys", { path: "/jwks", body: '{"keys":[]}' }, "no_keys"],
    ["a shared secret", { path: "/jwks", body: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }, "no_keys"],
    ["a key for encryption", { path: "/jwks", body: JSON.stringify({ keys: [{ ...key, use: "enc" }] }) }, "no_keys"],
    ["a short RSA key", { path: "/jwks", body: JSON.stringify({ keys: [{ ...key, n: "x".repeat(171) }] }) }, "no_keys"],
    [
      "a huge RSA key",
      { path: "/jwks", body: JSON.stringify({ keys: [{ ...key, n: "x".repeat(2_800) }] }) },
      "no_keys",
    ],
    ["a huge exponent", { path: "/jwks", body: JSON.stringify({ keys: [{ ...key, e: "x".repeat(342) }] }) }, "no_keys"],
  ] as const)("[OI4] %s is refused, and nothing is stored", async (_name, faults, because) => {
    const provider = await startProvider()
    await provider.setFaults(faults)
    const tenant = `oi-says-${new URL(provider.issuer).port}`
    const put = await putIssuer(tenant, { issuer: provider.issuer, audience: AUDIENCE })
    expect(put).toEqual(refusal(422, "issuer_refused", `(${because})`))
    expect(await listIssuers(tenant)).toEqual([])
    // The pair must still be free.
    await provider.setFaults({})
    expect((await putIssuer(`${tenant}-b`, { issuer: provider.issuer, audience: AUDIENCE })).status).toBe(200)
  })

  test.each([
    "https://127.0.0.1/",
    "https://localhost/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://metadata.goog/",
    "https://169.254.169.254/",
    "http://idp.example.com",
    "http://10.0.0.1/",
    "http://user:pw@127.0.0.1/",
    "https://user@idp.example.com/",
    "ftp://idp.example.com/",
    "https://idp.example.com:22/",
    "https://0x7f.1/",
    "not-a-url",
  ])("[OI4] the URL %s is refused", async (issuer) => {
    expect(await putIssuer("oi-address", { issuer, audience: AUDIENCE })).toEqual(
      refusal(422, "issuer_refused", "(address)"),
    )
  })

  test("[OI4] URLs in the provider's metadata are checked, too, and http is allowed only on this machine", async () => {
    const provider = await startProvider()
    const { issuer } = provider
    const metadata = { issuer, jwks_uri: "http://10.0.0.1/jwks" }
    await provider.setFaults({ path: "/.well-known", body: JSON.stringify(metadata) })
    expect(await putIssuer("oi-inner", { issuer, audience: AUDIENCE })).toEqual(
      refusal(422, "issuer_refused", "(address)"),
    )
    const { checkProviderUrl } = await import("../../worker/auth/issuer/provider-fetch.ts")
    expect(checkProviderUrl(issuer, { ENVIRONMENT: "production" }).ok).toBe(false)
    expect(checkProviderUrl("https://idp.example.com/", { ENVIRONMENT: "production" }).ok).toBe(true)
    const hosts = {
      PAGE_DOMAIN: "chat.example.com",
      PAGE_ORIGIN: "https://page.example.com",
      CANVAS_ORIGIN: "https://canvas.example.net",
    }
    for (const host of ["chat.example.com", "acme.eu.chat.example.com", "PAGE.example.com", "canvas.example.net"])
      expect(checkProviderUrl(`https://${host}/keys`, { ENVIRONMENT: "production", ...hosts }).ok, host).toBe(false)
    expect(checkProviderUrl("https://mychat.example.com/", { ENVIRONMENT: "production", ...hosts }).ok).toBe(true)
  })
})

describe("the operator", () => {
  test("[OI15] sees and removes an issuer, so that another tenant can register it; the audit log records the operator", async () => {
    const provider = await startProvider()
    await registerIssuer("oi-squat", provider)
    const wanted = { issuer: provider.issuer, audience: AUDIENCE }
    expect(await putIssuer("oi-rightful", wanted)).toEqual(refusal(409, "issuer_taken"))
    const token = await provider.sign({ payload: foreignClaims(provider) })
    expect((await call("/v1/sessions", { token })).status).toBe(200)
    const listed = await call("/v1/tenants/oi-squat/issuers", { token: OPERATOR })
    expect(listed.json.issuers).toMatchObject([{ name: "idp", ...wanted, has_client_secret: true }])
    expect(listed.text).not.toContain(CLIENT_SECRET)
    const path = "/v1/tenants/oi-squat/issuers/idp"
    for (const role of ["owner", "admin"] as const) {
      const denied = await call(path, { method: "DELETE", token: await tokenOfRole("oi-squat", role) })
      expect(denied.status).toBe(401)
    }
    expect((await call(path, { method: "DELETE", token: OPERATOR })).status).toBe(204)
    expect(await call(path, { method: "DELETE", token: OPERATOR })).toEqual(refusal(404, "issuer_unknown"))
    expect(await listIssuers("oi-squat")).toEqual([])
    expect((await call("/v1/sessions", { token })).status).toBe(401)
    expect((await putIssuer("oi-rightful", wanted)).status).toBe(200)
    const { entries } = (await call("/v1/audit", { token: await tokenOfRole("oi-squat", "owner") })).json
    expect(entries[0]).toMatchObject({ action: "issuer.removed", target: "idp", actor: { kind: "operator" } })
  })

  test("[OI15] gets an error for an invalid tenant id", async () => {
    const refused = await call("/v1/tenants/a%3Ab/issuers/idp", { method: "DELETE", token: OPERATOR })
    expect(refused).toEqual(refusal(400, "field_invalid", "id"))
  })
})
