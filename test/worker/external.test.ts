/**
 * external.test.ts: tests that external answers are shown live, take effect once, stay within their limits, and contain
 * no cards.
 */

import { describe, expect, test } from "vitest"
import { connect, pageOf } from "../support/socket.ts"
import { answerTo, expectSame, freshSession as fresh, pause, say, script, textIn, toolsIn } from "./session-helpers.ts"
import {
  callStart,
  END,
  numberRecords,
  openRequest,
  output,
  postAnswer,
  postRecords,
  readState,
  result,
  text,
  thought,
} from "./external-producer.ts"

const freshSession = (): Promise<string> => fresh("ext")

describe("an external answer's content", () => {
  test("[EX1] [EX12] an answer needs no question, and is shown live while the body is still open", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id)
    await request.send({ ...text("Hello"), responseId: "r1" })
    await client.untilTrue(() => textIn(answerTo(client, "r1")) === "Hello")
    await request.send({ ...text(" there"), responseId: "r1" })
    await client.untilTrue(() => textIn(answerTo(client, "r1")) === "Hello there")
    expect(answerTo(client, "r1")).toMatchObject({ status: "running", mode: "external", exchange_id: "r1" })
    await request.send({ ...END, responseId: "r1" })
    expect((await client.untilEnd("r1")).status).toBe("completed")
    expect(await request.end()).toMatchObject({
      status: 200,
      json: { responseId: "r1", turnId: "r1", n: 0, status: "completed", applied: 3, skipped: 0, bad: [] },
    })
    await expectSame(id, client)
  })

  test("[EX3] [EX13] thinking, prose and tools stay in order and are cleaned, and a new step begins after tools", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const records = [
      { type: "thinking_start" },
      thought("Let me "),
      thought("look."),
      { type: "thinking_done", ms: 12 },
      text("First <script>alert(1)</script>this."),
      callStart("toolu/1", "Bash", '{"command":"ls"}'),
      output("toolu/1", "a.txt\n"),
      result("toolu/1", { files: ["a.txt"] }),
      text("Then that."),
      END,
    ]
    expect((await postRecords(id, numberRecords("r1", ...records))).json).toMatchObject({
      n: 10,
      applied: 10,
      status: "completed",
    })
    const message = await client.untilEnd("r1")
    expect(message.segments).toMatchObject([
      { type: "thinking", content: "Let me look.", ms: 12 },
      { type: "text", content: "First this." },
      { type: "tool", name: "Bash", status: "ok", output: "a.txt\n", result: '{"files":["a.txt"]}' },
      { type: "text", content: "Then that." },
    ])
    await expectSame(id, client)
  })

  test("[EX3] text that is sent only as a whole, or only at the end, appears once", async () => {
    const id = await freshSession()
    await postRecords(
      id,
      numberRecords("r1", { type: "text_done", text: "Whole." }, { type: "assistant_message", text: "Whole." }),
    )
    await postRecords(id, numberRecords("r2", { type: "assistant_message", text: "Told at the end." }))
    const streamed = [text("Str"), text("eamed."), { type: "text_done", text: "Streamed." }]
    await postRecords(id, numberRecords("r3", ...streamed, { type: "assistant_message", text: "Streamed." }))
    expect((await pageOf(id)).messages.map(({ content }) => content)).toEqual([
      "Whole.",
      "Told at the end.",
      "Streamed.",
    ])
  })

  test("[EX2] an answer that is sent as one text takes effect once, even if it is sent again", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const body = { text: "All **done**.", responseId: "r1" }
    expect(await postAnswer(id, body)).toMatchObject({ status: 200, json: { status: "completed", duplicate: false } })
    expect(await postAnswer(id, body)).toMatchObject({ status: 200, json: { status: "completed", duplicate: true } })
    await client.untilEnd("r1")
    expect(await postAnswer(id, { text: "  " })).toMatchObject({ status: 400, json: { code: "message_empty" } })
    const { messages } = await pageOf(id)
    expect(messages).toMatchObject([{ content: "All **done**.", mode: "external", exchange_id: "r1" }])
  })

  test("[EX4] an answer creates no cards: its card, ordinal, channel and approval fields are ignored", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const payload = { location: "Paris", temp_c: 12 }
    const records = [
      { ...callStart("c1", "weather"), channel: "user", ordinal: 1 },
      {
        ...result("c1", `${JSON.stringify(payload)}\n\nPut <span id='weather_1'>…</span> there.`),
        card: "weather_1",
      },
      text("See <span id='weather_1'>sun</span>."),
      END,
    ]
    await postRecords(id, numberRecords("r1", ...records))
    const message = await client.untilEnd("r1")
    expect(message.segments.filter(({ type }) => type === "rich")).toEqual([])
    expect(toolsIn(message)).toMatchObject([{ name: "weather", status: "ok" }])
    expect(textIn(message)).toBe("|See|sun")
    await expectSame(id, client)
  })

  test("[EX4] records of reserved types begin no answer and are refused, with their types and line numbers", async () => {
    const id = await freshSession()
    const refused = [
      { type: "user_message", text: "forged" },
      { type: "agent_message", text: "forged" },
      { type: "agent_callback", text: "forged" },
      { type: "tool_approval", callId: "c1", approval: "allowed" },
      { type: "signature", tip: 1, title: "", records: 1, algorithm: "HMAC-SHA256", value: "x" },
    ]
    const response = await postRecords(id, refused, "?responseId=r1")
    expect(response).toMatchObject({ status: 200, json: { applied: 0, skipped: 5 } })
    expect(response.json["bad"]).toMatchObject(
      refused.map(({ type }, at) => ({ line: at + 1, code: "record_refused", text: expect.stringContaining(type) })),
    )
    expect((await pageOf(id)).messages).toEqual([])
  })
})

describe("alongside the session's own turns", () => {
  test("[EX6] a user's message waits, and its turn begins when the external answer ends; the model isn't called before that", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id)
    await request.send({ ...text("Working"), responseId: "r1" })
    await client.untilTrue(() => textIn(answerTo(client, "r1")) === "Working")
    client.say({ type: "send", id: "q1", content: "/say after" })
    await client.untilTrue(() => client.messages.get("q1")?.status === "queued")
    await request.send({ ...text(" on."), responseId: "r1" })
    await request.send({ ...END, responseId: "r1" })
    expect(textIn(await client.untilEnd("q1"))).toBe("after")
    await request.end()
    const { messages } = await pageOf(id)
    expect(messages.map(({ content }) => content)).toEqual(["Working on.", "/say after", "after"])
    expect(messages[0]?.segments).toHaveLength(1)
  })

  test("[EX6] while another turn is running, the producer has to wait, and nothing is stored", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: script([say("long"), pause(1_500), say(" one")]) })
    await client.untilTrue(() => textIn(answerTo(client, "q1")) !== "")
    const response = await postRecords(id, [{ ...text("me too"), responseId: "r1" }])
    expect(response).toMatchObject({ status: 409, json: { code: "turn_running" } })
    expect(await postAnswer(id, { text: "me too" })).toMatchObject({ status: 409, json: { code: "turn_running" } })
    expect((await openRequest(id, "?responseId=r1").then((one) => one.answer)).status).toBe(409)
    await client.untilEnd("q1")
    expect((await pageOf(id)).messages).toHaveLength(2)
    expect(await readState(id, "r1")).toMatchObject({ status: 404, json: { code: "turn_unknown" } })
  })

  test("[EX6] later turns include the external answer in the model's context", async () => {
    const id = await freshSession()
    await postAnswer(id, { text: "The build is green.", responseId: "r1" })
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "What's the weather in Paris?" })
    expect((await client.untilEnd("q1")).status).toBe("completed")
    const before = await pageOf(id)
    client.say({ type: "regenerate", id: "g1", message: "r1" })
    expect(await client.until((frame) => frame.type === "error")).toMatchObject({ code: "frame_invalid", id: "g1" })
    expect((await pageOf(id)).messages).toEqual(before.messages)
  })

  test("[EX7] a user can cancel an external answer by its exchange id; later records are refused and change nothing", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id, "?responseId=r1")
    await request.send(text("Shown."))
    await request.send(callStart("c1"))
    await client.untilTrue(() => toolsIn(answerTo(client, "r1")).length === 1)
    client.say({ type: "cancel", exchange_id: "r1" })
    expect(await client.untilEnd("r1")).toMatchObject({ status: "cancelled" })
    // The body is still open.
    expect(await request.answer).toMatchObject({
      status: 409,
      json: { code: "turn_ended", responseId: "r1", status: "cancelled" },
    })
    const before = await pageOf(id)
    const again = await postRecords(id, [text("late")], "?responseId=r1")
    expect(again).toMatchObject({ status: 409, json: { code: "turn_ended", status: "cancelled" } })
    expect(await pageOf(id)).toEqual(before)
    expect(toolsIn(before.messages[0])).toMatchObject([{ status: "interrupted" }])
    client.say({ type: "cancel", exchange_id: "r1" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "r1")
    expect(client.frames.filter((frame) => frame.type === "error")).toEqual([])
    // The session accepts the next message.
    client.say({ type: "send", id: "q1", content: "/say next" })
    expect(textIn(await client.untilEnd("q1"))).toBe("next")
  })
})

describe("the end of an external answer", () => {
  test.each([
    ["failed with a known reason", { ...END, status: "failed", reason: "step_limit" }, "failed", "step_limit"],
    ["failed with an unknown reason", { ...END, status: "failed", reason: "<b>" }, "failed", "producer_failed"],
    ["interrupted", { ...END, status: "interrupted" }, "interrupted", "producer_failed"],
    ["cancelled", { type: "output_cancelled" }, "cancelled", null],
    ["completed", END, "completed", null],
  ])("[EX5] %s: calls without a result are interrupted, and later records are refused", async (...row) => {
    const [, end, status, reason] = row
    const id = await freshSession()
    const answer = await postRecords(
      id,
      numberRecords("r1", text("Said."), callStart("c1"), end, text("late"), result("c1")),
    )
    expect(answer).toMatchObject({ status: 200, json: { status, reason, applied: 3, skipped: 2 } })
    expect(answer.json["bad"]).toMatchObject([
      { line: 4, code: "turn_ended" },
      { line: 5, code: "turn_ended" },
    ])
    const [message] = (await pageOf(id)).messages
    expect(message).toMatchObject({ status, segments: [{ content: "Said." }, { type: "tool", status: "interrupted" }] })
    expect(message?.segments).toHaveLength(2)
  })

  test("[EX5] one body may contain several answers, one after the other", async () => {
    const id = await freshSession()
    const records = [...numberRecords("r1", text("One."), END), ...numberRecords("r2", text("Two."), END)]
    expect((await postRecords(id, records)).json).toMatchObject({ responseId: "r2", n: 2, applied: 4 })
    expect((await pageOf(id)).messages.map(({ content }) => content)).toEqual(["One.", "Two."])
  })
})
