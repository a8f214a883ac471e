/** versions.test.ts: tests regenerating, editing, retrying and switching, with real workerd and SQLite. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import type { Session } from "../../worker/session/session-object.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import {
  beginTurn,
  call,
  expectSame,
  fault,
  freshSession as fresh,
  pause,
  renewPage,
  say,
  script,
  textIn,
  toolsIn,
} from "./session-helpers.ts"
import { CLAIMS, connect, createSession, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { readUpstream } from "../support/upstream-client.ts"
import { placed, TIME } from "../support/turn.ts"

const freshSession = (): Promise<string> => fresh("ver")

/** Sends a message, and waits for the complete answer. */
async function askQuestion(client: TestClient, id: string, content: string) {
  client.say({ type: "send", id, content })
  return await client.untilEnd(id)
}

/** Sends a command, waits for its acknowledgement and reads history as the page does. */
async function sendCommand(id: string, client: TestClient, frame: Parameters<TestClient["say"]>[0] & { id: string }) {
  client.say(frame)
  await client.untilTrue((reply) => reply.type === "ack" && reply.id === frame.id)
  return await renewPage(id, client)
}

function pathOf(page: HistoryPage): string[] {
  return page.messages.map((message) => message.id)
}

describe("another answer", () => {
  test("[VE1] is a version that replaces the first, which is kept and can be activated again in every tab", async () => {
    const id = await freshSession()
    const [client, second] = [await connect(id), await connect(id)]
    const first = await askQuestion(client, "q1", "/say hello")
    const { epoch } = await pageOf(id)
    await second.untilEnd("q1")
    await sendCommand(id, client, { type: "regenerate", id: "r1", message: first.id })
    const hello = await second.untilTrue((frame) => frame.type === "hello" && frame.epoch !== epoch)
    const again = await client.untilEnd("q1")
    expect(again).toMatchObject({ id: "r1", version: 2, versions: 2, status: "completed" })
    const page = await pageOf(id)
    expect(pathOf(page)).toEqual(["q1", "r1"])
    expect(hello).toMatchObject({ epoch: page.epoch })
    await expectSame(id, client)
    // The other tab must receive nothing until it has read the new path.
    expect(second.frames.at(-1)?.type).toBe("hello")
    await renewPage(id, second)
    const back = await sendCommand(id, second, { type: "switch", id: "s1", message: "r1", version: 1 })
    expect(back.messages).toMatchObject([{ id: "q1" }, { id: first.id, version: 1, versions: 2 }])
    await evictDurableObject(sessionOf(id))
    expect(pathOf(await pageOf(id))).toEqual(["q1", first.id])
  })

  test("[VE2] messages after a switch belong to the version that is active then, and each version keeps its own path", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const first = await askQuestion(client, "q1", "/say one")
    await askQuestion(client, "q2", "/say under one")
    await sendCommand(id, client, { type: "regenerate", id: "r1", message: first.id })
    await client.untilEnd("q1")
    await askQuestion(client, "q3", "/say under two")
    expect(pathOf(await pageOf(id)).filter((id) => /^(?:q\d|r1)$/.test(id))).toEqual(["q1", "r1", "q3"])
    await sendCommand(id, client, { type: "switch", id: "s1", message: "r1", version: 1 })
    expect(pathOf(await pageOf(id)).filter((id) => /^q\d$/.test(id))).toEqual(["q1", "q2"])
    await askQuestion(client, "q4", "/say still under one")
    expect(pathOf(await pageOf(id)).filter((id) => /^q\d$/.test(id))).toEqual(["q1", "q2", "q4"])
    await sendCommand(id, client, { type: "switch", id: "s2", message: first.id, version: 2 })
    expect(pathOf(await pageOf(id)).filter((id) => /^q\d$/.test(id))).toEqual(["q1", "q3"])
    await expectSame(id, client)
  })
})

describe("another question", () => {
  test("[VE3] is a version with its own answer, even if it replaces the first question of a session", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await askQuestion(client, "q1", "/say one")
    await askQuestion(client, "q2", "/say two")
    await sendCommand(id, client, { type: "edit", id: "e1", message: "q1", content: "/say edited" })
    const answer = await client.untilEnd("e1")
    expect(textIn(answer)).toBe("edited")
    const page = await pageOf(id)
    expect(page.messages).toMatchObject([{ id: "e1", version: 2, versions: 2, content: "/say edited" }, {}])
    await sendCommand(id, client, { type: "edit", id: "e2", message: "e1", content: "/say third" })
    await client.untilEnd("e2")
    expect((await pageOf(id)).messages[0]).toMatchObject({ id: "e2", version: 3, versions: 3 })
    const back = await sendCommand(id, client, { type: "switch", id: "s1", message: "e2", version: 1 })
    expect(pathOf(back).filter((id) => /^q\d$/.test(id))).toEqual(["q1", "q2"])
    expect(back.messages[0]).toMatchObject({ version: 1, versions: 3 })
  })
})

describe("retry", () => {
  test("[VE4] a failed answer continues from the step that failed, and completed steps and their effects are kept", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const steps = [
      [say("I look. "), call("weather", { location: "London" })],
      [say("Half of"), fault("model_malformed")],
    ]
    const failed = await askQuestion(client, "q1", script(...steps))
    expect(failed).toMatchObject({ status: "failed", reason: "model_malformed" })
    const { messages } = await sendCommand(id, client, { type: "retry", id: "t1", message: failed.id })
    const retried = await client.untilEnd("q1")
    expect(retried).toMatchObject({ id: "t1", version: 2, versions: 2, status: "failed" })
    expect(messages[1]?.segments.slice(0, 2)).toEqual(failed.segments.slice(0, 2))
    expect(retried.segments).toEqual(failed.segments)
    const [tool] = toolsIn(retried)
    expect(tool?.call_id).toBe(toolsIn(failed)[0]?.call_id)
    await expectSame(id, client)
  })

  test("[VE4] a fault before the first text of a later step keeps the steps before it", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const failed = await askQuestion(
      client,
      "q1",
      script([call("weather", { location: "Oslo" })], [fault("model_refused")]),
    )
    await sendCommand(id, client, { type: "retry", id: "t1", message: failed.id })
    const retried = await client.untilEnd("q1")
    expect(toolsIn(retried)).toEqual(toolsIn(failed))
  })

  test("[VE4] a side effect of a completed step isn't repeated", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const key = `retry-${id}`
    const failed = await askQuestion(
      client,
      "q1",
      script([call("probe_effect", { key })], [say("Half"), fault("model_cut_off")]),
    )
    await sendCommand(id, client, { type: "retry", id: "t1", message: failed.id })
    expect((await client.untilEnd("q1")).id).toBe("t1")
    expect(await readUpstream(env, key)).toHaveLength(1)
  })

  test("[VE4] a cancelled and an interrupted answer can be retried, but a complete one can't", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const running = await beginTurn(client, "q1", script([say("x"), pause(5_000)], [pause(5_000)]))
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilEnd("q1")
    await sendCommand(id, client, { type: "retry", id: "t1", message: running.id })
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilEnd("q1")
    const whole = await askQuestion(client, "q2", "/say whole")
    client.say({ type: "retry", id: "t2", message: whole.id })
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "turn_whole", id: "t2" })
  })
})

describe("refusals", () => {
  test("[VE5] store nothing: while an answer is running or waiting, for unknown messages and versions, and for the wrong role", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const first = await askQuestion(client, "q1", "/say one")
    await beginTurn(client, "q2", script([say("x"), pause(5_000)]))
    const expectRefused = async (
      frame: Parameters<TestClient["say"]>[0] & { id: string },
      code: string,
    ): Promise<void> => {
      client.say(frame)
      const error = await client.untilTrue((reply) => reply.type === "error" && reply.id === frame.id)
      expect(error).toMatchObject({ code })
    }
    await expectRefused({ type: "regenerate", id: "x1", message: first.id }, "turn_running")
    await expectRefused({ type: "edit", id: "x2", message: "q1", content: "y" }, "turn_running")
    await expectRefused({ type: "switch", id: "x3", message: first.id, version: 1 }, "turn_running")
    client.say({ type: "cancel", exchange_id: "q2" })
    await client.untilEnd("q2")
    const { seq, epoch } = await pageOf(id)
    await expectRefused({ type: "regenerate", id: "x4", message: "nobody" }, "message_unknown")
    await expectRefused({ type: "regenerate", id: "x5", message: "q1" }, "frame_invalid")
    await expectRefused({ type: "retry", id: "x6", message: "q1" }, "frame_invalid")
    await expectRefused({ type: "edit", id: "x7", message: first.id, content: "y" }, "frame_invalid")
    await expectRefused({ type: "edit", id: "x8", message: "q1", content: "  " }, "message_empty")
    await expectRefused({ type: "switch", id: "x9", message: first.id, version: 7 }, "version_unknown")
    await expectRefused({ type: "switch", id: "x10", message: first.id, version: -1 }, "version_unknown")
    expect(await pageOf(id)).toMatchObject({ seq, epoch })
  })

  test("[VE6] the same command again has no further effect", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const first = await askQuestion(client, "q1", "/say one")
    for (let i = 0; i < 2; i++) client.say({ type: "regenerate", id: "r1", message: first.id })
    await client.untilTrue(() => client.frames.filter((one) => one.type === "ack" && one.id === "r1").length === 2)
    await expect.poll(async () => (await pageOf(id)).messages[1]?.status).toBe("completed")
    expect((await pageOf(id)).messages[1]).toMatchObject({ id: "r1", versions: 2 })
    await renewPage(id, client)
    await sendCommand(id, client, { type: "switch", id: "s1", message: "r1", version: 1 })
    const { epoch } = await pageOf(id)
    client.say({ type: "switch", id: "s1", message: "r1", version: 1 })
    await client.untilTrue(() => client.frames.filter((one) => one.type === "ack" && one.id === "s1").length === 2)
    expect((await pageOf(id)).epoch).toBe(epoch)
    await renewPage(id, client)
    const shown = (await pageOf(id)).messages[1]?.id ?? ""
    await sendCommand(id, client, { type: "switch", id: "s2", message: shown, version: 2 })
    client.say({ type: "switch", id: "s1", message: "r1", version: 1 })
    await client.untilTrue(() => client.frames.filter((one) => one.type === "ack" && one.id === "s1").length === 3)
    expect((await pageOf(id)).messages[1]?.id).toBe("r1")
  })
})

test.each(["the last", "the first"])(
  "[VE7] switching the version of %s answer costs the same in a session of ten messages as in one of ten thousand",
  async (which) => {
    const costs: { read: number; written: number }[] = []
    for (const size of [10, 10_000]) {
      const id = `flat${size}${which.slice(-3).trim()}`
      await createSession(id)
      await runInDurableObject(sessionOf(id), (_object, state) => {
        const store = createSessionStore(state.storage.sql, (write) => state.storage.transactionSync(write))
        store.atomically(() => {
          for (let pos = 1; pos <= size; pos++) {
            const role = pos % 2 === 1 ? "user" : "assistant"
            const head = {
              id: `m${pos}`,
              role,
              exchange_id: `m${pos - (pos % 2 === 1 ? 0 : 1)}`,
              timestamp: TIME,
            } as const
            const message = createMessage({ ...head, status: "completed", words: role === "user" ? "/say x" : "" })
            store.insertMessage(placed(message, { pos, parent: pos === 1 ? null : pos - 1, seq: pos }))
          }
        })
      })
      await evictDurableObject(sessionOf(id))
      const client = await connect(id)
      client.say({ type: "regenerate", id: "r1", message: which === "the last" ? `m${size}` : "m2" })
      const statusOf = async () => (await pageOf(id, { limit: 1 })).messages[0]?.status
      await expect.poll(statusOf).toBe("completed")
      const before = await sessionOf(id).readHistoryPage(CLAIMS, { limit: 1 })
      const cost = await runInDurableObject(sessionOf(id), async (object, state) => {
        const counts = { read: 0, written: 0 }
        const exec = state.storage.sql.exec.bind(state.storage.sql)
        const spied = ((query: string, ...bindings: SqlStorageValue[]) => {
          const cursor = exec(query, ...bindings)
          const rows = cursor.toArray()
          counts.read += cursor.rowsRead
          counts.written += cursor.rowsWritten
          return { toArray: () => rows, rowsRead: cursor.rowsRead, rowsWritten: cursor.rowsWritten }
        }) as unknown as SqlStorage["exec"]
        Object.defineProperty(state.storage.sql, "exec", { value: spied, configurable: true })
        const [socket] = state.getWebSockets()
        if (socket === undefined) throw new Error("no socket")
        // The hello named an epoch that has ended, so do what the page does: read the history and send another hello.
        const page = JSON.parse((before.ok && before.value.json) || "{}")
        const frame = { type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: page.epoch, after: page.seq }
        await (object as Session).webSocketMessage(socket, JSON.stringify(frame))
        const counted = { ...counts }
        const swap = { type: "switch", id: "s1", message: "r1", version: 1 }
        await (object as Session).webSocketMessage(socket, JSON.stringify(swap))
        return { read: counts.read - counted.read, written: counts.written - counted.written }
      })
      costs.push(cost)
    }
    expect(costs[0]?.written).toBeGreaterThan(0)
    expect(costs[1]?.written).toBe(costs[0]?.written)
    expect(costs[1]?.read).toBeLessThan((costs[0]?.read ?? 0) + 30)
  },
)

test("[VE7] an old message is found on its path, but not on another one, by reading few rows", async () => {
  const id = await freshSession()
  const found = await runInDurableObject(sessionOf(id), (_object, state) => {
    const store = createSessionStore(state.storage.sql, (write) => state.storage.transactionSync(write))
    const putMessage = (pos: number, parent: number | null): void => {
      const message = createMessage({
        id: `m${pos}`,
        role: "user",
        exchange_id: `m${pos}`,
        timestamp: TIME,
        status: "completed",
      })
      store.insertMessage(placed(message, { pos, parent, seq: pos }))
    }
    store.atomically(() => {
      for (let pos = 1; pos <= 3_000; pos++) putMessage(pos, pos === 1 ? null : pos - 1)
      // Add a branch that leaves the path at position 1,000. It becomes the active path.
      for (let pos = 3_001; pos <= 5_000; pos++) putMessage(pos, pos === 3_001 ? 1_000 : pos - 1)
    })
    const before = store.countRows().read
    const on = [1, 2, 500, 999, 1_000, 3_001, 4_321, 5_000].map((pos) => store.isOnPath(pos))
    const off = [1_001, 2_000, 3_000, 5_001].map((pos) => store.isOnPath(pos))
    return { on, off, read: store.countRows().read - before }
  })
  expect(found.on).toEqual(Array(8).fill(true))
  expect(found.off).toEqual(Array(4).fill(false))
  expect(found.read).toBeLessThan(12 * 80)
})
