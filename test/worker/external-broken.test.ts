/** external-broken.test.ts: tests external answers with failing writes, silent producers and inconsistent numbers. */

import { evictDurableObject, runInDurableObject, SELF } from "cloudflare:test"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MAX_ANSWER_CHARS, MAX_EXTERNAL_BODY_BYTES } from "../../shared/limits.ts"
import { iterateUntilAborted } from "../../worker/platform/abort.ts"
import { createRecordLineReader } from "../../worker/session/producers/record-lines.ts"
import { createPiMapper } from "../../shared/ingest/pi-stream.ts"
import { assertPropertyAsync, testInFull } from "../support/seeded.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { HOST } from "./http.ts"
import { answerTo, expectSame, freshSession as fresh, textIn, toolsIn } from "./session-helpers.ts"
import {
  callStart,
  END,
  externalToken,
  numberRecords,
  openRequest,
  output,
  postRecords,
  readState,
  result,
  text,
  thought,
} from "./external-producer.ts"

const freshSession = (): Promise<string> => fresh("exb")
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function execSql(id: string, sql: string): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => void storage.sql.exec(sql))
}

const breakWrites = (id: string): Promise<void> =>
  execSql(id, "CREATE TRIGGER broken BEFORE INSERT ON leaf BEGIN SELECT RAISE(ABORT, 'disk full'); END")

describe("failed writes", () => {
  test("[EX18] if a window that no request is waiting for can't be stored, its records aren't reported as accepted, and the answer ends", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id, "?responseId=r1")
    await request.send({ ...text("one "), n: 1 })
    await client.untilTrue(() => textIn(answerTo(client, "r1")) === "one")
    await breakWrites(id)
    await request.send({ ...text("two "), n: 2 })
    expect(await request.answer).toMatchObject({ status: 500, json: { code: "internal", n: 1 } })
    await execSql(id, "DROP TRIGGER broken")
    const again = await postRecords(id, [{ ...text("three "), n: 3 }], "?responseId=r1")
    expect(again.json).toMatchObject({ n: 1, applied: 0 })
    expect(again.status).not.toBe(200)
    expect(await client.untilEnd("r1")).toMatchObject({ status: "failed", reason: "internal" })
    expect((await readState(id, "r1")).json).toMatchObject({ n: 1, status: "failed" })
    expect(textIn((await pageOf(id)).messages[0])).toBe("one")
    client.say({ type: "send", id: "q1", content: "/say next" })
    expect(textIn(await client.untilEnd("q1"))).toBe("next")
    await expectSame(id, client)
  })

  test("[EX18] the answer also ends if a request's last window can't be stored", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await postRecords(id, [{ ...text("one "), n: 1 }], "?responseId=r1")
    await breakWrites(id)
    const response = await postRecords(id, [{ ...text("two "), n: 2 }], "?responseId=r1")
    expect(response).toMatchObject({ status: 500, json: { code: "internal", n: 1 } })
    await execSql(id, "DROP TRIGGER broken")
    expect(await client.untilEnd("r1")).toMatchObject({ status: "failed", reason: "internal" })
    expect((await readState(id, "r1")).json).toMatchObject({ n: 1, status: "failed" })
    await expectSame(id, client)
  })
})

describe("steps", () => {
  test("[EX3] a skipped step number doesn't split anything, and a step's text stays in one piece", async () => {
    const id = await freshSession()
    const chunks = [text("Hel"), text("lo wor"), text("ld")].map((record) => ({ ...record, step: 3 }))
    await postRecords(id, numberRecords("r1", ...chunks, { ...callStart("c1"), step: 5 }, result("c1"), END))
    const [message] = (await pageOf(id)).messages
    expect(message?.segments).toMatchObject([{ type: "text", content: "Hello world" }, { type: "tool" }])
    expect(message?.content).toBe("Hello world")
  })

  test("[EX3] the answer of a program that retried its request is one piece of text", async () => {
    const id = await freshSession()
    const mapper = createPiMapper()
    const begin = [{ type: "agent_start" }, { type: "turn_start" }]
    const cut = { role: "assistant", content: [], stopReason: "error", errorMessage: "529" }
    const lines = [
      ...begin,
      { type: "message_end", message: cut },
      { type: "turn_end" },
      { type: "agent_end", willRetry: true },
      ...begin,
      { type: "message_start", message: { role: "assistant", content: [] } },
      ...["The ans", "wer is **for", "ty-two**."].map((delta) => ({
        type: "message_update",
        assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta },
      })),
      { type: "agent_end", messages: [{ role: "assistant", stopReason: "stop", content: [] }] },
    ]
    const records = [...lines.flatMap((line) => mapper.mapLine(JSON.stringify(line))), ...mapper.end(0)]
    await postRecords(id, numberRecords("r1", ...records))
    expect((await pageOf(id)).messages[0]).toMatchObject({
      status: "completed",
      segments: [{ type: "text", content: "The answer is **forty-two**." }],
    })
  })
})

describe("an external answer's exchange", () => {
  test("[EX12] has the `turnId` of the answer's first record as its id", async () => {
    const id = await freshSession()
    await postRecords(
      id,
      [text("a"), END].map((record) => ({ ...record, responseId: "r1", turnId: "t1" })),
    )
    expect((await pageOf(id)).messages[0]?.exchange_id).toBe("t1")
  })

  test("[EX7] [EX12] still identifies an older answer, and its id can't be used for another message", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await postRecords(id, [text("a"), END], "?responseId=r1&turnId=t1")
    await postRecords(id, [text("b"), END], "?responseId=r2&turnId=t2")
    client.say({ type: "cancel", exchange_id: "t1" })
    client.say({ type: "send", id: "t1", content: "/say mine" })
    const listCodes = () => client.frames.flatMap((frame) => (frame.type === "error" ? [frame.code] : []))
    await client.untilTrue(() => listCodes().length === 2)
    expect(listCodes()).toEqual(["turn_ended", "frame_invalid"])
    expect((await pageOf(id)).messages).toHaveLength(2)
  })
})

describe("limits", () => {
  test("[EX21] apply to text that is sent as a whole, and also count arguments sent before an eviction", async () => {
    const id = await freshSession()
    const whole = await postRecords(id, numberRecords("r1", { ...END, text: "x".repeat(MAX_ANSWER_CHARS + 1) }))
    expect(whole.json).toMatchObject({ status: "failed", reason: "answer_too_long" })
    expect((await pageOf(id)).messages[0]?.content).toHaveLength(MAX_ANSWER_CHARS)
    const args = JSON.stringify({ a: "y".repeat(120_000) })
    let state: Record<string, unknown> = {}
    for (let round = 0; round < 2; round++) {
      const calls = Array.from({ length: 6 }, (_, at) => callStart(`c${round}_${at}`, "T", args))
      state = (await postRecords(id, calls, "?responseId=r2")).json
      await evictDurableObject(sessionOf(id))
    }
    expect(state).toMatchObject({ status: "failed", reason: "answer_too_long" })
  })

  test("[EX20] apply to a call's output across requests, and the output's full size is reported", async () => {
    const id = await freshSession()
    const long = "z".repeat(150_000)
    await postRecords(id, [callStart("c1"), output("c1", `a\ud83d`)], "?responseId=r1")
    await postRecords(id, [output("c1", `\ude00${long}`)], "?responseId=r1")
    await postRecords(id, [output("c1", long), result("c1"), END], "?responseId=r1")
    const [tool] = toolsIn((await pageOf(id)).messages[0])
    expect(tool?.output?.startsWith("a\u{1f600}z")).toBe(true)
    expect(tool?.truncated).toMatchObject({ bytes: 300_005 })
  })

  test("[EX10] a line that arrives byte by byte is read as one line", async () => {
    const id = await freshSession()
    const request = await openRequest(id, "?responseId=r1")
    for (const byte of `${JSON.stringify({ ...text("slow"), n: 1 })}\n`) await request.send(byte)
    await request.send({ ...END, n: 2 })
    expect((await request.end()).json).toMatchObject({ n: 2, applied: 2, status: "completed" })
    expect(textIn((await pageOf(id)).messages[0])).toBe("slow")
  })

  test("[EX22] a line that doesn't end is abandoned, and the records before it stay", async () => {
    const id = await freshSession()
    const request = await openRequest(id, "?responseId=r1")
    await request.send({ ...text("kept"), n: 1 })
    for (let i = 0; i < 20; i++) void request.send("x".repeat(1024 * 1024))
    expect(await request.answer).toMatchObject({ status: 413, json: { code: "body_too_large", n: 1 } })
    expect(textIn((await pageOf(id)).messages[0])).toBe("kept")
  })
})

describe("a request body", () => {
  testInFull("[EX22] is abandoned at once if it exceeds its limit, and the records read so far stay", async () => {
    const id = await freshSession()
    const request = await openRequest(id, "?responseId=r1")
    await request.send({ ...text("kept"), n: 1 })
    const blank = `${" ".repeat(1024 * 1024 - 1)}\n`
    for (let sent = 0; sent < MAX_EXTERNAL_BODY_BYTES; sent += blank.length) await request.send(blank)
    expect(await request.answer).toMatchObject({ status: 413, json: { code: "body_too_large", n: 1 } })
    expect(textIn((await pageOf(id)).messages[0])).toBe("kept")
  })
})

describe("record numbers", () => {
  test("[EX16] identify repeated lines even if they were refused, and refused lines hide no gap", async () => {
    const id = await freshSession()
    await postRecords(
      id,
      [
        { ...text("a"), n: 1 },
        { type: "odd", n: 2 },
        { ...text("c"), n: 3 },
      ],
      "?responseId=r1",
    )
    const again = await postRecords(
      id,
      [
        { type: "odd", n: 2 },
        { ...text("e"), n: 5 },
      ],
      "?responseId=r1",
    )
    expect(again.json).toMatchObject({ n: 3, repeated: 1, bad: [{ line: 2, code: "record_gap" }] })
    const gap = await postRecords(
      id,
      [
        { type: "odd", n: 5 },
        { ...text("d"), n: 4 },
      ],
      "?responseId=r1",
    )
    expect(gap.json).toMatchObject({ n: 4, bad: [{ line: 1, code: "record_gap" }] })
    expect(textIn((await pageOf(id)).messages[0])).toBe("acd")
  })

  test("[EX16] have no gap if lines were refused before their answer began", async () => {
    const id = await freshSession()
    const response = await postRecords(
      id,
      numberRecords("r1", { type: "user_message", text: "forged" }, text("said"), END),
    )
    expect(response.json).toMatchObject({ n: 3, applied: 2, status: "completed" })
  })

  test("[EX16] [EX17] each record takes effect once, whatever is cut off, repeated or lost with the process", async () => {
    const sentRecords = [
      thought("Hm, <b"),
      thought(">so</b>."),
      text("A `co"),
      text("de` \ud83d"),
      text("\ude00."),
      callStart("c1"),
      output("c1", "a.t"),
      output("c1", "xt\n"),
      result("c1", "one"),
      text("Done"),
      text("."),
      END,
    ]
    const records = numberRecords("r1", ...sentRecords)
    const readShown = async (id: string): Promise<string> => {
      const { messages } = await pageOf(id)
      const segments = messages[0]?.segments.map((one) => (one.type === "thinking" ? { ...one, ms: 0 } : one))
      return JSON.stringify([messages.length, messages[0]?.status, segments])
    }
    const straight = await freshSession()
    await postRecords(straight, records)
    const whole = await readShown(straight)
    const connection = fc.record({
      back: fc.nat({ max: 4 }),
      length: fc.nat({ max: 6 }),
      half: fc.boolean(),
      isCut: fc.boolean(),
      evict: fc.boolean(),
      pause: fc.constantFrom(0, 0, 200),
    })
    const property = fc.asyncProperty(fc.array(connection, { maxLength: 6 }), async (connections) => {
      const id = await freshSession()
      for (const { back, length, half, isCut, evict, pause } of connections) {
        const n = Number((await readState(id, "r1")).json["n"] ?? 0)
        const from = Math.max(n - back, 0)
        const request = await openRequest(id, "?responseId=r1")
        for (const record of records.slice(from, from + length)) await request.send(record)
        if (half) await request.send('{"type":"text_delta","delta":"half')
        await sleep(pause)
        if (isCut) await request.cut()
        // Acknowledged records are stored, so a new process has them too.
        const acked = isCut ? 0 : Number((await request.end()).json["n"] ?? 0)
        if (evict) await evictDurableObject(sessionOf(id))
        expect(Number((await readState(id, "r1")).json["n"] ?? 0)).toBeGreaterThanOrEqual(acked)
      }
      const n = Number((await readState(id, "r1")).json["n"] ?? 0)
      if (n < records.length) await postRecords(id, records.slice(n), "?responseId=r1")
      expect(await readShown(id)).toBe(whole)
    })
    await assertPropertyAsync(property, 40)
  })
})

describe("access", () => {
  test("[EX11] a token that is revoked while its request is being admitted is refused", async () => {
    const id = await freshSession()
    const claims = { ...CLAIMS, token: "t-race", scope: "external", session: id } as const
    const body = new Response(`${JSON.stringify(text("late"))}\n`).body
    const taken = await runInDurableObject(sessionOf(id), async (object) => {
      const ingesting = object.ingestRecords(claims, { responseId: "r1" }, body)
      object.revoke(CLAIMS, { n: 1, tokens: ["t-race"], upTo: null })
      return await ingesting
    })
    expect(taken).toMatchObject({ ok: false, fault: { reason: "token_revoked" } })
    expect((await pageOf(id)).messages).toEqual([])
  })
})

describe("reading a feed", () => {
  test("[EX10] a feed that is stopped or falls silent ends, and the reader knows the reason", async () => {
    const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const silent = createRecordLineReader(never, 50, () => {})
    for await (const line of silent.readLines()) expect(line).toBeUndefined()
    expect(silent.endedBy()).toBe("silence")
    const stopped = createRecordLineReader(new ReadableStream({ pull: () => new Promise(() => {}) }), 60_000, () => {})
    setTimeout(stopped.stopReading, 20)
    for await (const line of stopped.readLines()) expect(line).toBeUndefined()
    expect(stopped.endedBy()).toBe("stop")
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new Error("cut"))
      },
    })
    const cut = createRecordLineReader(broken, 60_000, () => {})
    await expect(cut.readLines().next()).rejects.toThrow("cut")
    expect(cut.endedBy()).toBe(null)
  })

  test("[TU8] an abort ends the reading of a stream that produces nothing more", async () => {
    const abort = new AbortController()
    async function* stuck(): AsyncGenerator<number> {
      yield 1
      await new Promise(() => {})
    }
    const received: number[] = []
    setTimeout(() => abort.abort(), 20)
    for await (const item of iterateUntilAborted(stuck(), abort.signal)) received.push(item)
    expect(received).toEqual([1])
    for await (const item of iterateUntilAborted(stuck(), abort.signal)) received.push(item)
    expect(received).toEqual([1])
  })
})

test("[EX10] a body without lines begins no answer", async () => {
  const id = await freshSession()
  const headers = { authorization: `Bearer ${await externalToken(id)}` }
  const response = await SELF.fetch(`${HOST}/external/sessions/${id}/events`, { method: "POST", headers, body: "" })
  expect(await response.json()).toMatchObject({ applied: 0, skipped: 0 })
})
