/** tenant.test.ts: tests a tenant's agents, and the default agents without a network. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_AGENTS } from "../../shared/limits.ts"
import { DEFAULT_AGENTS } from "../../worker/tool/default-agents.ts"
import { answerTo, freshSession, say, script, textIn, toolsIn } from "./session-helpers.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { nanoid } from "nanoid"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { call, nowSeconds, refusal, SECRET, tablesOf, tokenOf } from "./http.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)
const createAgent = (name: string) => ({ name, description: "", prompt: "You are new.", model: null, tools: [] })

describe("agents of a tenant", () => {
  test("[AG1] are three default ones at first, and reading them stores nothing", async () => {
    expect((await tenantStubOf("quiet").listAgents()).map(({ name }) => name)).toEqual([
      "general",
      "weather",
      "researcher",
    ])
    expect(await tenantStubOf("quiet").getAgentView("nobody")).toBeNull()
    expect(await tablesOf(tenantStubOf("quiet"))).toEqual([])
  })

  test("[AG1] can be added, changed and deleted, even default ones, except for the general agent", async () => {
    const tenant = tenantStubOf("busy")
    await tenant.putAgent(SYSTEM_ACTOR, createAgent("writer"))
    await tenant.putAgent(SYSTEM_ACTOR, { ...createAgent("weather"), prompt: "You are ours." })
    expect((await tenant.listAgents()).map(({ name }) => name)).toEqual(["general", "weather", "researcher", "writer"])
    expect((await tenant.getAgentView("weather"))?.self.prompt).toBe("You are ours.")
    expect((await tenant.getAgentView("writer"))?.peers.map(({ name }) => name)).toEqual([
      "general",
      "weather",
      "researcher",
    ])
    expect(await tenant.removeAgent(SYSTEM_ACTOR, "weather")).toEqual({ ok: true, value: null })
    expect(await tenant.removeAgent(SYSTEM_ACTOR, "weather")).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect(await tenant.removeAgent(SYSTEM_ACTOR, "general")).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect((await tenant.listAgents()).map(({ name }) => name)).toEqual(["general", "researcher", "writer"])
  })

  test("[AG1] are limited in number", async () => {
    const tenant = tenantStubOf("full")
    for (let n = DEFAULT_AGENTS.length; n < MAX_AGENTS; n++)
      expect((await tenant.putAgent(SYSTEM_ACTOR, createAgent(`a${n}`))).ok).toBe(true)
    expect(await tenant.putAgent(SYSTEM_ACTOR, createAgent("more"))).toMatchObject({ fault: { reason: "agents_full" } })
    expect((await tenant.putAgent(SYSTEM_ACTOR, createAgent("a9"))).ok).toBe(true)
  })
})

describe("the routes", () => {
  const adminToken = (tenant: string) =>
    issueToken(
      { tenant, user: "root", expires: nowSeconds() + 600, token: nanoid(), issued: Date.now() / 1000, scope: "admin" },
      SECRET,
    )
  const body = JSON.stringify({ description: "Writes.", prompt: "You write.", tools: ["weather"] })

  test("[AG1] an administrator configures agents, users get their names, and a session is created with one", async () => {
    const [root, ada] = [await adminToken("routed"), await tokenOf("routed", "ada")]
    const put = await call("/v1/agents/writer", { method: "PUT", token: root, body })
    expect(put).toMatchObject({ status: 200, json: { name: "writer", model: null, tools: ["weather"] } })
    const shown = await call("/v1/agents", { token: ada })
    expect(shown.json.agents.at(-1)).toEqual({ name: "writer", description: "Writes." })
    expect((await call("/v1/agents", { token: root })).json.agents.at(-1)).toMatchObject({ prompt: "You write." })
    const made = await call("/v1/sessions", { method: "POST", token: ada, body: '{"id":"w1","agent":"writer"}' })
    expect(made.status).toBe(201)
    const unknown = await call("/v1/sessions", { method: "POST", token: ada, body: '{"agent":"nobody"}' })
    expect(unknown).toEqual(refusal(404, "agent_unknown"))
    expect((await call("/v1/agents/writer", { method: "DELETE", token: root })).status).toBe(204)
    expect(await call("/v1/agents/writer", { method: "DELETE", token: root })).toEqual(refusal(404, "agent_unknown"))
    // Another tenant must have its own agents.
    expect((await call("/v1/agents", { token: await tokenOf("other", "ada") })).json.agents).toHaveLength(3)
  })

  test.each([
    ["no name", "/v1/agents/Bad%20Name", body, 400, "field_invalid"],
    ["no prompt", "/v1/agents/a", '{"description":""}', 400, "field_invalid"],
    [
      "a tool that doesn't exist",
      "/v1/agents/a",
      '{"description":"","prompt":"x","tools":["rm"]}',
      400,
      "field_invalid",
    ],
    [
      "a prompt that is too long",
      "/v1/agents/a",
      JSON.stringify({ description: "", prompt: "x".repeat(20_000) }),
      400,
      "field_invalid",
    ],
  ])("[AG1] %s is refused", async (_name, path, sent, status, code) => {
    expect(await call(path, { method: "PUT", token: await adminToken("refused"), body: sent })).toEqual(
      refusal(status, code),
    )
    expect(await tablesOf(tenantStubOf("refused"))).toEqual([])
  })

  test("[AG1] a user's token can't configure agents", async () => {
    const ada = await tokenOf("guarded", "ada")
    expect(await call("/v1/agents/a", { method: "PUT", token: ada, body })).toEqual(refusal(403, "scope_denied"))
    expect(await call("/v1/agents/a", { method: "DELETE", token: ada })).toEqual(refusal(403, "scope_denied"))
  })
})

describe("a session's agent", () => {
  test("[AG2] answers in the session; an unknown agent creates no session", async () => {
    const made = await sessionOf("ag-none").create(CLAIMS, "ag-none", "", "nobody")
    expect(made).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect(await tablesOf(sessionOf("ag-none"))).toEqual([])
    await sessionOf("ag-research").create(CLAIMS, "ag-research", "", "researcher")
    const client = await connect("ag-research")
    client.say({ type: "send", id: "q1", content: "Compare the weather in Oslo and Lima" })
    const answer = await client.untilEnd("q1")
    // This agent thinks before each step and looks up one place per step.
    expect(answer.segments.map(({ type }) => type).slice(0, 6)).toEqual([
      "thinking",
      "text",
      "tool",
      "thinking",
      "tool",
      "thinking",
    ])
    expect(textIn(answer)).toContain("Findings")
  })

  test("[AG13] gets the newest configuration when a page opens the session; a turn keeps the one it began with", async () => {
    const claims = { ...CLAIMS, tenant: "changing" }
    const createConfigured = (tools: ("weather" | "rename_conversation")[]) => ({ ...createAgent("general"), tools })
    await tenantStubOf("changing").putAgent(SYSTEM_ACTOR, createConfigured([]))
    await sessionOf("s1", claims).create(claims, "s1", "")
    const client = await connect("s1", claims)
    const order = script([{ type: "tool_call", name: "weather", args: '{"location":"Oslo"}' }], [say("x")])
    client.say({ type: "send", id: "q1", content: order })
    expect(toolsIn(await client.untilEnd("q1"))).toMatchObject([{ error: { code: "tool_unknown" } }])
    await tenantStubOf("changing").putAgent(SYSTEM_ACTOR, createConfigured(["weather"]))
    const other = await connect("s1", claims)
    other.say({ type: "send", id: "q2", content: order })
    expect(toolsIn(await other.untilEnd("q2"))).toMatchObject([{ status: "ok" }])
  })

  test("[AG2] fails with model_unreachable if the deployment doesn't have its model", async () => {
    const claims = { ...CLAIMS, tenant: "modelled" }
    await tenantStubOf("modelled").putAgent(SYSTEM_ACTOR, { ...createAgent("general"), model: "some-model" })
    await sessionOf("s1", claims).create(claims, "s1", "")
    const client = await connect("s1", claims)
    client.say({ type: "send", id: "q1", content: "hi" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "model_unreachable" })
  })
})

describe("offline", () => {
  test("[AG3] the general agent asks the researcher on request, and reports its answer", async () => {
    const id = await freshSession("off")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Ask the researcher about the weather in Oslo and Lima" })
    const answer = await client.untilEnd("q1")
    expect(toolsIn(answer)).toMatchObject([{ name: "agents_message", status: "ok" }])
    // The answer quotes the beginning of the researcher's answer. The call's block contains all of it.
    expect(textIn(answer)).toMatch(/The \*\*researcher\*\* agent replied:\n\n(?:- .*\d.*(?:\n|$)){1,3}$/)
    expect(textIn(answer)).not.toContain("Findings")
    expect(textIn(answer)).not.toContain("span")
  })

  test("[AG4] the general agent also asks in the background, and gets the answer later", async () => {
    const id = await freshSession("off")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Ask the weather agent in the background about the weather in Oslo" })
    const answer = await client.untilEnd("q1")
    expect(textIn(answer)).toContain("The answer will arrive here")
    await expect.poll(async () => (await pageOf(id)).messages.length).toBe(4)
    const exchange = (await pageOf(id)).messages[3]?.exchange_id ?? ""
    expect(textIn(await client.untilEnd(exchange))).toContain("The **weather** agent replied")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ status: "ok" }])
  })
})
