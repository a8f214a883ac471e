/** broken-writes.test.ts: tests failing writes. Only stored text may be shown, and the session must keep working. */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import {
  answerTo,
  beginTurn,
  call,
  expectSame,
  freshSession as fresh,
  pause,
  say,
  script,
  toolsIn,
} from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("broken")

/** Makes every write to a table that matches a condition fail. */
function breakWrites(id: string, table: string, when: string): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => {
    storage.sql.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON ${table} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    )
  })
}

function repairWrites(id: string): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => void storage.sql.exec("DROP TRIGGER broken"))
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe("failed writes", () => {
  test("[TU8] if a decision can't be stored while another tool is running, the turn ends as stored for every client, and the next turn runs", async () => {
    const id = await freshSession()
    const [client, watch] = [await connect(id), await connect(id)]
    await beginTurn(client, "q1", script([call("probe_ask"), call("probe_slow", { ms: 600 })], [say("ok")]), 2)
    await client.untilTrue(() => toolsIn(answerTo(client, "q1"))[0]?.approval === "asked")
    await breakWrites(id, "tool_calls", "NEW.approval = 'denied'")
    const call_id = toolsIn(answerTo(client, "q1"))[0]?.call_id ?? ""
    client.say({ type: "approve", call_id, decision: "deny" })
    expect((await client.untilClosed()).code).toBe(1011)
    await repairWrites(id)
    expect(await watch.untilEnd("q1")).toMatchObject({ status: "failed", reason: "internal" })
    await sleep(700)
    await expectSame(id, watch)
    watch.say({ type: "send", id: "q2", content: "/say fine" })
    expect((await watch.untilEnd("q2")).status).toBe("completed")
    await expectSame(id, watch)
  })

  test("[TU8] if a decision on a waiting turn can't be stored, it can be repeated", async () => {
    const id = await freshSession()
    const [client, watch] = [await connect(id), await connect(id)]
    await beginTurn(client, "q1", script([call("probe_ask")], [say("ok")]))
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    await breakWrites(id, "tool_calls", "NEW.approval = 'allowed'")
    const call_id = toolsIn(answerTo(client, "q1"))[0]?.call_id ?? ""
    client.say({ type: "approve", call_id, decision: "allow" })
    expect((await client.untilClosed()).code).toBe(1011)
    await repairWrites(id)
    expect((await pageOf(id)).messages[1]?.status).toBe("waiting")
    watch.say({ type: "approve", call_id, decision: "allow" })
    expect((await watch.untilEnd("q1")).status).toBe("completed")
    await expectSame(id, watch)
  })

  test("[TU8] if output can't be stored while another tool is running, that tool's late result adds nothing, and the queue continues at once", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const calls = [call("probe_stream", { lines: 9, ms: 60 }), call("probe_slow", { ms: 700 })]
    await beginTurn(client, "q1", script(calls, [say("ok")]), 2)
    client.say({ type: "send", id: "q2", content: "/say next" })
    await breakWrites(id, "leaf", "NEW.kind = 'output'")
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "internal" })
    await repairWrites(id)
    expect((await client.untilEnd("q2")).status).toBe("completed")
    await sleep(800)
    await expectSame(id, client)
  })

  test("[TU8] if a message to a waiting turn can't be stored, the call is still pending, and the message can be sent again", async () => {
    const id = await freshSession()
    const [client, watch] = [await connect(id), await connect(id)]
    await beginTurn(client, "q1", script([call("probe_ask")], [say("ok")]))
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    await breakWrites(id, "queue", "true")
    client.say({ type: "send", id: "q2", content: "/say on" })
    expect((await client.untilClosed()).code).toBe(1011)
    await repairWrites(id)
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([{ approval: "asked" }])
    watch.say({ type: "send", id: "q2", content: "/say on" })
    expect((await watch.untilEnd("q2")).status).toBe("completed")
    await expectSame(id, watch)
  })

  test("[TU8] if a cancellation can't be stored, it isn't acknowledged, the turn continues, and the user can cancel again", async () => {
    const id = await freshSession()
    const [client, watch] = [await connect(id), await connect(id)]
    await beginTurn(client, "q1", script([say("x"), pause(500), say("y"), pause(5_000)]))
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER broken BEFORE UPDATE ON transcript WHEN NEW.status = 'cancelled' BEGIN SELECT RAISE(ABORT, 'disk full'); END",
      )
    })
    client.say({ type: "cancel", exchange_id: "q1" })
    expect((await client.untilClosed()).code).toBe(1011)
    await repairWrites(id)
    await watch.untilTrue(() => JSON.stringify(answerTo(watch, "q1")?.segments).includes("xy"))
    watch.say({ type: "cancel", exchange_id: "q1" })
    expect((await watch.untilEnd("q1")).status).toBe("cancelled")
    await expectSame(id, watch)
  })
})
