/**
 * external-again.test.ts: tests external producers that reconnect, disappear, send invalid lines, or have no access.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import {
  MAX_ANSWER_CHARS,
  MAX_EXTERNAL_CALLS,
  MAX_OUTPUT_CHARS,
  MAX_RECORD_BYTES,
  PRODUCER_TURN_MS,
} from "../../shared/limits.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { HOST, refusal, tablesOf, call as callRoute } from "./http.ts"
import { exportOf } from "./export-sample.ts"
import { answerTo, expectSame, freshSession as fresh, rowsIn, textIn, toolsIn } from "./session-helpers.ts"
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

const freshSession = (): Promise<string> => fresh("exa")

const SAMPLE = [
  thought("Hm, <b"),
  thought(">so</b>."),
  text("First `co"),
  text("de` and <scr"),
  text("ipt>no</script>yes \ud83d"),
  text("\ude00."),
  callStart("c1", "Bash", '{"command":"ls"}'),
  callStart("c2", "Read"),
  output("c1", "a.t"),
  output("c1", "xt\n"),
  result("c2", "two"),
  result("c1", "one"),
  text("Done."),
  END,
]

/** Returns the answer that results if the sample is sent in one request. */
async function readSampleAnswer(): Promise<string> {
  const id = await freshSession()
  await postRecords(id, numberRecords("r1", ...SAMPLE))
  return await shownIn(id)
}

async function shownIn(id: string): Promise<string> {
  const { messages } = await pageOf(id)
  const segments = messages[0]?.segments.map((one) => (one.type === "thinking" ? { ...one, ms: 0 } : one))
  return JSON.stringify([messages.length, messages[0]?.status, segments])
}

describe("reconnecting", () => {
  test("[EX9] [EX17] the answer is the same wherever the connection is cut, even with an eviction in between", async () => {
    const whole = await readSampleAnswer()
    const records = numberRecords("r1", ...SAMPLE)
    for (let at = 1; at < records.length; at++) {
      const id = await freshSession()
      const client = await connect(id)
      const first = await openRequest(id, "?responseId=r1")
      for (const record of records.slice(0, at)) await first.send(record)
      await first.send('{"type":"text_delta","delta":"half a li')
      await client.untilTrue(() => (answerTo(client, "r1")?.segments.length ?? 0) > 0)
      await first.cut()
      const n = Number((await readState(id, "r1")).json["n"])
      expect(n).toBeLessThanOrEqual(at)
      if (at % 2 === 0) await evictDurableObject(sessionOf(id))
      // Repeat some accepted records, each of which must take effect only once.
      const second = await postRecords(id, records.slice(Math.max(n - 2, 0)), "?responseId=r1")
      expect(second.json).toMatchObject({ n: records.length, status: "completed", skipped: 0 })
      expect(await shownIn(id), `cut after ${at}`).toBe(whole)
    }
  })

  test("[EX9] the `n` of an answer's last record is stored with the record's effect, and is returned on request and in each response", async () => {
    const id = await freshSession()
    const some = await postRecords(id, numberRecords("r1", text("a"), text("b"), text("c")), "?responseId=r1")
    expect(some).toMatchObject({ status: 200, json: { responseId: "r1", n: 3, status: "running", applied: 3 } })
    await evictDurableObject(sessionOf(id))
    expect(await readState(id, "r1")).toMatchObject({ status: 200, json: { n: 3, status: "running", reason: null } })
    expect(textIn((await pageOf(id)).messages[0])).toBe("abc")
    const rest = [
      { ...text("c"), n: 3 },
      { ...text("d"), n: 4 },
      { ...END, n: 5 },
    ]
    expect((await postRecords(id, rest, "?responseId=r1")).json).toMatchObject({ n: 5, applied: 2, repeated: 1 })
    expect(textIn((await pageOf(id)).messages[0])).toBe("abcd")
  })

  test("[EX16] a record whose number skips others is refused, unless the line before it was unreadable", async () => {
    const id = await freshSession()
    const response = await postRecords(
      id,
      [
        { ...text("a"), n: 1 },
        { ...text("c"), n: 3 },
      ],
      "?responseId=r1",
    )
    expect(response.json).toMatchObject({
      n: 1,
      bad: [{ line: 2, code: "record_gap", text: expect.stringContaining("2") }],
    })
    const lines = [`{"type":"text_delta","del\n`, { ...text("c"), n: 3 }, { type: "odd", n: 4 }, { ...text("e"), n: 5 }]
    const again = await postRecords(id, lines, "?responseId=r1")
    expect(again.json).toMatchObject({ n: 5, bad: [{ code: "body_malformed" }, { code: "field_invalid" }] })
    expect(textIn((await pageOf(id)).messages[0])).toBe("ace")
  })

  test("[EX17] a producer that reconnects takes over from a connection that only seemed alive", async () => {
    const id = await freshSession()
    const first = await openRequest(id, "?responseId=r1")
    await first.send({ ...text("one"), n: 1 })
    await expect.poll(async () => (await readState(id, "r1")).json["n"]).toBe(1)
    const second = await openRequest(id, "?responseId=r1")
    await second.send({ ...text(" two"), n: 2 })
    expect(await first.answer).toMatchObject({ status: 409, json: { code: "turn_running", status: "running" } })
    await second.send({ ...END, n: 3 })
    expect((await second.end()).json).toMatchObject({ status: "completed", n: 3 })
    expect(textIn((await pageOf(id)).messages[0])).toBe("one two")
  })
})

describe("a producer that disappears", () => {
  /** Sets the open answer's deadline to `ms` from now, and evicts the object. */
  async function silenceOf(id: string, ms: number): Promise<void> {
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      storage.sql.exec("UPDATE transcript SET deadline = ? WHERE deadline IS NOT NULL", Date.now() + ms)
    })
    await evictDurableObject(sessionOf(id))
  }

  const alarmOf = (id: string) => runInDurableObject(sessionOf(id), (_object, { storage }) => storage.getAlarm())

  test("[EX8] [EX14] has a deadline that is at most a minute away, is stored in the answer's row, and is enforced by the next process", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await postRecords(id, numberRecords("r1", text("Half"), callStart("c1")))
    client.say({ type: "send", id: "q1", content: "/say after" })
    await client.untilTrue(() => client.messages.get("q1")?.status === "queued")
    const deadline = await runInDurableObject(sessionOf(id), (_object, { storage }) =>
      Number(storage.sql.exec("SELECT deadline FROM transcript").one()["deadline"]),
    )
    expect(deadline - Date.now()).toBeGreaterThan(40_000)
    expect(deadline - Date.now()).toBeLessThan(60_000)
    // An alarm that fires early only sets the next alarm, for the deadline.
    await runDurableObjectAlarm(sessionOf(id))
    expect((await readState(id, "r1")).json["status"]).toBe("running")
    expect(await alarmOf(id)).toBe(deadline)
    await silenceOf(id, 300)
    await new Promise((resolve) => setTimeout(resolve, 400))
    await runDurableObjectAlarm(sessionOf(id))
    const second = await connect(id)
    await expect.poll(async () => (await readState(id, "r1")).json["status"]).toBe("interrupted")
    await expect.poll(async () => textIn((await pageOf(id)).messages[2])).toBe("after")
    const { messages } = await pageOf(id)
    expect(messages[0]).toMatchObject({ status: "interrupted", reason: "producer_gone" })
    expect(toolsIn(messages[0])).toMatchObject([{ status: "interrupted" }])
    expect(await postRecords(id, [text("late")], "?responseId=r1")).toMatchObject({
      status: 409,
      json: { code: "turn_ended" },
    })
    second.socket.close()
  })

  test("[EX15] an answer still open after PRODUCER_TURN_MS fails, however active its producer is", async () => {
    const id = await freshSession()
    await postRecords(id, numberRecords("r1", text("Half")))
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const begun = Date.now() - PRODUCER_TURN_MS
      storage.sql.exec("UPDATE transcript SET created = ?", begun)
    })
    await silenceOf(id, 300)
    const request = await openRequest(id, "?responseId=r1")
    await request.send("\n")
    await new Promise((resolve) => setTimeout(resolve, 400))
    await runDurableObjectAlarm(sessionOf(id))
    await expect.poll(async () => (await readState(id, "r1")).json["status"]).toBe("failed")
    const { messages } = await pageOf(id)
    expect(messages[0]).toMatchObject({ status: "failed", reason: "turn_timeout" })
    await request.end()
  })

  test("[EX8] [EX14] has its deadline extended by anything that it sends, even an empty line, with few writes", async () => {
    const id = await freshSession()
    await postRecords(id, numberRecords("r1", text("Half")))
    await silenceOf(id, 1_000)
    const readRows = () =>
      runInDurableObject(sessionOf(id), (_object, { storage }) =>
        Number(storage.sql.exec("SELECT deadline FROM transcript").one()["deadline"]),
      )
    const before = await readRows()
    const request = await openRequest(id, "?responseId=r1")
    await request.send("\n")
    await expect.poll(readRows).toBeGreaterThan(before + 10_000)
    const put = await readRows()
    for (let i = 0; i < 5; i++) await request.send("\n")
    expect(await readRows()).toBe(put)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    await runDurableObjectAlarm(sessionOf(id))
    expect((await readState(id, "r1")).json["status"]).toBe("running")
    await request.send({ ...END, n: 2 })
    expect((await request.end()).json["status"]).toBe("completed")
  })
})

describe("invalid input", () => {
  test("[EX10] [EX19] each bad line is reported by its number, the other lines are accepted, and the connection continues", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const request = await openRequest(id, "?responseId=r1")
    await request.send(text("Kept. "))
    await request.send("not json\n")
    await request.send("\n")
    await request.send({ type: "surprise" })
    await request.send({ type: "text_delta" })
    await request.send({ ...text("other"), responseId: "r2" })
    await request.send(output("nobody", "x"))
    await request.send(result("lone", "alone"))
    await request.send(result("lone", "again"))
    await request.send(output("lone", "late"))
    await request.send(`{"type":"text_delta","delta":"${"x".repeat(MAX_RECORD_BYTES)}"}\n`)
    await request.send({ ...END, status: "running" })
    await client.untilTrue(() => toolsIn(answerTo(client, "r1")).length === 1)
    await request.send(text("And this."))
    await request.send(END)
    const { json } = await request.end()
    expect(json).toMatchObject({ status: "completed", applied: 4, skipped: 9 })
    expect((json["bad"] as { line: number; code: string }[]).map(({ line, code }) => [line, code])).toEqual([
      [2, "body_malformed"],
      [4, "field_invalid"],
      [5, "field_invalid"],
      [6, "turn_running"],
      [7, "call_unknown"],
      [9, "call_settled"],
      [10, "call_settled"],
      [11, "body_too_large"],
      [12, "field_invalid"],
    ])
    const message = await client.untilEnd("r1")
    expect(message.segments).toMatchObject([
      { type: "text", content: "Kept." },
      { type: "tool", name: "tool", result: "alone", status: "ok" },
      { type: "text", content: "And this." },
    ])
    await expectSame(id, client)
  })

  test("[EX10] a line that isn't UTF-8 is refused without affecting other lines", async () => {
    const id = await freshSession()
    const bytes = new TextEncoder().encode(`${JSON.stringify(text("a?c"))}\n${JSON.stringify(text("fine"))}\n`)
    bytes[bytes.indexOf(0x3f)] = 0xff
    const headers = { authorization: `Bearer ${await externalToken(id)}` }
    const response = await SELF.fetch(`${HOST}/external/sessions/${id}/events`, {
      method: "POST",
      headers,
      body: bytes,
    })
    expect(await response.json()).toMatchObject({ applied: 1, bad: [{ line: 1, code: "body_malformed" }] })
    expect(textIn((await pageOf(id)).messages[0])).toBe("fine")
  })

  test("[EX21] exceeding a limit ends the answer, and the rest of the body isn't read", async () => {
    const id = await freshSession()
    const request = await openRequest(id, "?responseId=r1")
    const block = "x".repeat(MAX_ANSWER_CHARS / 4)
    for (let i = 0; i < 5; i++) void request.send(text(block))
    const answered = await request.answer
    expect(answered).toMatchObject({ status: 409, json: { code: "turn_ended", reason: "answer_too_long" } })
    const calls = Array.from({ length: MAX_EXTERNAL_CALLS + 1 }, (_, at) => callStart(`c${at}`))
    expect((await postRecords(await freshSession(), calls, "?responseId=r1")).json).toMatchObject({
      reason: "answer_too_long",
    })
  })

  test("[EX20] results, output, arguments and names have limits; the full size of the output is reported", async () => {
    const id = await freshSession()
    const long = "y".repeat(MAX_OUTPUT_CHARS)
    const records = [
      callStart("c1", "n".repeat(100)),
      output("c1", long),
      output("c1", `${long}\n`),
      result("c1"),
      callStart("c2"),
      result("c2", "z".repeat(1_600_000)),
      { ...callStart("c3"), toolName: "T" },
      { type: "tool_result", callId: "c3", ok: false, error: { code: "boom", message: "m".repeat(900) } },
      END,
    ]
    await postRecords(id, numberRecords("r1", ...records))
    const tools = toolsIn((await pageOf(id)).messages[0])
    expect(tools[0]?.name).toHaveLength(64)
    expect(tools[0]?.truncated).toMatchObject({ bytes: 2 * MAX_OUTPUT_CHARS + 1 })
    expect(tools[1]).toMatchObject({ status: "failed", error: { code: "tool_result_too_large" } })
    expect(tools[2]?.error?.code).toBe("boom")
    expect(tools[2]?.error?.message).toHaveLength(500)
  })
})

describe("an external answer in its session", () => {
  test("[EX6] the directory marks the session as running, from its first record to its end", async () => {
    const id = await freshSession()
    const directory = env.DIRECTORY.getByName(`${CLAIMS.tenant}:${CLAIMS.user}`)
    await directory.addSession(id, "", Date.now())
    const isRunning = async () => (await directory.listSessions(200)).find((session) => session.id === id)?.running
    await postRecords(id, numberRecords("r1", text("a")))
    await expect.poll(isRunning).toBe(true)
    await postRecords(id, [{ ...END, n: 2 }], "?responseId=r1")
    await expect.poll(isRunning).toBe(false)
  })

  test("[EX11] a session that is erased in the meantime is unknown, and nothing of it reappears", async () => {
    const id = await freshSession()
    const request = await openRequest(id, "?responseId=r1")
    await request.send({ ...text("a"), n: 1 })
    await expect.poll(async () => (await readState(id, "r1")).json["n"]).toBe(1)
    await sessionOf(id).erase(CLAIMS)
    expect(await request.answer).toMatchObject({ status: 404, json: { code: "session_unknown" } })
    expect(await readState(id, "r1")).toMatchObject({ status: 404, json: { code: "session_unknown" } })
    expect(await tablesOf(sessionOf(id))).toEqual([])
  })

  test("[EX9] an external answer is exported with its session and imported as one", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await postRecords(here, numberRecords("r1", ...SAMPLE))
    const file = await exportOf(here)
    const imported = await sessionOf(there).import(CLAIMS, new Response(file).body as ReadableStream<Uint8Array>)
    expect(imported).toMatchObject({ ok: true, value: { isSealed: true, skipped: 0 } })
    expect((await exportOf(there)).replaceAll(there, here)).toBe(file)
    expect((await pageOf(there)).messages).toMatchObject([{ mode: "external", status: "completed" }])
  })
})

describe("access", () => {
  const eventsPath = (id: string): string => `/external/sessions/${id}/events?responseId=r1`
  const body = JSON.stringify(text("forged"))

  test("[EX11] a token for another scope, session or user, or for an unknown session, stores nothing", async () => {
    const [own, other] = [await freshSession(), await freshSession()]
    const rows = await rowsIn(own)
    const denied = refusal(403, "scope_denied")
    const token = await externalToken(other)
    expect(await callRoute(eventsPath(own), { method: "POST", token, body })).toEqual(denied)
    expect(await callRoute(eventsPath(own), { method: "POST", body })).toEqual(refusal(401, "token_missing"))
    const late = await externalToken(own, -60)
    expect(await callRoute(eventsPath(own), { method: "POST", token: late, body })).toEqual(
      refusal(401, "token_expired"),
    )
    const ghost = await externalToken("ghost")
    expect(await callRoute(eventsPath("ghost"), { method: "POST", token: ghost, body })).toEqual(
      refusal(404, "session_unknown"),
    )
    expect(await callRoute(eventsPath("ghost"), { token: ghost })).toEqual(refusal(404, "session_unknown"))
    expect(await tablesOf(env.SESSION.getByName(`${CLAIMS.tenant}:ghost`))).toEqual([])
    expect(await rowsIn(own)).toEqual(rows)
  })

  test("[EX11] the object repeats the check, and refuses claims for another user, session or scope", async () => {
    const id = await freshSession()
    const outside = { ...CLAIMS, scope: "external", session: id } as const
    const unknown = { ok: false, fault: { reason: "session_unknown" } }
    for (const claims of [CLAIMS, { ...outside, user: "eve" }, { ...outside, session: "else" }]) {
      expect(await sessionOf(id).writeExternalAnswer(claims, {}, "x")).toEqual(unknown)
    }
    expect(await sessionOf(id).readHistoryPage(outside, { limit: 1 })).toEqual(unknown)
    expect(await sessionOf(id).send(outside, { id: "q1", content: "x" })).toEqual(unknown)
    expect((await pageOf(id)).messages).toEqual([])
  })
})
