/** tenant.test.ts: a tenant's agents, and what the default ones do without a network. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_AGENTS } from "../../shared/limits.ts"
import { DEFAULT_AGENTS } from "../../worker/tenant/agents.ts"
import { answerTo, freshSession, say, script, textIn, toolsIn } from "./follow.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { tablesOf } from "./call.ts"

const stub = (tenant: string) => env.TENANT.getByName(tenant)
const agent = (name: string) => ({ name, description: "", prompt: "You are new.", model: null, tools: [] })

describe("agents of a tenant", () => {
  test("[AG1] asking stores nothing, and there are three", async () => {
    expect((await stub("quiet").agents()).map(({ name }) => name)).toEqual(["general", "weather", "researcher"])
    expect(await stub("quiet").view("nobody")).toBeNull()
    expect(await tablesOf(stub("quiet"))).toEqual([])
  })

  test("[AG1] one is added, changed, taken away; so are default ones, but the general one stays", async () => {
    const tenant = stub("busy")
    await tenant.put(agent("writer"))
    await tenant.put({ ...agent("weather"), prompt: "You are ours." })
    expect((await tenant.agents()).map(({ name }) => name)).toEqual(["general", "weather", "researcher", "writer"])
    expect((await tenant.view("weather"))?.self.prompt).toBe("You are ours.")
    expect((await tenant.view("writer"))?.peers.map(({ name }) => name)).toEqual(["general", "weather", "researcher"])
    expect(await tenant.remove("weather")).toEqual({ ok: true, value: null })
    expect(await tenant.remove("weather")).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect(await tenant.remove("general")).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect((await tenant.agents()).map(({ name }) => name)).toEqual(["general", "researcher", "writer"])
  })

  test("[AG1] there are so many at most", async () => {
    const tenant = stub("full")
    for (let n = DEFAULT_AGENTS.length; n < MAX_AGENTS; n++) expect((await tenant.put(agent(`a${n}`))).ok).toBe(true)
    expect(await tenant.put(agent("more"))).toMatchObject({ fault: { reason: "agents_full" } })
    expect((await tenant.put(agent("a9"))).ok).toBe(true)
  })
})

describe("a session's agent", () => {
  test("[AG2] answers in it; an unknown one makes no session", async () => {
    const made = await sessionOf("ag-none").create(CLAIMS, "ag-none", "", "nobody")
    expect(made).toMatchObject({ fault: { reason: "agent_unknown" } })
    expect(await tablesOf(sessionOf("ag-none"))).toEqual([])
    await sessionOf("ag-research").create(CLAIMS, "ag-research", "", "researcher")
    const client = await connect("ag-research")
    client.say({ type: "send", id: "q1", content: "Compare the weather in Oslo and Lima" })
    const answer = await client.untilEnd("q1")
    // It thinks before each step and looks up one place in each.
    expect(answer.segments.map(({ type }) => type).slice(0, 6)).toEqual([
      ...["thinking", "text", "tool", "thinking", "tool", "thinking"],
    ])
    expect(textIn(answer)).toContain("Findings")
  })

  test("[AG2] it takes the newest configuration when a page opens it, and a turn keeps what it began with", async () => {
    const claims = { ...CLAIMS, tenant: "changing" }
    const configured = (tools: ("weather" | "rename_conversation")[]) => ({ ...agent("general"), tools })
    await stub("changing").put(configured([]))
    await sessionOf("s1", claims).create(claims, "s1", "")
    const client = await connect("s1", claims)
    const order = script([{ type: "tool_call", name: "weather", args: '{"location":"Oslo"}' }], [say("x")])
    client.say({ type: "send", id: "q1", content: order })
    expect(toolsIn(await client.untilEnd("q1"))).toMatchObject([{ error: { code: "tool_unknown" } }])
    await stub("changing").put(configured(["weather"]))
    const other = await connect("s1", claims)
    other.say({ type: "send", id: "q2", content: order })
    expect(toolsIn(await other.untilEnd("q2"))).toMatchObject([{ status: "ok" }])
  })

  test("[AG2] a model that the deployment does not have is told as unreachable", async () => {
    const claims = { ...CLAIMS, tenant: "modelled" }
    await stub("modelled").put({ ...agent("general"), model: "some-model" })
    await sessionOf("s1", claims).create(claims, "s1", "")
    const client = await connect("s1", claims)
    client.say({ type: "send", id: "q1", content: "hi" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "model_unreachable" })
  })
})

describe("offline", () => {
  test("[AG3] the general agent asks the researcher when a person wants it to, and says what it said", async () => {
    const id = await freshSession("off")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Ask the researcher about the weather in Oslo and Lima" })
    const answer = await client.untilEnd("q1")
    expect(toolsIn(answer)).toMatchObject([{ name: "agents_message", status: "ok" }])
    expect(textIn(answer)).toMatch(/The researcher says:[\s\S]*> \*\*Findings\*\*/)
    expect(textIn(answer)).not.toContain("span")
  })

  test("[AG4] or in the background, and hears of it later", async () => {
    const id = await freshSession("off")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Ask the weather agent in the background about the weather in Oslo" })
    const answer = await client.untilEnd("q1")
    expect(textIn(answer)).toContain("Its answer will come here")
    await expect.poll(async () => (await pageOf(id)).messages.length, { timeout: 8_000 }).toBe(4)
    const exchange = (await pageOf(id)).messages[3]?.exchange_id ?? ""
    expect(textIn(await client.untilEnd(exchange))).toContain("The weather is back")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ status: "ok" }])
  })
})
