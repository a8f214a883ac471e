/** operator.test.ts: tests how the operator creates and lists tenants, and creates keys for them. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { findDeploymentFault, LOCAL_OPERATOR_SECRET, LOCAL_SECRET } from "../../worker/env.ts"
import { call, HOST, makeSession, refusal, tablesOf, tokenOf } from "./http.ts"
import { createTenant, OPERATOR, postJson, tokenWith } from "./tenant-access.ts"

const LIST = (after?: string) => call(`/v1/tenants${after === undefined ? "" : `?after=${after}`}`, { token: OPERATOR })

describe("a tenant", () => {
  test("[TN1] is created with one key, which can create a working token", async () => {
    const created = await postJson("/v1/tenants", OPERATOR, { id: "tn1", name: "Tenant One" })
    expect(created).toMatchObject({ status: 201, json: { id: "tn1", name: "Tenant One" } })
    expect(created.json.key).toMatch(/^ck_tn1_/)
    const token = await tokenWith(created.json.key, "ada", { name: "Ada" })
    const id = await makeSession(token)
    expect((await call("/v1/sessions", { token })).json.sessions).toMatchObject([{ id }])
  })

  test("[TN1] in a region is created like any other", async () => {
    const key = await createTenant("eu.tn1")
    expect(key).toMatch(/^ck_eu\.tn1_/)
    await makeSession(await tokenWith(key, "ada"))
    expect((await LIST("eu.tn0")).json.tenants).toContainEqual({ id: "eu.tn1" })
  })

  test("[TN2] that exists can't be created again (tenant_taken), and nothing about it changes", async () => {
    const key = await createTenant("tn2")
    const before = (await call("/v1/keys", { token: key })).json
    expect(await postJson("/v1/tenants", OPERATOR, { id: "tn2" })).toEqual(refusal(409, "tenant_taken"))
    expect((await call("/v1/keys", { token: key })).json).toEqual(before)
  })

  test("[TN2] is created by only one of several simultaneous requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => postJson("/v1/tenants", OPERATOR, { id: "tn2c" })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const key = answers.find(({ status }) => status === 201)?.json.key
    expect((await call("/v1/keys", { token: key })).json.keys).toHaveLength(1)
  })

  test("[TN2] whose creation was cut off after it was listed is created by repeating the request", async () => {
    await env.REGISTRY.getByName("tenants").addTenant("tn2d")
    expect(await createTenant("tn2d")).toMatch(/^ck_tn2d_/)
    expect((await LIST("tn2c")).json.tenants.filter(({ id }: { id: string }) => id === "tn2d")).toHaveLength(1)
  })

  test("[TN2] whose tokens were used before the tenant was created keeps its users' sessions", async () => {
    const old = await tokenOf("tn2b", "ada")
    const id = await makeSession(old)
    const token = await tokenWith(await createTenant("tn2b"), "ada")
    for (const each of [old, token]) expect((await call("/v1/sessions", { token: each })).json.sessions[0].id).toBe(id)
  })

  test.each([
    ["", "id"],
    ["Acme", "id"],
    ["a_b", "id"],
    ["-a", "id"],
    ["a-", "id"],
    ["xx.acme", "id"],
    ["eu.", "id"],
    ["a:b", "id"],
    ["a/b", "id"],
    ["..", "id"],
    ["аcme", "id"],
    ["a".repeat(41), "id"],
    ["a".repeat(10_000), "id"],
  ])("[TN3] the id %j is refused, and no object is called", async (id, field) => {
    const asked: string[] = []
    const createNamespace = (name: string) => ({ getByName: (key: string) => asked.push(`${name} ${key}`) })
    const body = JSON.stringify({ id })
    const refused = await call("/v1/tenants", {
      method: "POST",
      token: OPERATOR,
      body,
      env: { REGISTRY: createNamespace("registry"), TENANT: createNamespace("tenant") },
    })
    expect(refused).toEqual(refusal(400, "field_invalid", field))
    expect(asked).toEqual([])
  })

  test("[TN4] is listed by id, in pages", async () => {
    const ids = Array.from({ length: 103 }, (_, n) => `tn4-${String(n).padStart(3, "0")}`)
    for (const id of ids) await env.REGISTRY.getByName("tenants").addTenant(id)
    await env.REGISTRY.getByName("eu.tenants").addTenant("eu.tn4")
    const first = await LIST("tn4")
    expect(first.json.tenants.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 100))
    expect(first.json.next).toBe("tn4-099")
    const second = await LIST("tn4-099")
    expect(second.json.tenants.slice(0, 3)).toEqual(ids.slice(100).map((id) => ({ id })))
    expect((await LIST("eu.tn3")).json.tenants[0]).toEqual({ id: "eu.tn4" })
    expect((await LIST("zzz")).json).toEqual({ tenants: [], next: null })
  })

  test("[TN5] that has lost its keys can get another key from the operator", async () => {
    await createTenant("tn5")
    const given = await postJson("/v1/tenants/tn5/keys", OPERATOR, { name: "again", roles: ["owner"] })
    expect(given).toMatchObject({ status: 201, json: { name: "again", roles: ["owner"], used: null, expires: null } })
    expect((await call("/v1/keys", { token: given.json.key })).json.keys).toHaveLength(2)
    // The tenant can see the operator's actions.
    const { entries } = (await call("/v1/audit", { token: given.json.key })).json
    const acts = entries.map(({ action, actor }: { action: string; actor: { kind: string } }) => [action, actor.kind])
    expect(acts).toEqual(
      expect.arrayContaining([
        ["tenant.created", "operator"],
        ["key.created", "operator"],
      ]),
    )
    expect(await postJson("/v1/tenants/a:b/keys", OPERATOR, { name: "x" })).toEqual(refusal(400, "field_invalid", "id"))
  })
})

describe("the page of a tenant on a developer's machine", () => {
  test.each([
    ["http://acme-dev.localhost:8787", {}, "acme-dev"],
    ["http://acme.eu.localhost", {}, "eu.acme"],
    ["http://localhost:8787", {}, "demo"],
    ["http://127.0.0.1:8787", {}, "demo"],
    ["http://a.b.c.localhost", {}, "demo"],
    ["http://a--.localhost", {}, "demo"],
    ["http://acme.localhost", { PAGE_TENANT: "beta" }, "beta"],
    ["http://acme.localhost", { PAGE_DOMAIN: "localhost" }, "acme"],
  ])("[TN10] [AU4] at %s with the variables %j belongs to %s", async (origin, vars, tenant) => {
    const given = await call(`${origin}/v1/dev/token`, { method: "POST", env: vars })
    expect(given).toMatchObject({ status: 200, json: { tenant, user: "you" } })
    expect((await call("/v1/sessions", { token: given.json.token })).status).toBe(200)
  })
})

describe("the operator's secret", () => {
  const routes = [
    ["POST", "/v1/tenants", '{"id":"tn6"}'],
    ["GET", "/v1/tenants", undefined],
    ["POST", "/v1/tenants/tn6/keys", '{"name":"x"}'],
  ] as const

  test.each(routes)("[TN6] is the only credential that %s %s accepts", async (method, path, body) => {
    const sendRequest = (token?: string) =>
      call(path, { method, ...(body === undefined ? {} : { body }), ...(token === undefined ? {} : { token }) })
    expect(await sendRequest()).toEqual(refusal(401, "token_missing"))
    const key = await createTenant(`tn6-${routes.findIndex((route) => route[1] === path && route[0] === method)}`)
    for (const wrong of ["x", `${OPERATOR}x`, OPERATOR.slice(1), LOCAL_SECRET, key, await tokenOf("tn6", "root")])
      expect(await sendRequest(wrong), wrong).toEqual(refusal(401, "token_invalid"))
    expect(await tablesOf(env.TENANT.getByName("tn6"))).toEqual([])
  })

  test("[TN6] is accepted on no other route", async () => {
    for (const path of ["/v1/sessions", "/v1/keys", "/v1/agents"])
      expect(await call(path, { token: OPERATOR })).toEqual(refusal(401, "token_invalid"))
  })

  test.each(routes)("[TN7] must be set, otherwise %s %s does not exist", async (method, path, body) => {
    const options = { method, token: OPERATOR, env: { OPERATOR_SECRET: undefined } }
    expect(await call(path, body === undefined ? options : { ...options, body })).toEqual(refusal(404, "route_unknown"))
  })

  test("[TN8] prevents a deployment from serving if the secret is unsafe, and the response names the reason", () => {
    const safe = { ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: "j".repeat(32), OPERATOR_SECRET: "o".repeat(32) }
    const faultOf = (over: object) => findDeploymentFault({ ...safe, ...over }, new URL(HOST))
    expect(faultOf({})).toBeNull()
    expect(faultOf({ OPERATOR_SECRET: undefined })).toBeNull()
    expect(faultOf({ OPERATOR_SECRET: "" })).toBe("OPERATOR_SECRET is shorter than 32 bytes")
    expect(faultOf({ OPERATOR_SECRET: "short" })).toBe("OPERATOR_SECRET is shorter than 32 bytes")
    for (const secret of [`${"o".repeat(32)} o`, "ö".repeat(32), `${"o".repeat(32)}\n`])
      expect(faultOf({ OPERATOR_SECRET: secret })).toBe(
        "OPERATOR_SECRET contains characters that are not allowed in a header",
      )
    const isPublic = "OPERATOR_SECRET is the local development secret"
    expect(faultOf({ OPERATOR_SECRET: LOCAL_OPERATOR_SECRET })).toBe(isPublic)
    expect(faultOf({ OPERATOR_SECRET: safe.JWT_SECRET })).toBe("OPERATOR_SECRET is the same as JWT_SECRET")
  })
})
