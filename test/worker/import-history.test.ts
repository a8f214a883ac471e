/** import-history.test.ts: files of other systems, imported over the real store: history, an export and its import agree. */

import { describe, expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
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
    // A reload of another session that imported the export shows the same.
    expect(await importFile(again, await exportOf(id))).toMatchObject({ ok: true, value: { skipped: 0, messages } })
    expect(segmentsIn((await pageOf(again)).messages)).toEqual(segmentsIn(page.messages))
  })
})

describe("a data export", () => {
  const conversation = (title: string) => ({
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

  test("[IH10] of one conversation is imported with its title, also as its only entry", async () => {
    for (const file of [conversation("Sea \n\n shanty"), [conversation("Sea shanty")]]) {
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

  test("[IH10] of several conversations is refused with what to do, and changes nothing", async () => {
    const id = await freshSession()
    const file = JSON.stringify([conversation("one"), conversation("two")], null, 1)
    expect(await importFile(id, file)).toEqual({ ok: false, fault: { reason: "import_many", count: 2 } })
    expect((await pageOf(id)).messages).toEqual([])
    expect(await importFile(id, toJsonl({ role: "user", content: "Hi" }))).toMatchObject({ ok: true })
  })
})

test("[IH11] [RE30] a file in parts, the later part first, gives one answer", async () => {
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

test("[IH9] kinds of all parts are added up, and a message count is there once it is done", async () => {
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
