/** imported-records.test.ts: imports another system's transcripts into a real session. */

import { evictDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { toCanonicalJson } from "../../shared/json.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { importLines, parseImportFixture } from "../support/import-fixtures.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { exportOf } from "./export-sample.ts"
import { numberRecords, openRequest, postRecords } from "./external-producer.ts"
import { importFile, streamOf, toJsonl } from "./import-file.ts"
import { answerTo, expectSame, freshSession as fresh, textIn, toolsIn } from "./session-helpers.ts"

const files = import.meta.glob<string>("../shared/import/*.txt", { query: "?raw", import: "default", eager: true })
const fixtures = Object.entries(files).map(([path, text]) => {
  return parseImportFixture(path.replace(/^.*\/|\.txt$/g, ""), text)
})

const freshSession = (): Promise<string> => fresh("records")

/** Serialises the parts of a message that the page shows. */
function shownOf({ role, mode, status, reason, segments, agent }: WireMessage): string {
  return toCanonicalJson({ role, mode, status, reason, segments, agent: agent ?? null })
}

describe("imported fixtures", () => {
  test.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("[IR1] [RE1] %s", async (_name, { lines }) => {
    const [here, there, third] = [await freshSession(), await freshSession(), await freshSession()]
    const file = `${lines.join("\n")}\n`
    expect(await importFile(here, file)).toMatchObject({ ok: true, value: { skipped: 0, bad: [], isSealed: false } })
    const { messages } = await pageOf(here)
    expect(messages.map(shownOf)).toEqual(importLines(lines).map((message) => shownOf(messageToWire(message))))
    // Everything except the user's own messages must be marked.
    expect(messages.every(({ role, origin }) => role === "user" || origin === "import")).toBe(true)
    const exported = await exportOf(here)
    expect(await importFile(there, exported)).toMatchObject({ ok: true, value: { skipped: 0, isSealed: true } })
    const again = await pageOf(there)
    expect(again.messages.map(shownOf)).toEqual(messages.map(shownOf))
    expect((await exportOf(there)).replaceAll(there, here)).toBe(exported)
    // A compressed upload must have the same effect.
    const zipped = await new Response(streamOf(file).pipeThrough(new CompressionStream("gzip"))).bytes()
    await importFile(third, zipped)
    expect((await pageOf(third)).messages.map(shownOf)).toEqual(messages.map(shownOf))
  })

  test("[IR4] a user's message can follow a spoken question without text", async () => {
    const id = await freshSession()
    const spoken = { type: "user_message", modality: "audio", audioItemId: "a1" }
    await importFile(id, toJsonl(spoken, { type: "assistant_message", responseId: "r1", modality: "audio" }))
    const { messages } = await pageOf(id)
    expect(messages).toMatchObject([
      { mode: "spoken", content: "" },
      { content: "[audio]", status: "completed" },
    ])
    const client = await connect(id)
    client.say({ type: "send", id: "n1", content: "/say on" })
    expect((await client.untilEnd("n1")).status).toBe("completed")
  })

  test("[IR10] an event of an unknown type is reported", async () => {
    const id = await freshSession()
    const event = { id: "e1", timestamp: 1, sessionId: "s", type: "hologram", payload: {} }
    const said = { ...event, id: "e2", type: "user_message", payload: { text: "Hello" } }
    expect(await importFile(id, toJsonl(event, said))).toMatchObject({
      ok: true,
      value: { records: 1, skipped: 1, bad: [{ line: 1, code: "field_invalid" }] },
    })
  })
})

describe("live external answers", () => {
  test("[IR2] a call that begins without arguments gets them later, on every page, whichever record comes first", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id, "?responseId=r1")
    await request.send({ type: "tool_call_start", callId: "a", toolName: "Bash", arguments: "{}" })
    await request.send({ type: "tool_call_start", callId: "b", toolName: "Read", arguments: { path: "b.txt" } })
    await client.untilTrue(() => toolsIn(answerTo(client, "r1")).length === 2)
    await request.send({ type: "tool_call", callId: "a", toolName: "Bash", argsJson: '{"command":"ls"}' })
    await request.send({ type: "tool_call", callId: "b", toolName: "Read", argsJson: "" })
    await client.untilTrue(() => toolsIn(answerTo(client, "r1"))[0]?.args === '{"command":"ls"}')
    await request.send({ type: "tool_result", callId: "a", ok: true, result: "a.txt" })
    await request.send({ type: "assistant_message" })
    await request.end()
    await client.untilEnd("r1")
    expect(toolsIn(answerTo(client, "r1")).map(({ args }) => args)).toEqual(['{"command":"ls"}', '{"path":"b.txt"}'])
    await expectSame(id, client)
  })

  test("[IR3] delta A, tool, text_done A shows A once, even after a reconnect", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const records = numberRecords(
      "r1",
      { type: "text_delta", delta: "Let me look." },
      { type: "tool_call", callId: "a", toolName: "Bash", argsJson: "{}" },
      { type: "tool_result", callId: "a", ok: true, result: "x" },
      { type: "text_done", text: "Let me look." },
      { type: "text_delta", delta: "It is x" },
      { type: "text_done", text: "Let me look. It is x, I think." },
      { type: "assistant_message", text: "Let me look. It is x, I think.", thinkingText: "Hm.", interrupted: true },
    )
    await postRecords(id, records.slice(0, 3))
    await postRecords(id, records)
    const answer = await client.untilEnd("r1")
    expect(answer).toMatchObject({ status: "interrupted", reason: null })
    expect(textIn(answerTo(client, "r1"))).toBe("Let me look.||It is x, I think.|")
    await expectSame(id, client)
  })

  test("[IR3] text that was streamed and then sent as a whole is shown once, even after a restart of the object, and even if markup was removed from it", async () => {
    const id = await freshSession()
    const whole = "Let me <script>alert(1)</script>look."
    const records = numberRecords(
      "r1",
      { type: "text_delta", delta: whole },
      { type: "tool_call", callId: "a", toolName: "Bash", argsJson: "{}" },
      { type: "tool_result", callId: "a", ok: true, result: "x" },
      { type: "text_done", text: whole },
      { type: "assistant_message", text: `${whole} It is x.` },
    )
    await postRecords(id, records.slice(0, 3))
    await evictDurableObject(sessionOf(id))
    expect((await postRecords(id, records)).json).toMatchObject({ n: 5, applied: 2, repeated: 3, status: "completed" })
    const [answer] = (await pageOf(id)).messages
    expect(answer?.segments.map((segment) => (segment.type === "text" ? segment.content : segment.type))).toEqual([
      "Let me look.",
      "tool",
      "It is x.",
    ])
  })

  test("[IR9] [EX4] a trailer cues no card in a live external answer", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const trailer = '{"location":"Paris"}\n\n<span id=\'weather_1\'>…</span>'
    await postRecords(id, [
      { type: "tool_call", callId: "a", toolName: "weather", argsJson: "{}", responseId: "r1" },
      { type: "tool_result", callId: "a", toolName: "weather", ok: true, result: trailer, responseId: "r1" },
      { type: "text_delta", delta: "<span id='weather_1'>Cool.</span>", responseId: "r1" },
      { type: "assistant_message", responseId: "r1" },
    ])
    await client.untilEnd("r1")
    expect(answerTo(client, "r1")?.segments.some(({ type }) => type === "rich")).toBe(false)
  })
})
