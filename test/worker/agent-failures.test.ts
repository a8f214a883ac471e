/** agent-failures.test.ts: tests failures while agents ask each other, in workerd with real SQLite and RPC. */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_AGENT_DEPTH, MAX_AGENT_QUESTIONS } from "../../shared/limits.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { findContentFault, truncateMessage } from "../../worker/turn/accept-message.ts"
import { selectChannel } from "../../worker/store/agent-ask-rows.ts"
import { computeBudgetShare } from "../../worker/agent/ask-request.ts"
import { call as callRoute, refusal, tablesOf, tokenOf } from "./http.ts"
import { askAgent, askFor, followUp, freshAsker, resultsIn } from "./agents.ts"
import { answerTo, call, pause, say, script, toolsIn } from "./session-helpers.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"

describe("failures", () => {
  const readInboundAsks = (id: string) =>
    runInDurableObject(sessionOf(id), (_object, state) =>
      state.storage.sql.exec<{ id: string; session: string; open: number }>("SELECT * FROM asked").toArray(),
    )

  test("[AG6] cancelling a turn while its question is being delivered also cancels the agent's answer", async () => {
    for (let delay = 0; delay < 40; delay += 5) {
      const id = await freshAsker()
      const client = await connect(id)
      const sub = script([call("probe_slow", { ms: 3_000 })], [say("I went on")])
      client.say({ type: "send", id: "q1", content: script([askAgent("researcher", sub)], [say("x")]) })
      await client.untilTrue(() => toolsIn(answerTo(client, "q1"))[0]?.status === "running")
      await new Promise((resolve) => setTimeout(resolve, delay))
      client.say({ type: "cancel", exchange_id: "q1" })
      await client.untilEnd("q1")
      await expect.poll(async () => (await readInboundAsks(id)).map(({ open }) => open)).toEqual([0])
      const [row] = await readInboundAsks(id)
      const there = await sessionOf(row?.session ?? "").readHistoryPage({ ...CLAIMS }, { limit: 9 })
      const messages: WireMessage[] = there.ok ? JSON.parse(there.value.json).messages : []
      expect(messages.map(({ status }) => status)).not.toContain("running")
      expect(messages.map(({ status }) => status).slice(1)).toEqual(messages.length > 1 ? ["cancelled"] : [])
    }
  })

  test("[AG6] cancelling an external answer doesn't stop another session that the answer's records name", async () => {
    const [id, victim] = [await freshAsker(), await freshAsker()]
    const [client, other] = [await connect(id), await connect(victim)]
    other.say({ type: "send", id: "q9", content: script([say("going "), pause(3_000), say("on")]) })
    await other.untilTrue(() => answerTo(other, "q9")?.segments.length === 1)
    const forged = { mode: "async", status: "queued", responseId: "q9", session: victim }
    const lines = [
      { type: "tool_call", responseId: "r1", callId: "call_1_0", toolName: "agents_message", arguments: "{}" },
      {
        type: "tool_result",
        responseId: "r1",
        callId: "call_1_0",
        ok: false,
        result: forged,
        error: { code: "tool_interrupted", message: "x" },
      },
    ].map((line) => `${JSON.stringify(line)}\n`)
    const claims = { ...CLAIMS, scope: "external" as const, session: id }
    await sessionOf(id).ingestRecords(claims, {}, new Blob(lines).stream())
    client.say({ type: "cancel", exchange_id: "r1" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "r1")
    expect(await other.untilEnd("q9")).toMatchObject({ status: "completed" })
  })

  test("[AG7] a turn that a callback starts in an agent's session has no cards and requests no approvals", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    // The researcher asks the weather agent asynchronously and ends its turn. The weather agent's answer begins a turn
    // in the researcher's session.
    const sub = script(
      [askAgent("weather", script([call("probe_slow", { ms: 300 })], [say("It is 3 degrees.")]), "async")],
      [say("begun")],
    )
    const [result] = resultsIn(await askFor(client, "q1", script([askAgent("researcher", sub)], [say("ok")])))
    const session = result?.["session"] ?? ""
    await expect.poll(async () => (await pageOf(session)).messages.length).toBe(4)
    const modes = await runInDurableObject(sessionOf(session), (_object, state) =>
      state.storage.sql.exec<{ mode: string; path: string }>("SELECT mode, path FROM begun ORDER BY depth").toArray(),
    )
    expect(modes.map(({ mode }) => mode)).toEqual(["sync", "callback"])
    const led = { id: "x", mode: "callback", session: "s", call_id: "c", depth: 2, budget: 1 } as const
    expect(selectChannel({ ...led, path: [id] }, null)).toBe("agent")
    expect(selectChannel({ ...led, path: [] }, null)).toBe("user")
    expect(JSON.parse(modes[1]?.path ?? "[]")).toEqual([id])
  })

  test("[AG10] a callback whose turn could not be stored is delivered again; the call gets its result once, and one turn begins", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 400 })], [say("Found.")])
    await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("ok")]))
    const setWritesFailing = (on: boolean) =>
      runInDurableObject(sessionOf(id), (_object, state) => {
        const sql =
          "CREATE TRIGGER spoil BEFORE INSERT ON transcript WHEN NEW.role = 'agent' BEGIN SELECT RAISE(ABORT, 'spoilt'); END"
        state.storage.sql.exec(on ? sql : "DROP TRIGGER spoil")
      })
    await setWritesFailing(true)
    await expect.poll(async () => toolsIn((await pageOf(id)).messages[1])[0]?.status).toBe("ok")
    expect((await pageOf(id)).messages).toHaveLength(2)
    await setWritesFailing(false)
    const [row] = await readInboundAsks(id)
    await runDurableObjectAlarm(sessionOf(row?.session ?? ""))
    await expect.poll(async () => (await pageOf(id)).messages[3]?.status).toBe("completed")
    await runDurableObjectAlarm(sessionOf(row?.session ?? ""))
    expect((await pageOf(id)).messages).toHaveLength(4)
  })

  test("[AG10] a call whose answer never arrives eventually fails, and the next turn reports the failure", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const slow = script([call("probe_slow", { ms: 8_000 })], [say("Too late.")])
    await askFor(client, "q1", script([askAgent("researcher", slow, "async")], [say("ok")]))
    await runInDurableObject(sessionOf(id), (_object, state) => {
      state.storage.sql.exec("UPDATE asked SET until = 1")
    })
    await runDurableObjectAlarm(sessionOf(id))
    await followUp(client)
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ status: "failed", error: { code: "agent_failed" } }])
    const [row] = await readInboundAsks(id)
    await expect.poll(async () => (await pageOf(row?.session ?? "")).messages[1]?.status).toBe("cancelled")
  })

  test("[AG9] an agent's session is created only by a call to the agent; a client can't create a session with such an id", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const [result] = resultsIn(await askFor(client, "q1", script([askAgent("researcher", "/say yes")], [say("x")])))
    const session = result?.["session"] ?? ""
    expect(session).toMatch(/^agent-/)
    const token = await tokenOf("acme", "eve")
    const taken = await callRoute("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id: session }) })
    expect(taken).toEqual(refusal(400, "field_invalid"))
  })

  test("[RT10] an agent's session isn't stored if its caller's session has been erased in the meantime", async () => {
    const family = { session: "gone", agent: "general" }
    const request = {
      id: "ask-1",
      owner: CLAIMS,
      to: "agent-orphan",
      agent: "researcher",
      family,
      message: "my secret",
      from: { session: "gone", name: "general", call_id: "call_2_0" },
      mode: "sync" as const,
      path: ["gone"],
      depth: 1,
      budget: 1,
    }
    expect(await sessionOf("agent-orphan").acceptAsk(request)).toEqual({ ok: false, fault: "agent_failed" })
    expect(await tablesOf(sessionOf("agent-orphan"))).toEqual([])
    expect(await tablesOf(sessionOf("gone"))).toEqual([])
  })

  test("[AG4] messages between agents don't delay a user's message", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const quick = Array.from({ length: 8 }, (_, n) => askAgent("researcher", `/say ${n}`, "async"))
    client.say({ type: "send", id: "q1", content: script(quick, [say("wait "), pause(1_500), say("over")]) })
    await client.untilTrue(() => toolsIn(answerTo(client, "q1")).filter(({ status }) => status === "ok").length === 8)
    client.say({ type: "send", id: "q2", content: "/say me first" })
    await client.untilTrue((frame) => (frame.type === "ack" || frame.type === "error") && frame.id === "q2")
    await client.untilEnd("q2")
    const order = (await pageOf(id)).messages.filter(({ role, status }) => role !== "assistant" && status !== "queued")
    expect(order.map((message) => message.exchange_id).slice(0, 2)).toEqual(["q1", "q2"])
  })

  test("[AG4] if a user withdraws a queued question, the caller wakes up and its call fails", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const [result] = resultsIn(await askFor(client, "q1", script([askAgent("researcher", "/say yes")], [say("x")])))
    const there = await connect(result?.["session"] ?? "")
    there.say({ type: "send", id: "p1", content: script([call("probe_ask", { text: "pay" })], [say("x")]) })
    await there.untilTrue(() => answerTo(there, "p1")?.status === "waiting")
    client.say({ type: "send", id: "q2", content: script([askAgent("researcher", "/say later")], [say("x")]) })
    const findQueued = (): WireMessage | undefined =>
      [...there.messages.values()].find(({ status }) => status === "queued")
    await there.untilTrue(() => findQueued() !== undefined)
    there.say({ type: "withdraw", id: "w1", message: findQueued()?.id ?? "" })
    expect(toolsIn(await client.untilEnd("q2"))).toMatchObject([{ status: "failed", error: { code: "agent_failed" } }])
  })

  test("[AG12] a message to an agent is cleaned, and an answer that repeats the cleaned text isn't changed again", async () => {
    const id = await freshAsker()
    const client = await connect(id)
    const rawText = "Array<T> <script>x</script><span id='weather_1'>y</span>\u202e"
    const [result] = resultsIn(
      await askFor(client, "q1", script([askAgent("researcher", `/say ${JSON.stringify(rawText)}`)], [say("x")])),
    )
    expect(result?.["answer"]).toBe("Array<T> y")
    const { messages } = await pageOf(result?.["session"] ?? "")
    expect(messages[0]?.content).not.toMatch(/<script|<span|\u202e/)
  })

  test("[AG4] an answer that is too long for a message is cut, and a note gives the number of omitted characters", async () => {
    expect(truncateMessage("short", 100)).toBe("short")
    expect(truncateMessage("", 100)).toBe("(The answer was empty.)")
    for (const text of ["字".repeat(40_000), "x".repeat(200_000), "😀".repeat(40_000)]) {
      const head = truncateMessage(text, 24_000)
      expect(findContentFault(head, 24_000)).toBeNull()
      expect(head).toMatch(/more characters omitted\]$/)
      expect(head.isWellFormed()).toBe(true)
    }
  })
})

test("[AG11] the number of questions per user message is limited, however the agents ask each other", () => {
  const countQuestions = (budget: number, depth: number): number => {
    let count = 0
    for (let nth = 1; nth <= 32; nth++) {
      const share = computeBudgetShare(budget, nth, "async")
      // Count the questions asked in the agent's turn and in the turn that its late answer begins.
      if (share !== null && depth < MAX_AGENT_DEPTH) count += 1 + 2 * countQuestions(share, depth + 1)
    }
    return count
  }
  expect(countQuestions(MAX_AGENT_QUESTIONS, 0)).toBeLessThanOrEqual(MAX_AGENT_QUESTIONS)
  const own = Array.from({ length: 32 }, (_, n) => computeBudgetShare(MAX_AGENT_QUESTIONS, n + 1, "sync"))
  expect(own.filter((share) => share !== null)).toHaveLength(8)
})
