/** import.test.ts: tests imports of Cuecard's own exports, of older formats, and of broken files. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { toCanonicalJson } from "../../shared/json.ts"
import { createStagedRows } from "../../worker/transfer/staged-rows.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { call as callRoute, makeSession, refusal, tokenOf } from "./http.ts"
import { exportOf, fillSession } from "./export-sample.ts"
import { freshSession as fresh, textIn, toolsIn, withoutTraces } from "./session-helpers.ts"
import { importFile, streamOf, toJsonl } from "./import-file.ts"

const freshSession = (): Promise<string> => fresh("imp")

/** Fills a session and activates a version that is not its newest. */
async function createVersions(id: string): Promise<void> {
  const client = await fillSession(id)
  const page = await pageOf(id)
  client.say({ type: "switch", id: "s1", message: page.messages.at(-2)?.id ?? "", version: 1 })
  await expect.poll(async () => (await pageOf(id)).epoch).not.toBe(page.epoch)
}

describe("our own export", () => {
  test("[RE6] is imported unchanged, with cards and versions, and exports the same bytes again", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await createVersions(here)
    const file = await exportOf(here)
    expect(await importFile(there, file)).toMatchObject({
      ok: true,
      value: { skipped: 0, isSealed: true, duplicate: false },
    })
    expect((await exportOf(there)).replaceAll(there, here).split("\n")).toEqual(file.split("\n"))
    const [before, after] = [await pageOf(here), await pageOf(there)]
    expect(withoutTraces(after.messages)).toBe(withoutTraces(before.messages))
    expect(after.messages[1]?.segments.filter((segment) => segment.type === "rich")).toHaveLength(2)
    // The conversation can be continued.
    const client = await connect(there)
    client.say({ type: "send", id: "n1", content: "/say on" })
    expect((await client.untilEnd("n1")).status).toBe("completed")
  })

  test("[RE7] the same file again adds nothing; another file, or a session with its own messages, is refused", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await createVersions(here)
    const file = await exportOf(here)
    await importFile(there, file)
    const before = await exportOf(there)
    expect(await importFile(there, file)).toMatchObject({ ok: true, value: { duplicate: true } })
    expect(await exportOf(there)).toBe(before)
    const other = toJsonl({ type: "user_message", text: "else" })
    expect(await importFile(there, other)).toEqual({ ok: false, fault: { reason: "session_begun" } })
    expect(await importFile(here, other)).toEqual({ ok: false, fault: { reason: "session_begun" } })
    expect(await exportOf(there)).toBe(before)
  })

  test("[RE8] is unverified if it was changed; its cards are marked, even after another export and import", async () => {
    const [here, there, third] = [await freshSession(), await freshSession(), await freshSession()]
    await createVersions(here)
    const forged = (await exportOf(here)).replace("Partly cloudy", "Raining frogs").replace(/"temp/, '"temp')
    const changed = forged.replace('"ok":true', '"ok" : true')
    expect(await importFile(there, forged === changed ? forged : forged.replace("London", "Londinium"))).toMatchObject({
      ok: true,
      value: { isSealed: false },
    })
    const answer = (await pageOf(there)).messages[1]
    expect(answer).toMatchObject({ origin: "import" })
    expect(answer?.segments.some((segment) => segment.type === "rich")).toBe(true)
    expect(await importFile(third, await exportOf(there))).toMatchObject({ ok: true, value: { isSealed: true } })
    expect((await pageOf(third)).messages[1]).toMatchObject({ origin: "import" })
  })

  test("[RE6] can be compressed with gzip", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await createVersions(here)
    const file = await exportOf(here)
    const compressed = await new Response(streamOf(file).pipeThrough(new CompressionStream("gzip"))).bytes()
    expect(await importFile(there, compressed)).toMatchObject({ ok: true, value: { isSealed: true } })
    expect((await exportOf(there)).replaceAll(there, here)).toBe(file)
  })

  test("[RE6] is folded even if the process ended between staging and folding", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    await createVersions(here)
    const file = await exportOf(here)
    const records = file.trimEnd().split("\n")
    await runInDurableObject(sessionOf(there), (_object, { storage }) => {
      const staging = createStagedRows(storage.sql)
      records.slice(0, -1).forEach((line, n) => {
        const record = JSON.parse(line)
        staging.addRows(1, [{ i: n + 1, at: Date.parse(record.timestamp), line, home: null }])
      })
      const { tip } = JSON.parse(records.at(-1) ?? "")
      const summary = { records: records.length - 1, skipped: 0, bad: [], sources: ["x"], isPlaced: true }
      staging.setState({ step: "folding", ...summary, isSealed: true, tip, title: "" })
    })
    await evictDurableObject(sessionOf(there))
    await expect.poll(async () => (await pageOf(there)).messages.length).toBe((await pageOf(here)).messages.length)
    await expect
      .poll(async () => (await exportOf(there)).replaceAll(there, here).split("\n").slice(0, -2))
      .toEqual(records.slice(0, -1))
  })
})

describe("files of other systems", () => {
  const T = (second: number): string => `2025-06-01T10:00:0${second}.000Z`

  test("[RE9] that contain only turn records become a question, its tool calls and its answer", async () => {
    const id = await freshSession()
    const file = toJsonl(
      { type: "user_message", timestamp: T(1), text: "What is in a.txt?" },
      { type: "tool_call", timestamp: T(2), callId: "x/1", toolName: "read", arguments: '{"f":"a.txt"}' },
      { type: "tool_result", timestamp: T(3), callId: "x/1", toolName: "read", ok: true, result: { words: "hello" } },
      { type: "assistant_message", timestamp: T(4), text: "It says **hello**." },
    )
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { records: 4, isSealed: false } })
    const { messages } = await pageOf(id)
    expect(messages).toMatchObject([{ role: "user", content: "What is in a.txt?" }, { status: "completed" }])
    expect(messages[1]?.segments).toMatchObject([
      { type: "tool", name: "read", status: "ok", result: '{"words":"hello"}' },
      { type: "text", content: "It says **hello**." },
    ])
  })

  test("[RE9] that mix records: an assistant_message is used only if its response wasn't streamed", async () => {
    const id = await freshSession()
    const file = toJsonl(
      { type: "user_message", timestamp: T(1), text: "one" },
      { type: "assistant_message", timestamp: T(2), responseId: "r1", text: "Hello world" },
      { type: "text_delta", timestamp: T(2), responseId: "r1", delta: "Hello " },
      { type: "text_delta", timestamp: T(2), responseId: "r1", delta: "world" },
      { type: "text_done", timestamp: T(2), responseId: "r1", text: "Hello world" },
      { type: "user_message", timestamp: T(3), text: "two" },
      { type: "assistant_message", timestamp: T(4), responseId: "r2", text: "Only here" },
    )
    await importFile(id, file)
    const { messages } = await pageOf(id)
    expect(messages.filter((message) => message.role === "assistant").map(textIn)).toEqual(["Hello world", "Only here"])
  })

  test("[RE28] [RE9] are ordered by time, then by position in the file; a tool record that names no response belongs to the open turn", async () => {
    const id = await freshSession()
    const file = toJsonl(
      { type: "text_delta", timestamp: T(5), responseId: "r2", delta: "second" },
      { type: "user_message", timestamp: T(1), text: "one" },
      { type: "tool_call_start", timestamp: T(2), callId: "c1", toolName: "look", arguments: "{}" },
      { type: "output_cancelled", timestamp: T(3) },
      { type: "user_message", timestamp: T(4), text: "two" },
    )
    await importFile(id, file)
    const { messages } = await pageOf(id)
    expect(messages.map((message) => [message.role, message.status])).toEqual([
      ["user", "completed"],
      ["assistant", "cancelled"],
      ["user", "completed"],
      ["assistant", "completed"],
    ])
    expect(toolsIn(messages[1])).toMatchObject([{ status: "interrupted" }])
  })

  test("[RE9] can't run or forge anything: text is cleaned, and cards are marked as imported", async () => {
    const id = await freshSession()
    const result = '{"location":"X"}'
    const file = toJsonl(
      { type: "user_message", text: "hi" },
      { type: "tool_call", callId: "w", toolName: "weather", arguments: "{}" },
      { type: "tool_call_start", callId: "w", channel: "user", ordinal: 1 },
      { type: "tool_result", callId: "w", ok: true, result, card: "weather_1" },
      { type: "text_delta", delta: "<script>alert(1)</script><span id='weather_1'>so</span>" },
    )
    await importFile(id, file)
    const answer = (await pageOf(id)).messages[1]
    expect(answer?.content).not.toContain("<script>")
    expect(answer).toMatchObject({ origin: "import" })
  })
})

describe("during an upload", () => {
  const encodeLine = (text: string): Uint8Array =>
    new TextEncoder().encode(`${JSON.stringify({ type: "user_message", text })}\n`)

  test("[RE6] leftovers of a broken upload aren't part of the next one", async () => {
    const id = await freshSession()
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      // Recreate the state of a process that ended while it was staging a longer file.
      const staging = createStagedRows(storage.sql)
      for (let n = 1; n <= 9; n++)
        staging.addRows(1, [
          { i: n, at: n, line: JSON.stringify({ type: "user_message", text: `old ${n}` }), home: null },
        ])
    })
    expect(await importFile(id, toJsonl({ type: "user_message", text: "new" }))).toMatchObject({
      ok: true,
      value: { records: 1 },
    })
    expect((await pageOf(id)).messages.map((message) => message.content)).toEqual(["new"])
  })

  test("[RE6] messages wait for the import, and a second import is refused", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    const importing = sessionOf(id).import(CLAIMS, readable)
    await writer.write(encodeLine("first"))
    await expect
      .poll(async () => await importFile(id, toJsonl({ type: "user_message", text: "other" })))
      .toEqual({ ok: false, fault: { reason: "import_running" } })
    client.say({ type: "send", id: "q1", content: "/say later" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "q1")
    await writer.write(encodeLine("second"))
    await writer.close()
    expect(await importing).toMatchObject({ ok: true, value: { records: 2 } })
    await expect
      .poll(async () => (await pageOf(id)).messages.map((message) => message.content))
      .toEqual(["first", "second", "/say later", "later"])
  })

  test("[RE10] a file that contains only a seal is not usable", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    expect(await importFile(there, await exportOf(here))).toEqual({ ok: false, fault: { reason: "import_empty" } })
  })
})

describe("message-shaped history", () => {
  const blocks = [
    { type: "thinking", thinking: "Let me look." },
    { type: "text", text: "I read it." },
    { type: "toolCall", id: "t1", name: "file_read", arguments: { path: "a.ts" } },
    { type: "toolCall", id: "t2", name: "grep", arguments: { q: "x" } },
    { type: "thinking", thinking: "Now I know." },
    { type: "text", text: "Done." },
  ]
  const toolResults = { t1: { content: "const a = 1" }, t2: { content: "no match", isError: true } }

  test("[RE11] with ordered blocks and their results keeps their order, as a list or as lines", async () => {
    const history = [
      { role: "system", content: "be nice" },
      { role: "user", content: "Read a.ts" },
      { role: "assistant", content: "I read it.Done.", contentBlocks: blocks, toolResults },
    ]
    const shown: string[] = []
    for (const file of [JSON.stringify(history), JSON.stringify(history, null, 2), toJsonl(...history)]) {
      const id = await freshSession()
      expect(await importFile(id, file)).toMatchObject({
        ok: true,
        value: { skipped: 0, messages: 2, kinds: { system: 1 } },
      })
      const { messages } = await pageOf(id)
      expect(messages[0]).toMatchObject({ role: "user", content: "Read a.ts" })
      expect(messages[1]?.segments).toMatchObject([
        { type: "thinking", content: "Let me look." },
        { type: "text", content: "I read it." },
        { type: "tool", name: "file_read", status: "ok", result: "const a = 1" },
        { type: "tool", name: "grep", status: "failed" },
        { type: "thinking", content: "Now I know." },
        { type: "text", content: "Done." },
      ])
      shown.push(toCanonicalJson(messages.map(({ segments }) => segments)))
    }
    expect(new Set(shown).size).toBe(1)
  })

  test("[RE11] with plain content gets the older layout: thinking, then one text, then the calls", async () => {
    const id = await freshSession()
    const file = JSON.stringify([
      { role: "user", content: "hi" },
      { role: "assistant", content: "API types.Let me read", thinking: "all of it" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "seen" },
    ])
    await importFile(id, file)
    const { messages } = await pageOf(id)
    expect(messages).toHaveLength(2)
    expect(messages[1]?.segments).toMatchObject([
      { type: "thinking", content: "all of it" },
      { type: "text", content: "API types.Let me read" },
      { type: "tool", name: "look", status: "ok", result: "seen" },
    ])
  })
})

describe("bad files", () => {
  test("[RE10] unusable lines are reported by number, and the other lines are imported", async () => {
    const id = await freshSession()
    const good = { type: "user_message", text: "usable" }
    const broken = new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])
    const text = new TextEncoder().encode(
      `${toJsonl(good)}{"type":"user_mess\n\n{"type":"nonsense"}\n{"type":"text_delta"}\n[1]\n`,
    )
    const file = new Uint8Array([...text, ...broken])
    const imported = await importFile(id, file)
    expect(imported).toMatchObject({ ok: true, value: { records: 1, skipped: 5 } })
    const bad = imported.ok ? imported.value.bad : []
    expect(bad.map(({ line, code }) => `${line} ${code}`)).toEqual([
      "2 body_malformed",
      "4 field_invalid",
      "5 field_invalid",
      "6 body_malformed",
      "7 body_malformed",
    ])
    expect((await pageOf(id)).messages).toMatchObject([{ content: "usable" }])
  })

  test("[RE10] a file without any usable line changes nothing", async () => {
    const id = await freshSession()
    for (const file of ["", "\n\n", "not json\n{}", '{"type":"nonsense"}']) {
      expect(await importFile(id, file)).toEqual({ ok: false, fault: { reason: "import_empty" } })
    }
    expect((await pageOf(id)).messages).toEqual([])
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say fine" })
    expect((await client.untilEnd("q1")).status).toBe("completed")
  })

  test("[RE10] a file for another user's session is refused over HTTP, and one for the user's own is imported", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const path = `/v1/sessions/${id}/import`
    const body = toJsonl({ type: "user_message", text: "hi" })
    const eve = await tokenOf("acme", "eve")
    expect(await callRoute(path, { method: "POST", token: eve, body })).toEqual(refusal(404, "session_unknown"))
    const answer = await callRoute(path, { method: "POST", token, body })
    expect(answer).toMatchObject({ status: 200, json: { records: 1, skipped: 0, isSealed: false, duplicate: false } })
    expect(env.SESSION).toBeDefined()
  })
})
