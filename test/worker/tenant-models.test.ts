/**
 * tenant-models.test.ts: tests a tenant's own models: their keys are used but can never be read, and fallbacks replace
 * failing models.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { TenantModelView } from "../../worker/settings/model-config.ts"
import { connect } from "../support/socket.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import type { Seen } from "../support/upstreams.ts"
import { call, refusal, roleToken } from "./http.ts"
import { createKey, createTenant } from "./tenant-access.ts"
import { downloadArchive, exportTenant } from "./tenant-transfer.ts"

const KEY = "sk-tenant-0123456789abcdef"

let count = 0
/** Returns a tenant and a run that no other test uses, and a function that calls the tenant's API as an owner. */
async function freshTenant() {
  count += 1
  const tenant = `models${count}`
  const owner = await roleToken(tenant, "boss", "owner")
  const put = (path: string, body: object) => call(path, { method: "PUT", token: owner, body: JSON.stringify(body) })
  const addressOf = (scenario: string, run = tenant): string => `${upstreamUrl(env)}/model/${scenario}/${run}`
  const putModel = (name: string, scenario: string, more: object = {}) =>
    put(`/v1/models/${name}`, {
      provider: "openai-compatible",
      model: `their-${name}`,
      base_url: addressOf(scenario, `${tenant}-${name}`),
      ...more,
    })
  const listModels = async (): Promise<TenantModelView[]> => (await call("/v1/models", { token: owner })).json.models
  return { tenant, owner, put, putModel, addressOf, listModels }
}

const putAgent = (put: (path: string, body: object) => Promise<unknown>, more: object) =>
  put("/v1/agents/own", { description: "", prompt: "Answer.", ...more })

/** The ids of the sessions that `ask` has created. */
const sessions: string[] = []

/** Asks the agent `own` in a new session. Returns the answer once the answer has ended. */
async function ask(tenant: string, content = "Hello?"): Promise<WireMessage> {
  const token = await roleToken(tenant, "ada", "member")
  const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
  expect(made.status).toBe(201)
  sessions.push(made.json.id)
  const path = `/v1/sessions/${made.json.id}`
  expect((await call(`${path}/messages`, { method: "POST", token, body: JSON.stringify({ content }) })).status).toBe(
    202,
  )
  let last: WireMessage | undefined
  await expect
    .poll(
      async () => {
        last = (await call(`${path}/conversation/recent`, { token })).json.messages.at(-1)
        return last?.role === "assistant" && last.status !== "running"
      },
      { timeout: 15_000 },
    )
    .toBe(true)
  return last as WireMessage
}

const requestsTo = async (run: string): Promise<Seen[]> => await readUpstream(env, run)

describe("a tenant's own model", () => {
  test("[TM1] [TM4] answers for an agent, with its own URL, name and key, and without a deploy", async () => {
    const { tenant, put, putModel, listModels } = await freshTenant()
    const added = await putModel("fast", "ok", { key: KEY })
    expect(added).toMatchObject({ status: 200, json: { name: "fast", key_end: "cdef", refused: null, takes: [] } })
    await putAgent(put, { model: "fast" })
    expect((await ask(tenant)).content).toBe("Hello, world.")
    const [request] = await requestsTo(`${tenant}-fast`)
    expect(request).toMatchObject({ authorization: `Bearer ${KEY}`, body: { model: "their-fast" } })
    expect(await listModels()).toHaveLength(1)
  })

  test("[TM8] has a price that applies from today, replaces its later prices, and leaves other prices unchanged", async () => {
    const { owner, put, putModel } = await freshTenant()
    const today = new Date().toISOString().slice(0, 10)
    const other = { model: "another", from: "2026-01-01", input: 1, output: 2 }
    const later = { model: "their-one", from: "2999-01-01", input: 9, output: 9 }
    expect((await put("/v1/prices", { prices: [other, later] })).status).toBe(200)
    expect((await putModel("one", "text", { price: { input: 2.5, output: 10, cached: 0.25 } })).status).toBe(200)
    const listed = async () => (await call("/v1/prices", { token: owner })).json.prices
    const own = { provider: expect.any(String), model: "their-one", from: today, input: 2.5, output: 10, cached: 0.25 }
    expect(await listed()).toMatchObject([other, own])
    // A change without a price must leave the prices unchanged.
    await putModel("one", "text")
    expect(await listed()).toHaveLength(2)
    expect((await putModel("one", "text", { price: { input: -1, output: 1 } })).status).toBe(400)
  })

  test("[TM2] no route, no row and no archive contains its key", async () => {
    const { tenant, owner, putModel, put } = await freshTenant()
    const answers = [await putModel("fast", "ok", { key: KEY }), await call("/v1/models", { token: owner })]
    await putAgent(put, { model: "fast" })
    await ask(tenant)
    answers.push(await call("/v1/agents", { token: owner }), await call("/v1/audit", { token: owner }))
    for (const answer of answers) expect(answer.text).not.toContain("sk-tenant")
    const rows = await runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage }) =>
      storage.sql.exec("SELECT * FROM models").toArray(),
    )
    expect(JSON.stringify(rows)).not.toContain("sk-tenant")
    expect(rows[0]?.["sealed"]).toMatch(/^s1\./)
    const { manifest, files } = await downloadArchive(tenant, await exportTenant(tenant))
    const text = JSON.stringify(manifest) + files.map((file) => new TextDecoder().decode(file)).join("")
    expect(text).not.toContain("sk-tenant")
    expect(text).not.toContain(String(rows[0]?.["sealed"]))
  })

  test("[TM2] the key stays until it is replaced or the URL changes, which removes it", async () => {
    const { tenant, put, putModel, addressOf } = await freshTenant()
    await putModel("fast", "ok", { key: KEY })
    expect((await putModel("fast", "ok", { takes: ["image"] })).json).toMatchObject({
      key_end: "cdef",
      takes: ["image"],
    })
    const moved = await putModel("fast", "ok", { base_url: addressOf("ok", `${tenant}-other`) })
    expect(moved.json).toMatchObject({ key_end: null })
    await putAgent(put, { model: "fast" })
    await ask(tenant)
    expect((await requestsTo(`${tenant}-other`))[0]?.authorization).toBeNull()
    expect((await putModel("fast", "ok", { key: "short" })).json).toMatchObject({ key_end: "" })
    expect((await putModel("fast", "ok", { key: null })).json).toMatchObject({ key_end: null })
  })

  test("[TM3] must have a public URL that isn't the deployment's own; localhost is allowed only on a developer's machine", async () => {
    const { owner } = await freshTenant()
    const putTo = (base_url: string, over = {}) =>
      call("/v1/models/fast", {
        method: "PUT",
        token: owner,
        body: JSON.stringify({ provider: "openai-compatible", model: "m", base_url }),
        ...over,
      })
    for (const url of [
      "http://api.example.com/v1",
      "https://127.0.0.1/v1",
      "https://10.0.0.1/v1",
      "https://[::1]/v1",
      "https://user:word@example.com/v1",
      "https://localhost/v1",
      "file:///etc/passwd",
      "nonsense",
      `https://example.com/${"x".repeat(5_000)}`,
    ])
      expect(await putTo(url), url).toEqual(refusal(400, "field_invalid"))
    expect(await putTo("https://api.example.com/v1/")).toMatchObject({
      json: { base_url: "https://api.example.com/v1" },
    })
    const anthropic = { body: JSON.stringify({ provider: "anthropic", model: "m" }) }
    expect(await putTo("", anthropic)).toMatchObject({ json: { base_url: "https://api.anthropic.com/v1" } })
    const nowhere = { body: JSON.stringify({ provider: "openai-compatible", model: "m" }) }
    expect(await putTo("", nowhere)).toEqual(refusal(400, "field_invalid"))
    const own = { env: { PAGE_DOMAIN: "chat.example" } }
    expect(await putTo("https://acme.chat.example/v1", own)).toEqual(refusal(400, "field_invalid"))
  })

  test("[TM1] bad fields, too many models and callers without the right are refused", async () => {
    const { tenant, owner, put, putModel } = await freshTenant()
    for (const [name, more] of [
      ["scripted", {}],
      ["Fast", {}],
      ["fast", { provider: "unknown" }],
      ["fast", { kee: KEY }],
      ["fast", { key: "with space" }],
      ["fast", { key: "x".repeat(8_193) }],
      ["fast", { model: "" }],
      ["fast", { context: 5 }],
      ["fast", { effort: "enormous" }],
    ] as const)
      expect(await putModel(name, "ok", more), JSON.stringify(more).slice(0, 80)).toEqual(refusal(400, "field_invalid"))
    for (let n = 0; n < 32; n++) expect((await putModel(`m${n}`, "ok")).status).toBe(200)
    expect(await putModel("one-more", "ok")).toEqual(refusal(409, "models_full"))
    expect((await call("/v1/models/m0", { method: "DELETE", token: owner })).status).toBe(204)
    expect(await call("/v1/models/m0", { method: "DELETE", token: owner })).toEqual(refusal(404, "model_unknown"))
    const member = await roleToken(tenant, "ada", "member")
    expect(await call("/v1/models", { token: member })).toEqual(refusal(403, "scope_denied"))
    const other = await createTenant("models-other")
    expect((await call("/v1/models", { token: other })).json).toEqual({ models: [] })
    const { key: memberKey } = await createKey(other, { roles: ["member"] })
    expect(await call("/v1/models", { token: memberKey })).toEqual(refusal(403, "scope_denied"))
    // An unknown name refers to a model of the deployment, but this deployment has no such model.
    await putAgent(put, { model: "nowhere" })
    expect(await ask(tenant)).toMatchObject({ status: "failed", reason: "model_unreachable" })
  })

  test("[TM5] a refused key is reported to the administrators, once, until it is replaced", async () => {
    const { tenant, owner, put, putModel, listModels } = await freshTenant()
    await putModel("fast", "401", { key: KEY })
    await putAgent(put, { model: "fast" })
    expect(await ask(tenant)).toMatchObject({ status: "failed", reason: "model_refused" })
    await ask(tenant)
    await expect.poll(listModels).toMatchObject([{ refused: { status: 401 } }])
    const audit = await call("/v1/audit?action=model.key_refused", { token: owner })
    expect(audit.json.entries).toHaveLength(1)
    expect((await putModel("fast", "401", { key: `${KEY}2` })).json).toMatchObject({ refused: null })
  })
})

describe("fallbacks and effort", () => {
  test("[TM6] the next model is called if a call fails before its first output, and the usage is recorded for the next model", async () => {
    const { tenant, put, putModel } = await freshTenant()
    await putModel("down", "404")
    await putModel("refusing", "401")
    await putModel("good", "ok")
    await putAgent(put, { model: "down", fallbacks: ["refusing", "good"] })
    expect(await ask(tenant)).toMatchObject({ status: "completed", content: "Hello, world." })
    expect(await requestsTo(`${tenant}-down`)).toHaveLength(1)
    const calls = await runInDurableObject(
      env.SESSION.getByName(`${tenant}:${sessions.at(-1)}`),
      (_object, { storage }) => storage.sql.exec("SELECT * FROM transcript WHERE role = 'assistant'").toArray(),
    )
    expect(JSON.stringify(calls)).toContain("their-good")
    expect(JSON.stringify(calls)).not.toContain("their-down")
  })

  test("[TM6] after the first output no other model is called", async () => {
    const { tenant, put, putModel } = await freshTenant()
    await putModel("cut", "cut-off")
    await putModel("good", "ok")
    await putAgent(put, { model: "cut", fallbacks: ["good"] })
    expect(await ask(tenant)).toMatchObject({ status: "failed", reason: "model_cut_off", content: "And then" })
    expect(await requestsTo(`${tenant}-good`)).toHaveLength(0)
  })

  test("[TM6] the last model's fault is reported if all models fail", async () => {
    const { tenant, put, putModel } = await freshTenant()
    await putModel("down", "404")
    await putModel("html", "html")
    await putAgent(put, { model: "down", fallbacks: ["html"] })
    expect(await ask(tenant)).toMatchObject({ status: "failed", reason: "model_malformed" })
  })

  test("[TM7] the effort of the agent, or else of the model, is sent with each call", async () => {
    const { tenant, put, putModel } = await freshTenant()
    await putModel("fast", "ok", { effort: "low" })
    await putAgent(put, { model: "fast" })
    await ask(tenant)
    await putAgent(put, { model: "fast", effort: "high" })
    await ask(tenant)
    const efforts = (await requestsTo(`${tenant}-fast`)).map(({ body }) =>
      Reflect.get(Object(body), "reasoning_effort"),
    )
    expect(efforts).toEqual(["low", "high"])
  })

  test("[TM9] a message can choose the effort of its turn if the agent has one; the effort is kept for new versions and after a restart", async () => {
    const { tenant, put, putModel } = await freshTenant()
    await putModel("fast", "ok", { effort: "low" })
    await putAgent(put, { model: "fast", effort: "medium" })
    const token = await roleToken(tenant, "ada", "member")
    const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
    const path = `/v1/sessions/${made.json.id}`
    expect((await call(`${path}/agent`, { token })).json).toEqual({ name: "own", effort: "medium" })
    const claims = { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
    const client = await connect(made.json.id, claims)
    /** Waits until the model has been called `times` times and the last answer has ended. */
    const untilAsked = async (times: number): Promise<void> => {
      await expect.poll(async () => (await requestsTo(`${tenant}-fast`)).length).toBe(times)
      const readStatus = async () => (await call(`${path}/conversation/recent`, { token })).json.messages.at(-1)?.status
      await expect.poll(readStatus).toBe("completed")
    }
    client.say({ type: "send", id: "q1", content: "Hello?", effort: "high" })
    const answer = await client.untilEnd("q1")
    await evictDurableObject(env.SESSION.getByName(`${tenant}:${made.json.id}`))
    client.say({ type: "regenerate", id: "r1", message: answer.id })
    await untilAsked(2)
    client.say({ type: "edit", id: "e1", message: "q1", content: "Hello there?" })
    await untilAsked(3)
    client.say({ type: "send", id: "q2", content: "And now?" })
    await untilAsked(4)
    expect(client.texts.join()).not.toContain("effort")
    await putAgent(put, { model: "fast" })
    const other = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
    expect((await call(`/v1/sessions/${other.json.id}/agent`, { token })).json).toEqual({ name: "own", effort: null })
    const body = JSON.stringify({ content: "Hello?", effort: "max", id: "q1" })
    const sent = await call(`/v1/sessions/${other.json.id}/messages`, { method: "POST", token, body })
    expect(sent.status).toBe(202)
    await expect.poll(async () => (await requestsTo(`${tenant}-fast`)).length).toBe(5)
    const efforts = (await requestsTo(`${tenant}-fast`)).map(({ body: asked }) =>
      Reflect.get(Object(asked), "reasoning_effort"),
    )
    expect(efforts).toEqual(["high", "high", "high", "medium", "low"])
    const bad = JSON.stringify({ content: "Hello?", effort: "endless" })
    expect(await call(`${path}/messages`, { method: "POST", token, body: bad })).toEqual(
      refusal(400, "field_invalid", "effort"),
    )
  })
})
