/**
 * import-history.test.ts: imports files of other systems into a real store, and tests that history, export and import
 * agree.
 */

import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { catchBadRecord } from "../../worker/transfer/stage-upload.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { importValues, listValues, parseHistoryFixture } from "../support/history-fixtures.ts"
import { CLAIMS, pageOf, sessionOf } from "../support/socket.ts"
import { exportOf } from "./export-sample.ts"
import { importFile, streamOf, toJsonl } from "./import-file.ts"
import { freshSession as fresh } from "./session-helpers.ts"

const files = import.meta.glob<string>("../shared/history/*.txt", { query: "?raw", import: "default", eager: true })
const fixtures = Object.entries(files).map(([path, text]) => parseHistoryFixture(path, text))
const freshSession = (): Promise<string> => fresh("history")

const segmentsIn = (messages: readonly WireMessage[]) =>
  messages.map(({ role, status, segments }) => ({ role, status, segments }))

describe("[IH1] [IH9]", () => {
  test.each(fixtures.map((fixture) => [fixture.title, fixture] as const))("%s", async (_title, { body }) => {
    const [id, again] = [await freshSession(), await freshSession()]
    const expected = importValues(listValues(body))
    const kinds = Object.keys(expected.kinds).length === 0 ? {} : { kinds: expected.kinds }
    const messages = expected.messages.length
    expect(await importFile(id, body)).toMatchObject({
      ok: true,
      value: { state: "done", skipped: 0, messages, ...kinds },
    })
    const page = await pageOf(id)
    expect(page.messages.map(({ segments }) => segments)).toEqual(
      expected.messages.map((message) => segmentsOf(message)),
    )
    expect(page.messages.filter(({ role }) => role === "assistant").every(({ origin }) => origin === "import")).toBe(
      true,
    )
    // Another session that imports the export must show the same after a reload.
    expect(await importFile(again, await exportOf(id))).toMatchObject({ ok: true, value: { skipped: 0, messages } })
    expect(segmentsIn((await pageOf(again)).messages)).toEqual(segmentsIn(page.messages))
  })
})

describe("a data export", () => {
  const createConversation = (title: string) => ({
    title,
    current_node: "b",
    mapping: {
      a: {
        id: "a",
        parent: null,
        message: { id: "a", author: { role: "user" }, content: { content_type: "text", parts: [`Hi ${title}`] } },
      },
      b: {
        id: "b",
        parent: "a",
        message: { id: "b", author: { role: "assistant" }, content: { content_type: "text", parts: ["Hello"] } },
      },
    },
  })

  test("[IH10] of one conversation is imported with its title, even as its only entry", async () => {
    for (const file of [createConversation("Sea \n\n shanty"), [createConversation("Sea shanty")]]) {
      const id = await freshSession()
      expect(await importFile(id, JSON.stringify(file))).toMatchObject({ ok: true, value: { messages: 2 } })
      expect((await pageOf(id)).messages.map(({ content }) => content)).toEqual([
        expect.stringContaining("Hi Sea"),
        "Hello",
      ])
      const exported = await exportOf(id)
      expect(JSON.parse(exported.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ title: "Sea shanty" })
    }
  })

  test("[RT13] has its title cleaned", async () => {
    const id = await freshSession()
    await importFile(id, JSON.stringify(createConversation("Sea \u202egnp\u0007.exe")))
    const exported = await exportOf(id)
    expect(JSON.parse(exported.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ title: "Sea gnp.exe" })
  })

  test("[IH10] of several conversations is refused with an instruction, and changes nothing", async () => {
    const id = await freshSession()
    const file = JSON.stringify([createConversation("one"), createConversation("two")], null, 1)
    expect(await importFile(id, file)).toEqual({ ok: false, fault: { reason: "import_many", count: 2 } })
    expect((await pageOf(id)).messages).toEqual([])
    expect(await importFile(id, toJsonl({ role: "user", content: "Hi" }))).toMatchObject({ ok: true })
  })
})

test("[IH11] [RE30] a file in parts becomes one answer, even if the later part arrives first", async () => {
  const id = await freshSession()
  const lines = [
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "Sun" },
    { role: "assistant", content: "It is sunny." },
  ]
  await importFile(id, toJsonl(...lines.slice(2)), 2, 2)
  await importFile(id, toJsonl(...lines.slice(0, 2)), 1, 2)
  await expect
    .poll(async () => (await sessionOf(id).importProgress(CLAIMS)) as unknown)
    .toMatchObject({ value: { state: "done" } })
  const { messages } = await pageOf(id)
  expect(messages).toHaveLength(2)
  expect(messages[1]).toMatchObject({
    status: "completed",
    segments: [
      { type: "tool", name: "look", status: "ok", result: "Sun" },
      { type: "text", content: "It is sunny." },
    ],
  })
})

test("[IH9] the kinds in all parts are added up, and the message count is available at the end", async () => {
  const id = await freshSession()
  const image = { type: "image", source: { type: "base64", data: "AA" } }
  const file = toJsonl(
    { role: "user", content: [image, image] },
    { role: "assistant", content: [{ type: "hologram", n: 1 }, image] },
  )
  const compressed = await new Response(streamOf(file).pipeThrough(new CompressionStream("gzip"))).bytes()
  expect(await importFile(id, compressed)).toMatchObject({
    ok: true,
    value: { messages: 2, kinds: { image: 3, "block:hologram": 1 } },
  })
})

const contentsIn = async (id: string): Promise<string[]> => (await pageOf(id)).messages.map(({ content }) => content)

test("[IH17] a question over the size limit is shortened, gets a note, still begins its turn, and is counted", async () => {
  for (const [letter, question] of [
    ["x", (content: string) => ({ role: "user", content })],
    ["漢", (text: string) => ({ type: "user_message", text })],
  ] as const) {
    const id = await freshSession()
    const file = toJsonl(
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      question(letter.repeat(MAX_MESSAGE_BYTES + 1)),
      { role: "assistant", content: "That is long." },
    )
    expect(await importFile(id, file)).toMatchObject({
      ok: true,
      value: { messages: 4, skipped: 0, kinds: { long_question: 1 } },
    })
    const [, , shortened = "", last] = await contentsIn(id)
    expect(last).toBe("That is long.")
    expect(shortened).toMatch(/\n\n\[\d+ more characters omitted\]$/)
    expect(countUtf8Bytes(shortened)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
    expect(countUtf8Bytes(shortened)).toBeGreaterThan(MAX_MESSAGE_BYTES - 200)
  }
})

describe("[RE10] a line that can't be read", () => {
  test("affects only itself, however many runs of backticks it contains", async () => {
    const id = await freshSession()
    const canvas = { type: "canvas", content: "` ".repeat(200_000) }
    const file = toJsonl({ role: "user", content: "Hi" }, { role: "assistant", content: [canvas] })
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { messages: 2, skipped: 0 } })
  })

  test("is reported if the reader throws", () => {
    const records = (function* () {
      yield* []
      throw new RangeError("Maximum call stack size exceeded")
    })()
    expect([...catchBadRecord(7, records)]).toEqual([{ n: 7, result: { ok: false, fault: { reason: "internal" } } }])
  })
})

describe("[RE45] a file whose first line begins a JSON value", () => {
  const [question, answer] = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
  ]

  test("is one document, however it is formatted", async () => {
    const printed = JSON.stringify({ messages: [question, answer] }, null, 1)
    for (const file of [printed, printed.replace(/\n\s*/, " "), `{"messages": [\n${JSON.stringify(question)}\n]}`]) {
      const id = await freshSession()
      expect(await importFile(id, file)).toMatchObject({ ok: true, value: { skipped: 0 } })
      expect((await contentsIn(id))[0]).toBe("Hi")
    }
  })

  test("is read line by line if only the first line is damaged", async () => {
    const id = await freshSession()
    const file = `{"role": "user", "content": "Wha\n${toJsonl(question, answer)}`
    expect(await importFile(id, file)).toMatchObject({
      ok: true,
      value: { messages: 2, skipped: 1, bad: [{ line: 1 }] },
    })
    expect(await contentsIn(id)).toEqual(["Hi", "Hello"])
  })

  testInFull("is read line by line if it is too long for a document", async () => {
    const id = await freshSession()
    const long = Array.from({ length: 20 }, () => ({ role: "assistant", content: "x".repeat(900_000) }))
    const file = `{"role": "user", "content": "Wha\n${toJsonl(question, ...long)}`
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { messages: 2, skipped: 1 } })
  })
})
