/**
 * agents.test.ts: tests how agents ask each other questions across sessions, synchronously and asynchronously, in
 * workerd with real SQLite and RPC.
 */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { askAgent, askFor, followUp, freshAsker, resultsIn, describeMessage } from "./agents.ts"
import { answerTo, call, expectSame, pause, say, script, textIn, toolsIn } from "./session-helpers.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"

describe("a sync question", () => {
  test("[AG3] the other agent's answer is the call's result; both sides show the same exchange", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const answer = await askFor(
      client,
      "q1",
      script([askAgent("researcher", "/say Oslo is cold.")], [say("So it is.")]),
    )
    expect(answer.status).toBe("completed")
    const [result] = resultsIn(answer)
    expect(result).toMatchObject({ agent: "researcher", answer: "Oslo is cold." })
    await expectSame(id, client)
    const { messages } = await pageOf(result?.["session"] ?? "")
    expect(messages.map(describeMessage)).toEqual([
      "agent completed received general",
      "assistant completed sent general",
    ])
    expect(messages[0]?.segments).toMatchObject([
      { type: "agent", direction: "received", content: "/say Oslo is cold." },
    ])
    expect(messages[0]?.agent?.exchange).toBe(messages[1]?.agent?.exchange)
    expect(messages[1]).toMatchObject({
      exchange_id: messages[0]?.agent?.exchange,
      segments: [{ content: "Oslo is cold." }],
    })
  })

  test("[AG9] an agent remembers earlier questions, and several agents are asked in parallel", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const both = script(
      [askAgent("researcher", "/say one"), askAgent("weather", "/say two"), askAgent("researcher", "/say three")],
      [say("x")],
    )
    const results = resultsIn(await askFor(client, "q1", both))
    expect(results.map((result) => result["answer"])).toEqual(["one", "two", "three"])
    expect(results[0]?.["session"]).toBe(results[2]?.["session"])
    expect(results[0]?.["session"]).not.toBe(results[1]?.["session"])
    expect((await pageOf(results[0]?.["session"] ?? "")).messages).toHaveLength(4)
  })

  test("[AG7] [AG12] a subagent gets no tags, doesn't affect the caller's ordinals, and has the spans removed from its answer", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const sub = script([call("weather", { location: "Oslo" })], [say("Cold: <span id='weather_1'>brr</span>!")])
    const main = script(
      [askAgent("researcher", sub)],
      [call("weather", { location: "Rome" })],
      [say("<span id='weather_1'>Rome</span>")],
    )
    const answer = await askFor(client, "q1", main)
    const [askResult] = resultsIn(answer)
    expect(askResult?.["answer"]).toBe("Cold: brr!")
    // The card belongs to the first call that the calling agent itself made.
    expect(answer.segments.at(-1)).toMatchObject({ type: "rich", tag: "weather_1", payload: { location: "Rome, IT" } })
    const { messages } = await pageOf(askResult?.["session"] ?? "")
    expect(messages[1]?.segments.filter(({ type }) => type === "rich")).toEqual([])
    const rows = await runInDurableObject(sessionOf(askResult?.["session"] ?? ""), (_object, state) =>
      state.storage.sql.exec("SELECT channel, ordinal, card, result FROM tool_calls").toArray(),
    )
    expect(rows).toMatchObject([{ channel: "subagent", ordinal: null, card: null }])
    expect(String(rows[0]?.["result"])).not.toContain("\n\n")
  })

  test("[AG8] if an agent fails, the call fails with the reason", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const answer = await askFor(client, "q1", script([askAgent("researcher", "/fault model_refused")], [say("Pity.")]))
    expect(answer.status).toBe("completed")
    expect(toolsIn(answer)).toMatchObject([{ status: "failed", error: { code: "agent_failed" } }])
    expect(resultsIn(answer)[0]?.["details"]).toContain("model_refused")
  })

  test("[AG8] an unknown agent and invalid arguments are refused, and the error names them", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const wrong = [
      askAgent("nobody", "x"),
      call("agents_message", { agent: "weather" }),
      askAgent("general", "to myself"),
    ]
    const answer = await askFor(client, "q1", script(wrong, [say("x")]))
    expect(toolsIn(answer).map((tool) => tool.error?.code)).toEqual([
      "agent_unknown",
      "tool_arguments",
      "agent_unknown",
    ])
  })

  test("[AG6] cancelling a turn also cancels the answer of the agent that it asked", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    client.say({
      type: "send",
      id: "q1",
      content: script([askAgent("researcher", script([say("I "), pause(9_000)]))], [say("x")]),
    })
    const findTarget = async (): Promise<string> => {
      const rows = await runInDurableObject(sessionOf(id), (_object, state) =>
        state.storage.sql.exec<{ session: string }>("SELECT session FROM asked").toArray(),
      )
      return rows[0]?.session ?? ""
    }
    await expect.poll(findTarget).not.toBe("")
    const session = await findTarget()
    await expect.poll(async () => (await pageOf(session)).messages[1]?.segments.length).toBe(1)
    client.say({ type: "cancel", exchange_id: "q1" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "cancelled" })
    await expect.poll(async () => (await pageOf(session)).messages[1]?.status).toBe("cancelled")
    await expectSame(id, client)
  })

  test("[AG10] a caller whose process died asks again, and the agent answers only once", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const sub = script([call("probe_slow", { ms: 1_500 })], [say("done once")])
    client.say({ type: "send", id: "q1", content: script([askAgent("researcher", sub)], [say("Thanks.")]) })
    await client.untilTrue(() => toolsIn(answerTo(client, "q1"))[0]?.status === "running")
    await runInDurableObject(sessionOf(id), (_object, state) => state.abort("killed")).catch(() => {})
    await expect.poll(async () => (await pageOf(id)).messages[1]?.status).toBe("completed")
    const answer = (await pageOf(id)).messages[1]
    expect(resultsIn(answer)[0]).toMatchObject({ answer: "done once" })
    const session = resultsIn(answer)[0]?.["session"] ?? ""
    expect((await pageOf(session)).messages).toHaveLength(2)
  })
})

describe("cycles", () => {
  test("[AG5] a question back to a waiting agent is refused, and no agent waits forever", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const back = script([call("agents_message", { agent: "general", message: "/say hi" })], [say("I could not.")])
    const answer = await askFor(client, "q1", script([askAgent("researcher", back)], [say("x")]))
    const session = resultsIn(answer)[0]?.["session"] ?? ""
    expect(resultsIn(answer)[0]?.["answer"]).toBe("I could not.")
    expect(toolsIn((await pageOf(session)).messages[1])).toMatchObject([
      { status: "failed", error: { code: "agent_loop" } },
    ])
  })

  test("[AG5] two agents that ask each other at the same time don't deadlock in each other's queues", async () => {
    await putAgent({ name: "writer", tools: ["agents_message"] })
    const id = await freshAsker()
    const client = await connect(id)
    const createCrossingScript = (other: string): string =>
      script([call("probe_slow", { ms: 300 })], [askAgent(other, "/say here")], [say("met")])
    const main = script(
      [askAgent("researcher", createCrossingScript("writer")), askAgent("writer", createCrossingScript("researcher"))],
      [say("over")],
    )
    const answer = await askFor(client, "q1", main)
    expect(answer.status).toBe("completed")
    expect(resultsIn(answer).map((result) => result["answer"])).toEqual(["met", "met"])
    const codes: (string | undefined)[] = []
    for (const one of resultsIn(answer)) {
      const { messages } = await pageOf(one["session"] ?? "")
      codes.push(...messages.flatMap((message) => toolsIn(message).map((tool) => tool.error?.code)))
    }
    expect(codes).toContain("agent_loop")
  })

  test("[AG11] the number of questions in a turn is limited", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const many = Array.from({ length: 9 }, (_, n) => askAgent(n % 2 === 0 ? "weather" : "researcher", `/say ${n}`))
    const answer = await askFor(client, "q1", script(many, [say("x")]))
    const codes = toolsIn(answer).map((tool) => tool.error?.code ?? tool.status)
    expect(codes.filter((code) => code === "ok")).toHaveLength(8)
    expect(codes.at(-1)).toBe("agent_fan_out")
  })

  test("[AG5] late answers also count towards the depth of a chain of questions; at depth 8, further questions are refused", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const sub = script([call("probe_slow", { ms: 500 })], [askAgent("weather", "/say deeper")], [say("enough")])
    client.say({ type: "send", id: "q1", content: script([askAgent("researcher", sub, "async")], [say("ok")]) })
    const answer = await client.untilEnd("q1")
    const [queued] = resultsIn(answer)
    // Pretend that the chain of questions is already eight deep.
    const depth = await runInDurableObject(sessionOf(queued?.["session"] ?? ""), (_object, state) => {
      const row = state.storage.sql.exec("SELECT depth FROM begun").one()
      state.storage.sql.exec("UPDATE begun SET depth = 8")
      return row["depth"]
    })
    expect(depth).toBe(1)
    await followUp(client)
    const [, refused] = toolsIn((await pageOf(queued?.["session"] ?? "")).messages[1])
    expect(refused).toMatchObject({ status: "failed", error: { code: "agent_loop" } })
    const here = await runInDurableObject(sessionOf(id), (_object, state) =>
      state.storage.sql.exec("SELECT mode, depth, owed FROM begun").toArray(),
    )
    expect(here).toEqual([{ mode: "callback", depth: 1, owed: 0 }])
  })
})

describe("an async question", () => {
  test("[AG4] the turn ends, the call waits until the answer arrives, and the answer begins a separate turn", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 300 })], [say("Found <span id='weather_1'>it</span>.")])
    const answer = await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("You will hear.")]))
    expect(answer.status).toBe("completed")
    expect(textIn(answer)).toContain("You will hear.")
    expect(toolsIn(answer)).toMatchObject([{ status: "waiting" }])
    const [queued] = resultsIn(answer)
    expect(queued).toMatchObject({ mode: "async", status: "queued", responseId: expect.any(String) })
    const next = await followUp(client)
    expect(next).toMatchObject({ status: "completed" })
    expect(textIn(next)).toContain("The **researcher** agent replied")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ status: "ok" }])
    expect(resultsIn(answerTo(client, "q1"))[0]).toMatchObject({ agent: "researcher", answer: "Found it." })
    const messages = await expectSame(id, client)
    expect(messages.map(describeMessage)).toEqual([
      "user completed",
      "assistant completed",
      "agent completed received researcher",
      "assistant completed",
    ])
    expect(messages[2]).toMatchObject({ id: queued?.["responseId"], content: "Found it." })
  })

  test("[AG4] the call keeps waiting through evictions and alarms, and the answer wakes the session", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 700 })], [say("Late.")])
    await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("ok")]))
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([{ status: "waiting" }])
    await evictDurableObject(sessionOf(id))
    await expect.poll(async () => (await pageOf(id)).messages.length).toBe(4)
    await expect.poll(async () => (await pageOf(id)).messages[3]?.status).toBe("completed")
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([{ status: "ok" }])
  })

  test("[AG10] the callback is delivered exactly once, even if the agent's process died before delivering it", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 400 })], [say("Once.")])
    const answer = await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("ok")]))
    const session = resultsIn(answer)[0]?.["session"] ?? ""
    const exchange = resultsIn(answer)[0]?.["responseId"] ?? ""
    await followUp(client)
    const before = (await pageOf(id)).messages
    // Simulate an undelivered answer: mark its row as not yet delivered, and restart the process.
    await runInDurableObject(sessionOf(session), (_object, state) => {
      state.storage.sql.exec("UPDATE begun SET owed = 1 WHERE id = ?", exchange)
    })
    await runInDurableObject(sessionOf(session), (_object, state) => state.abort("killed")).catch(() => {})
    const isOpen = () =>
      runInDurableObject(sessionOf(session), (_object, state) =>
        Number(state.storage.sql.exec("SELECT owed FROM begun WHERE id = ?", exchange).one()["owed"]),
      )
    await expect.poll(isOpen).toBe(0)
    expect((await pageOf(id)).messages).toEqual(before)
  })

  test("[AG10] an answer for a cancelled turn changes nothing", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 5_000 })], [say("Too late.")])
    client.say({
      type: "send",
      id: "q1",
      content: script([askAgent("researcher", slow, "async")], [say("so "), pause(9_000)]),
    })
    await client.untilTrue(() => (answerTo(client, "q1")?.segments.length ?? 0) === 2)
    client.say({ type: "cancel", exchange_id: "q1" })
    const cancelled = await client.untilEnd("q1")
    expect(toolsIn(cancelled)).toMatchObject([{ status: "interrupted" }])
    const session = resultsIn(cancelled)[0]?.["session"] ?? ""
    // The asked agent stops too, and its callback finds that the call already has a result.
    await expect.poll(async () => (await pageOf(session)).messages[1]?.status).toBe("cancelled")
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect((await pageOf(id)).messages).toHaveLength(2)
    await expectSame(id, client)
  })

  test("[AG4] if the asked agent fails later, the call fails and the caller gets a turn about it", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const bad = script([call("probe_slow", { ms: 200 })], [{ type: "fault", fault: "model_refused" }])
    await askFor(client, "q1", script([askAgent("researcher", bad, "async")], [say("ok")]))
    await followUp(client)
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ status: "failed", error: { code: "agent_failed" } }])
    await expectSame(id, client)
  })

  test("[AG4] a client that reconnects gets the result of a call in an earlier message", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 900 })], [say("Late.")])
    await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("ok")]))
    await askFor(client, "q2", "/say two")
    const { epoch, seq } = await pageOf(id)
    client.socket.close()
    await expect.poll(async () => toolsIn((await pageOf(id)).messages[1])[0]?.status).toBe("ok")
    await evictDurableObject(sessionOf(id))
    const back = await connect(id, undefined, null)
    back.last = seq
    back.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after: seq })
    await back.untilTrue(() => [...back.messages.values()].some((message) => toolsIn(message)[0]?.status === "ok"))
  })
})

/** Adds an agent to the tenant of these tests. */
async function putAgent(agent: { name: string; tools: readonly string[] }): Promise<void> {
  const { env } = await import("cloudflare:test")
  const put = await env.TENANT.getByName("acme").putAgent(SYSTEM_ACTOR, {
    description: "d",
    prompt: "You write.",
    model: null,
    ...agent,
  } as never)
  expect(put.ok).toBe(true)
}
