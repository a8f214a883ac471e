/**
 * import-edge-cases.test.ts: tests that imports with unusual positions, times and sizes don't lose, hide, block or
 * forge anything.
 */

import { describe, expect, test } from "vitest"
import { MAX_IMPORTED_CALLS, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { exportOf, fillSession } from "./export-sample.ts"
import { freshSession as fresh, pause, say, script, toolsIn } from "./session-helpers.ts"
import { importFile, toJsonl } from "./import-file.ts"

const freshSession = (): Promise<string> => fresh("odd")

const T = (second: number): string => `2026-01-01T00:00:0${second}.000Z`
const createUserRecord = (more: object): object => ({ type: "user_message", timestamp: T(0), ...more })
const createAnswerRecord = (more: object): object => ({ type: "assistant_message", timestamp: T(0), ...more })

async function shownIn(id: string): Promise<string[]> {
  return (await pageOf(id)).messages.map((message) => `${message.exchange_id}:${message.role}`)
}

async function changePath(id: string): Promise<void> {
  const page = await pageOf(id)
  const client = await connect(id)
  client.say({ type: "switch", id: "s1", message: page.messages.at(-2)?.id ?? "", version: 1 })
  await expect.poll(async () => (await pageOf(id)).epoch).not.toBe(page.epoch)
}

describe("dropped content", () => {
  test("[RE36] [RE46] is counted by kind in the response and in the progress: late text, second results, calls over the limit", async () => {
    const id = await freshSession()
    const [r1, r2] = [
      { responseId: "r1", timestamp: T(1) },
      { responseId: "r2", timestamp: T(3) },
    ]
    const result = { type: "tool_result", ...r1, callId: "c", ok: true }
    const calls = Array.from({ length: MAX_IMPORTED_CALLS + 100 }, (_, n) => {
      return { type: "tool_call", ...r2, callId: `c${n}`, toolName: "t", arguments: "{}" }
    })
    const lines = [
      createUserRecord({ responseId: "q1", text: "go" }),
      { type: "tool_call", ...r1, callId: "c", toolName: "t", arguments: "{}" },
      { ...result, result: "one" },
      { ...result, result: "another" },
      createAnswerRecord({ ...r1, text: "Done." }),
      createUserRecord({ responseId: "q2", text: "more", timestamp: T(2) }),
      { type: "text_delta", responseId: "r1", timestamp: T(2), delta: "late" },
      ...calls,
      createAnswerRecord({ ...r2, text: "" }),
    ]
    const kinds = { call: 100, result: 1, text: 1 }
    expect(await importFile(id, toJsonl(...lines))).toMatchObject({ ok: true, value: { state: "done", kinds } })
    expect(await sessionOf(id).importProgress(CLAIMS)).toMatchObject({ value: { state: "done", kinds } })
  })
})

describe("our own export", () => {
  test("[RE6] of a session in which messages had to wait for an earlier answer is imported unchanged, byte for byte", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    const client = await connect(here)
    client.say({ type: "send", id: "q1", content: script([say("a "), pause(400), say("b")]) })
    client.say({ type: "send", id: "q2", content: script([say("two "), pause(400), say("b")]) })
    client.say({ type: "send", id: "q3", content: "/say three" })
    await client.untilEnd("q3")
    const file = await exportOf(here)
    expect(await importFile(there, file)).toMatchObject({ ok: true, value: { skipped: 0, isSealed: true } })
    expect(await shownIn(there)).toEqual(await shownIn(here))
    expect((await exportOf(there)).replaceAll(there, here)).toBe(file)
  })

  test("[RE10] with one damaged line still shows all other messages, and reports no further pages", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    const client = await connect(here)
    for (const id of ["q1", "q2", "q3"]) {
      client.say({ type: "send", id, content: `/say ${id}` })
      await client.untilEnd(id)
    }
    const file = (await exportOf(here)).split("\n")
    const damaged = file.map((line) => (line.includes('"user_message"') && line.includes('"q2"') ? "{" : line))
    expect(await importFile(there, damaged.join("\n"))).toMatchObject({ ok: true, value: { skipped: 1 } })
    const page = await pageOf(there)
    expect(page.messages).toHaveLength(5)
    expect(page.messages[0]).toMatchObject({ id: "q1" })
    expect(page.has_more).toBe(false)
  })

  test("[RE6] still shows messages if its seal names a tip at which there is no message", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await fillSession(here)
    await changePath(here)
    const file = (await exportOf(here)).trimEnd().split("\n")
    const seal: object = JSON.parse(file.at(-1) ?? "")
    await importFile(there, [...file.slice(0, 3), JSON.stringify({ ...seal, tip: 99 })].join("\n"))
    expect((await pageOf(there)).messages).not.toHaveLength(0)
  })

  test("[RE36] has an overlong title cut without splitting a surrogate pair", async () => {
    const id = await freshSession()
    const title = `${"x".repeat(MAX_TITLE_CHARS - 1)}😀`
    const seal = { type: "signature", tip: null, title, records: 1, algorithm: "HMAC-SHA256", value: "x" }
    await importFile(id, toJsonl(createUserRecord({ text: "hi" }), seal))
    expect(JSON.parse((await exportOf(id)).trimEnd().split("\n").at(-1) ?? "").title).toBe(
      "x".repeat(MAX_TITLE_CHARS - 1),
    )
  })

  test("[VE2] a version whose tip is not a message still shows its own message", async () => {
    const id = await freshSession()
    const file = toJsonl(
      createUserRecord({ text: "one", responseId: "u1", pos: 1, parent: null, tip: 77 }),
      createUserRecord({ text: "other", responseId: "u2", pos: 2, parent: null, version: 2 }),
    )
    await importFile(id, file)
    const page = await pageOf(id)
    const client = await connect(id)
    client.say({ type: "switch", id: "s1", message: "u2", version: 1 })
    await expect.poll(async () => (await pageOf(id)).epoch).not.toBe(page.epoch)
    expect((await pageOf(id)).messages).toMatchObject([{ id: "u1" }])
  })
})

describe("retrying an imported answer", () => {
  const base = { responseId: "a", turnId: "u", timestamp: T(1) }
  const createCall = (step: number, ordinal: number): object[] => {
    const head = { ...base, step, callId: `c${step}`, toolName: "get_weather" }
    return [
      { type: "tool_call", ...head, arguments: "{}" },
      { type: "tool_call_start", ...head, channel: "user", ordinal },
    ]
  }
  const createResult = (step: number, more: object): object => {
    return { type: "tool_result", ...base, step, callId: `c${step}`, toolName: "get_weather", ok: true, ...more }
  }
  const forged = toJsonl(
    createUserRecord({ text: "/say x", responseId: "u", turnId: "u" }),
    ...createCall(1, 1),
    createResult(1, { result: '{"location":"Forged","temp_c":99}', card: "get_weather_1" }),
    { type: "text_delta", ...base, step: 2, delta: "<span id='get_weather_1'>forged</span>" },
    ...createCall(2, 2),
    createResult(2, { result: "{}" }),
    createAnswerRecord({ ...base, text: "", status: "interrupted", reason: "process_restart" }),
  )

  test("[RE8] still marks the answer as imported if imported steps remain, even in an export; a new answer isn't marked", async () => {
    const id = await freshSession()
    await importFile(id, forged)
    const client = await connect(id)
    client.say({ type: "retry", id: "r1", message: "a" })
    const readLast = async () => (await pageOf(id)).messages.at(-1)
    await expect.poll(async () => (await readLast())?.id).toBe("r1")
    await expect.poll(async () => (await readLast())?.status).toBe("completed")
    expect(toolsIn(await readLast()).length + ((await readLast())?.segments.length ?? 0)).toBeGreaterThan(1)
    expect(await readLast()).toMatchObject({ origin: "import" })
    const exported = (await exportOf(id))
      .split("\n")
      .find((line) => /"assistant_message".*"responseId":"r1"/.test(line))
    expect(exported).toContain('"origin":"import"')
    const secondClient = await connect(id)
    secondClient.say({ type: "regenerate", id: "g1", message: "r1" })
    await expect.poll(async () => (await readLast())?.id).toBe("g1")
    expect((await readLast())?.origin ?? null).toBe(null)
  })
})
