/**
 * webhook-tools.test.ts: tests a tenant's webhook tools: settings, signed calls, results, and results that arrive
 * later.
 */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { MAX_WEBHOOK_TOOLS } from "../../worker/settings/webhooks/webhook-tool.ts"
import { answerTo, call as toolCall, say, script, toolsIn } from "./session-helpers.ts"
import { call, refusal, roleToken } from "./http.ts"
import { sessionOf, type TestClient } from "../support/socket.ts"
import { downloadArchive, exportTenant, importTenant, registerUser } from "./tenant-transfer.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import {
  claimsOf,
  openToolSession,
  putTool,
  runTool,
  seenAt,
  sendResult,
  sendTools,
  setService,
  startCall,
  toolBody,
  untilSeen,
} from "./webhook-helpers.ts"

/** Returns the newest message as a reload would show it. */
async function readNewest(id: string, tenant: string) {
  const page = await sessionOf(id, claimsOf(tenant)).readHistoryPage(claimsOf(tenant), { limit: 5 })
  if (!page.ok) throw new Error(page.fault.reason)
  return (JSON.parse(page.value.json) as HistoryPage).messages.at(-1)
}

/** Asserts that the answer looks the same after a reload. */
async function expectReloaded(client: TestClient & { readonly id: string }, tenant: string): Promise<void> {
  expect((await readNewest(client.id, tenant))?.segments).toEqual(answerTo(client, "q1")?.segments)
}

/** Starts a call, and waits until it has ended or is waiting for the user. */
async function startAndSettle(client: TestClient) {
  startCall(client, "q1")
  await client.untilTrue(() => ["completed", "waiting"].includes(answerTo(client, "q1")?.status ?? ""))
  return answerTo(client, "q1")
}

describe("the settings", () => {
  test("[TW1] [TW2] the secret is shown once, and a changed tool keeps it", async () => {
    const put = await sendTools("tw-put", "PUT", "/order_status", toolBody("tw-put"))
    expect(put.json).toMatchObject({ name: "order_status", effects: "read", approval: "never", has_secret: true })
    expect(put.json.secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const changed = await sendTools("tw-put", "PUT", "/order_status", toolBody("tw-put", { effects: "write" }))
    expect(changed.json).toMatchObject({ approval: "always", old_secret_until: null })
    expect(changed.json).not.toHaveProperty("secret")
    const { json } = await sendTools("tw-put", "GET", "")
    expect(json.tools).toMatchObject([{ name: "order_status", schema: { type: "object" } }])
    expect(JSON.stringify(json)).not.toContain("whsec_")
    const token = await roleToken("tw-put", "root", "admin")
    const audit = await call("/v1/audit", { token })
    expect(audit.text).toContain("tool.changed")
    expect(audit.text).not.toContain(put.json.secret)
    const listed = await call("/v1/agents", { token })
    expect(listed.json.tools).toEqual(expect.arrayContaining(["weather", "order_status"]))
  })

  test.each([
    [{ url: "http://example.com/hook" }, "/url", "must be a public https address"],
    [{ url: "https://10.0.0.1/hook" }, "/url", "must be a public https address"],
    [{ schema: { type: "string" } }, "/schema/type", 'must be "object"'],
    [{ schema: { type: "object", properties: { a: { pattern: "(a+)+" } } } }, "/schema/properties/a/pattern", "isn't"],
    [{ schema: { $ref: "https://example.com/schema.json" } }, "/schema/$ref", "isn't a supported keyword"],
  ])("[TW9] %j is refused with its pointer", async (change, pointer, problem) => {
    const put = await sendTools("tw-bad", "PUT", "/order_status", toolBody("tw-bad", change))
    expect(put).toEqual(refusal(422, "tool_refused"))
    expect(JSON.parse(put.text).fields).toEqual({ pointer, problem: expect.stringContaining(problem) })
  })

  test("[TW1] a tool can't take the name of a built-in one, and agents can't name a tool that doesn't exist", async () => {
    const taken = await sendTools("tw-name", "PUT", "/weather", toolBody("tw-name"))
    expect(taken).toEqual(refusal(400, "field_invalid", "name"))
    const agent = JSON.stringify({ description: "d", prompt: "p", tools: ["weather", "order_status"] })
    const token = await roleToken("tw-name", "root", "admin")
    const put = await call("/v1/agents/helper", { method: "PUT", token, body: agent })
    expect(put).toEqual(refusal(400, "field_invalid", "tools.1"))
    expect(await sendTools("tw-name", "DELETE", "/order_status")).toEqual(refusal(404, "webhook_tool_unknown"))
  })

  test("[TW1] a tenant has a limited number of tools, and members can't use these routes", async () => {
    const put = (name: string) => sendTools("tw-many", "PUT", `/${name}`, toolBody("tw-many"))
    for (let count = 0; count < MAX_WEBHOOK_TOOLS; count++) expect((await put(`tool_${count}`)).status).toBe(200)
    expect(await put("one_more")).toEqual(refusal(409, "webhook_tools_full"))
    expect((await put("tool_0")).status).toBe(200)
    const tool = toolBody("tw-many")
    for (const refused of [
      await sendTools("tw-many", "PUT", "/tool_1", tool, "member"),
      await sendTools("tw-many", "GET", "", undefined, "member"),
      await sendTools("tw-many", "DELETE", "/tool_1", undefined, "member"),
      await sendTools("tw-many", "POST", "/tool_1/secret", undefined, "member"),
    ])
      expect(refused).toEqual(refusal(403, "scope_denied"))
  })

  test("[TW2] both secrets sign for a day after a rotation", async () => {
    const first = await putTool("tw-rotate", "tw-rotate")
    const client = await openToolSession("tw-rotate")
    const rotated = await sendTools("tw-rotate", "POST", "/order_status/secret")
    expect(rotated.json.secret).not.toBe(first)
    expect(rotated.json.old_secret_until).toBeGreaterThan(Date.now() + 23 * 60 * 60_000)
    await runTool(client, "q1")
    await setService("tw-rotate", rotated.json.secret)
    await runTool(client, "q2")
    expect((await seenAt("tw-rotate")).map(({ isVerified }) => isVerified)).toEqual([true, true])
  })
})

describe("a call", () => {
  test("[TW3] [TW4] is signed, names the user and the session, and its answer is the result", async () => {
    await putTool("tw-call", "tw-call")
    const client = await openToolSession("tw-call")
    const tool = await runTool(client, "q1", { order: "A-7", count: 2 })
    expect(tool).toMatchObject({ status: "ok" })
    expect(JSON.parse(tool?.result ?? "")).toEqual({ echo: { order: "A-7", count: 2 } })
    const [seen, ...more] = await seenAt("tw-call")
    expect(more).toEqual([])
    expect(seen).toMatchObject({ isVerified: true, body: { type: "tool.call" } })
    expect(seen?.body.data).toMatchObject({ tool: "order_status", user: "ada", session: client.id, call_id: seen?.id })
    await expectReloaded(client, "tw-call")
  })

  test("[TW4] arguments that don't match the schema are not sent", async () => {
    await putTool("tw-args", "tw-args")
    const tool = await runTool(await openToolSession("tw-args"), "q1", { order: "A", count: 0 })
    expect(tool).toMatchObject({ status: "failed", error: { code: "tool_arguments" } })
    expect(tool?.result).toContain('\\"/count\\" violates minimum (1).')
    expect(await seenAt("tw-args")).toEqual([])
  })

  test("[TW3] is sent again with the same id if the service is busy", async () => {
    await putTool("tw-busy", "tw-busy", {}, "busy")
    const tool = await runTool(await openToolSession("tw-busy"), "q1")
    expect(tool).toMatchObject({ status: "ok" })
    const seen = await seenAt("tw-busy")
    expect(seen).toHaveLength(3)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(1)
  })

  test("[TW6] a call that writes waits for the user", async () => {
    await putTool("tw-ask", "tw-ask", { effects: "write" })
    const client = await openToolSession("tw-ask")
    startCall(client, "q1")
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    expect(await seenAt("tw-ask")).toEqual([])
    const [asked] = toolsIn(answerTo(client, "q1"))
    client.say({ type: "approve", call_id: asked?.call_id ?? "", decision: "allow" })
    expect(toolsIn(await client.untilEnd("q1"))).toMatchObject([{ status: "ok" }])
  })

  test("[TW6] a session that has read an earlier rule sends nothing if the current rule is stricter", async () => {
    await putTool("tw-strict", "tw-strict")
    const client = await openToolSession("tw-strict")
    const strict = toolBody("tw-strict", { approval: "always" })
    expect((await sendTools("tw-strict", "PUT", "/order_status", strict)).status).toBe(200)
    const [tool] = toolsIn(await startAndSettle(client))
    expect(tool?.status).not.toBe("ok")
    expect(await seenAt("tw-strict")).toEqual([])
  })
})

describe("a result that arrives later", () => {
  test("[TW5] [TW10] is accepted once the service has responded with 202, even if it arrives twice", async () => {
    const secret = await putTool("tw-later", "tw-later", {}, "later")
    const client = await openToolSession("tw-later")
    startCall(client, "q1")
    const [seen] = await untilSeen("tw-later", 1)
    const { result_path: path, call_id: id } = seen?.body.data ?? { result_path: "", call_id: "" }
    expect((await sendResult({ path, id, secret })).status).toBe(202)
    const [tool] = toolsIn(await client.untilEnd("q1"))
    expect(JSON.parse(tool?.result ?? "")).toEqual({ state: "sent" })
    expect(await sendResult({ path, id, secret })).toEqual(refusal(404, "result_unexpected"))
    await expectReloaded(client, "tw-later")
  })

  test("[TW10] needs the right signature, time, call, session and tenant", async () => {
    const secret = await putTool("tw-sign", "tw-sign", {}, "later")
    const other = await putTool("tw-other", "tw-other", {}, "later")
    const client = await openToolSession("tw-sign")
    startCall(client, "q1")
    const [seen] = await untilSeen("tw-sign", 1)
    const { result_path: path, call_id: id } = seen?.body.data ?? { result_path: "", call_id: "" }
    const unverified = refusal(401, "result_unverified")
    const unexpected = refusal(404, "result_unexpected")
    expect(await sendResult({ path, id, secret: other })).toEqual(unverified)
    expect(await sendResult({ path, id, secret, shift: -301 })).toEqual(unverified)
    // The clock may move on before the server reads it.
    expect(await sendResult({ path, id, secret, shift: 310 })).toEqual(unverified)
    expect(await sendResult({ path, id, secret, headers: { "webhook-signature": "" } })).toEqual(unverified)
    expect(await sendResult({ path, id, secret, headers: { "webhook-id": "x" } })).toEqual(unverified)
    expect(await sendResult({ path, id: `call_${"0".repeat(32)}`, secret })).toEqual(unexpected)
    expect(await sendResult({ path: path.replace("tw-sign", "tw-other"), id, secret })).toEqual(unverified)
    expect(await sendResult({ path: path.replace("tw-sign", "tw-other"), id, secret: other })).toEqual(unexpected)
    expect(await sendResult({ path: path.replace(client.id, "another"), id, secret })).toEqual(unexpected)
    expect(await sendResult({ path: path.replace(/[^/]+$/, "call_9_9"), id, secret })).toEqual(unexpected)
    expect(await sendResult({ path, id, secret, body: "{" })).toEqual(refusal(400, "body_malformed"))
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`
    expect(await sendResult({ path, id, secret, body: deep })).toEqual(refusal(400, "body_malformed"))
    const long = JSON.stringify({ text: "x".repeat(MAX_RESULT_BYTES) })
    expect(await sendResult({ path, id, secret, body: long })).toEqual(refusal(413, "body_too_large"))
    // None of these requests may have ended the call.
    expect(answerTo(client, "q1")?.status).toBe("running")
    expect((await sendResult({ path, id, secret })).status).toBe(202)
    expect(toolsIn(await client.untilEnd("q1"))).toMatchObject([{ status: "ok" }])
  })
})

describe("a card", () => {
  const CARD = {
    for: "order_status",
    title: "Order",
    schema: { type: "object", required: ["state"], properties: { state: { type: "string", maxLength: 40 } } },
    view: [{ id: "root", component: "Text", text: { path: "/state" } }],
    samples: [{ state: "sent" }],
  }

  test("[TW7] of the tenant shows a result, including one that arrived later", async () => {
    const secret = await putTool("tw-card", "tw-card", {}, "later")
    const token = await roleToken("tw-card", "root", "admin")
    const put = await call("/v1/cards/order", { method: "PUT", token, body: JSON.stringify(CARD) })
    expect(put.status, put.text).toBe(200)
    const client = await openToolSession("tw-card")
    const steps = [[toolCall("order_status", { order: "7" })], [say("Here: <span id='order_status_1'>it is</span>.")]]
    client.say({ type: "send", id: "q1", content: script(...steps) })
    const [seen] = await untilSeen("tw-card", 1)
    const { result_path: path, call_id: id } = seen?.body.data ?? { result_path: "", call_id: "" }
    expect((await sendResult({ path, id, secret })).status).toBe(202)
    const { segments } = await client.untilEnd("q1")
    expect(segments.find(({ type }) => type === "rich")).toMatchObject({ payload: { state: "sent" } })
    await expectReloaded(client, "tw-card")
  })
})

describe("a restart", () => {
  const kill = async (id: string, tenant: string): Promise<void> => {
    const stub = sessionOf(id, claimsOf(tenant))
    await runInDurableObject(stub, (_object, state) => state.abort("killed")).catch(() => {})
  }

  test("[TW3] [TW5] while a result is awaited sends the call again with its id, and the late result is still accepted", async () => {
    const secret = await putTool("tw-kill", "tw-kill", {}, "later")
    const client = await openToolSession("tw-kill")
    startCall(client, "q1")
    const [seen] = await untilSeen("tw-kill", 1)
    await kill(client.id, "tw-kill")
    await runDurableObjectAlarm(sessionOf(client.id, claimsOf("tw-kill")))
    const all = await untilSeen("tw-kill", 2)
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    expect(all.map(({ isNew }) => isNew)).toEqual([true, false])
    const { result_path: path, call_id: id } = seen?.body.data ?? { result_path: "", call_id: "" }
    expect((await sendResult({ path, id, secret })).status).toBe(202)
    await expect.poll(() => readNewest(client.id, "tw-kill")).toMatchObject({ status: "completed" })
    expect(toolsIn(await readNewest(client.id, "tw-kill"))).toMatchObject([{ status: "ok" }])
  })

  test("[TW5] is not needed for a result to arrive: the result wakes a session that was evicted", async () => {
    const secret = await putTool("tw-wake", "tw-wake", {}, "later")
    const client = await openToolSession("tw-wake")
    startCall(client, "q1")
    const [seen] = await untilSeen("tw-wake", 1)
    await kill(client.id, "tw-wake")
    const { result_path: path, call_id: id } = seen?.body.data ?? { result_path: "", call_id: "" }
    expect((await sendResult({ path, id, secret })).status).toBe(202)
    await expect.poll(() => readNewest(client.id, "tw-wake")).toMatchObject({ status: "completed" })
    expect(toolsIn(await readNewest(client.id, "tw-wake"))).toMatchObject([
      { status: "ok", result: '{"state":"sent"}' },
    ])
  })
})

test("[TW2] an archive contains tools without their secrets, and an import gets new ones", async () => {
  await registerUser("tw-from", "boss", "owner")
  const put = await sendTools("tw-from", "PUT", "/order_status", toolBody("tw-from"))
  const archive = await downloadArchive("tw-from", await exportTenant("tw-from"))
  await importTenant("tw-to", archive)
  const [tool] = (await sendTools("tw-to", "GET", "")).json.tools
  expect(tool).toMatchObject({ name: "order_status", url: put.json.url, schema: put.json.schema, has_secret: false })
  expect(await env.TENANT.getByName("tw-to").openWebhook("order_status", true)).toBeNull()
  const rotated = await sendTools("tw-to", "POST", "/order_status/secret")
  expect(rotated.json).toMatchObject({ has_secret: true, old_secret_until: null })
  expect(rotated.json.secret).not.toBe(put.json.secret)
})
