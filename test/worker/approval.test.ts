/** approval.test.ts: tests calls that are pending, allowed, denied or timed out, in workerd with real SQLite. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { createSessionStore } from "../../worker/store/session-store.ts"
import {
  answerTo,
  beginTurn,
  call,
  expectSame,
  freshSession as fresh,
  say,
  script,
  toolsIn,
} from "./session-helpers.ts"
import { connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"

const freshSession = (): Promise<string> => fresh("ap")

describe("approval", () => {
  const ASK = script([say("May I? "), call("probe_ask", { text: "pay" })], [say("Thanks.")])

  async function askForApproval(id: string, client: TestClient, content = ASK): Promise<string> {
    await beginTurn(client, "q1", content, 2)
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    const tool = toolsIn(answerTo(client, "q1")).find((call) => call.approval === "asked")
    expect(tool).toMatchObject({ status: "waiting", approval: "asked" })
    await expectSame(id, client)
    return tool?.call_id ?? ""
  }

  test("[AP1] a pending call is stored, survives evictions and alarms, and runs once it is allowed", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client)
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    await evictDurableObject(sessionOf(id))
    const second = await connect(id)
    second.say({ type: "approve", call_id, decision: "allow" })
    await second.untilTrue((frame) => frame.type === "ack" && frame.id === call_id)
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ status: "completed", segments: [{}, { status: "ok", approval: "allowed" }, {}] })
    await expectSame(id, client)
  })

  test("[AP2] a denied call fails as denied, and the model continues", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client)
    client.say({ type: "approve", call_id, decision: "deny" })
    const answer = await client.untilEnd("q1")
    expect(answer.status).toBe("completed")
    expect(toolsIn(answer)).toMatchObject([{ status: "failed", approval: "denied", error: { code: "denied" } }])
    await expectSame(id, client)
  })

  test("[AP3] the first decision wins; the same decision is acknowledged again, and a different one is refused", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client)
    const second = await connect(id)
    client.say({ type: "approve", call_id, decision: "deny" })
    await client.untilEnd("q1")
    second.say({ type: "approve", call_id, decision: "allow" })
    expect(await second.untilTrue((frame) => frame.type === "error")).toMatchObject({
      code: "call_decided",
      id: call_id,
    })
    second.say({ type: "approve", call_id, decision: "deny" })
    await second.untilTrue((frame) => frame.type === "ack" && frame.id === call_id)
    second.say({ type: "approve", call_id: "call_9_9", decision: "allow" })
    await second.untilTrue((frame) => frame.type === "error" && frame.code === "call_unknown")
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([{ approval: "denied" }])
  })

  test("[AP4] a new message denies the pending call, is queued and is answered", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await askForApproval(id, client)
    client.say({ type: "send", id: "q2", content: "/say on we go" })
    expect(await client.untilEnd("q2")).toMatchObject({ status: "completed" })
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ approval: "denied" }])
    expect(answerTo(client, "q1")?.status).toBe("completed")
    const messages = await expectSame(id, client)
    expect(messages.map((message) => message.exchange_id)).toEqual(["q1", "q1", "q2", "q2"])
  })

  test("[AP5] the step's other tools run while a call is waiting; if the call is allowed meanwhile, it runs at once", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const content = script([
      call("probe_ask"),
      call("probe_slow", { ms: 1_500 }),
      call("weather", { location: "Oslo" }),
    ])
    await beginTurn(client, "q1", content, 3)
    await client.untilTrue(() => toolsIn(answerTo(client, "q1")).some((call) => call.status === "waiting"))
    expect(answerTo(client, "q1")?.status).toBe("running")
    const call_id = toolsIn(answerTo(client, "q1")).find((call) => call.approval === "asked")?.call_id ?? ""
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilTrue(() => toolsIn(answerTo(client, "q1"))[0]?.status === "ok")
    expect(toolsIn(answerTo(client, "q1"))[1]?.status).toBe("running")
    expect((await client.untilEnd("q1")).status).toBe("completed")
    await expectSame(id, client)
  })

  test("[AP4] a message sent while another tool of the step is running denies the pending call once that tool has ended", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([call("probe_ask"), call("probe_slow", { ms: 200 })], [say("ok")]), 2)
    client.say({ type: "send", id: "q2", content: "/say on" })
    expect((await client.untilEnd("q2")).status).toBe("completed")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ approval: "denied" }, { status: "ok" }])
    await expectSame(id, client)
  })

  test("[AP3] a decision that is repeated after the next turn is still acknowledged", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client)
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilEnd("q1")
    client.say({ type: "send", id: "q2", content: "/say next" })
    await client.untilEnd("q2")
    const acks = client.frames.length
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilTrue(() =>
      client.frames.slice(acks).some((reply) => reply.type === "ack" && reply.id === call_id),
    )
    client.say({ type: "approve", call_id, decision: "deny" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "call_decided")
  })

  test("[AP1] [TU11] while a turn waits, the object sleeps until the deadline; a resumed turn has the usual alarm again", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client, script([call("probe_ask", { ms: 300 }), say("x")], [say("ok")]))
    const getAlarm = () => runInDurableObject(sessionOf(id), (_object, state) => state.storage.getAlarm())
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    expect((await getAlarm()) ?? 0).toBeGreaterThan(Date.now() + 24 * 60 * 60_000)
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilTrue(() => answerTo(client, "q1")?.status === "running")
    expect((await getAlarm()) ?? Number.POSITIVE_INFINITY).toBeLessThan(Date.now() + 60_000)
    await client.untilEnd("q1")
  })

  test("[AP6] a turn cancelled while it is waiting stays cancelled, and a later decision is refused", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const call_id = await askForApproval(id, client)
    await evictDurableObject(sessionOf(id))
    const second = await connect(id)
    second.say({ type: "cancel", exchange_id: "q1" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "cancelled" })
    second.say({ type: "approve", call_id, decision: "allow" })
    await second.untilTrue((frame) => frame.type === "error" && frame.code === "call_decided")
    await expectSame(id, client)
  })

  test("[AP7] the alarm denies a call that gets no decision in time", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await askForApproval(id, client)
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const stored = createSessionStore(state.storage.sql).findMessageAt(2)
      expect(stored?.deadline).toBeGreaterThan(Date.now() + 24 * 60 * 60_000)
      state.storage.sql.exec("UPDATE transcript SET deadline = ? WHERE pos = 2", Date.now() - 1)
    })
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    expect((await client.untilEnd("q1")).status).toBe("completed")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([{ approval: "denied" }])
  })
})
