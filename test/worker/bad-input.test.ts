/** bad-input.test.ts: what does not fit is answered by name, changes nothing, and the socket goes on. */

import { describe, expect, test } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { CLAIMS, connect, pageOf } from "../support/socket.ts"
import { answerTo, begin, call, freshSession as fresh, say, script, toolsIn } from "./follow.ts"

const freshSession = (): Promise<string> => fresh("bad")

describe("bad input", () => {
  test.each([
    ["in the future", 99, "frame_invalid"],
    ["negative", -1, "frame_invalid"],
    ["a fraction", 0.5, "frame_invalid"],
    ["a word", "two", "frame_invalid"],
    ["null", null, "frame_invalid"],
  ])("[WS7] hello with `after` %s is answered, changes nothing, and the socket goes on", async (_name, after, code) => {
    const id = await freshSession()
    const { epoch, seq } = await pageOf(id)
    const client = await connect(id, CLAIMS, null)
    client.say(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after }))
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code })
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after: seq })
    await client.untilTrue((frame) => frame.type === "hello")
    client.say({ type: "send", id: "q1", content: "/say fine" })
    expect((await client.untilEnd("q1")).status).toBe("completed")
  })

  test("[WS7] an unknown epoch is told the true one, whatever `after` says", async () => {
    const id = await freshSession()
    const { epoch } = await pageOf(id)
    const client = await connect(id, CLAIMS, null)
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: "elsewhere", after: 7 })
    expect(await client.untilTrue((frame) => frame.type === "hello")).toMatchObject({ epoch, seq: 0 })
  })

  test("[CN2] [AP3] ids of another session mean nothing here, and do nothing there", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    const [client, other] = [await connect(here), await connect(there)]
    await begin(other, "q1", script([call("probe_ask")], [say("ok")]))
    await other.untilTrue(() => answerTo(other, "q1")?.status === "waiting")
    const call_id = toolsIn(answerTo(other, "q1"))[0]?.call_id ?? ""
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "turn_unknown")
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "call_unknown")
    expect((await pageOf(there)).messages[1]?.status).toBe("waiting")
  })

  test("[WS9] a client of whole messages learns that an answer waits for a person", async () => {
    const id = await freshSession()
    const client = await connect(id, CLAIMS, { live: false })
    client.say({ type: "send", id: "q1", content: script([call("probe_ask")], [say("ok")]) })
    await client.untilTrue((frame) => frame.type === "message" && frame.status === "waiting")
    expect(client.frames.some((frame) => frame.type === "ops")).toBe(false)
  })
})
