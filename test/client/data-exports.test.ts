/**
 * data-exports.test.ts: importing another system's data export: splitting the file, importing several conversations,
 * and summarising the result.
 */

import { describe, expect, test } from "vitest"
import { isGzip, isJsonArray, splitAtLines } from "../../client/files/split-file.ts"
import { describeImportKind, importText } from "../../client/words/import-text.ts"
import { settle } from "./fake-server.ts"
import { answered, createFile, createTestImporter, DONE } from "./test-importer.ts"

describe("splitting", () => {
  const texts = async (parts: readonly Blob[] | null) => Promise.all((parts ?? []).map((part) => part.text()))

  test("[PG35] each part ends at a line ending and is as long as allowed; together the parts equal the file", async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `{"n":${n},"w":"${"x".repeat(n)}"}\n`).join("")
    for (const max of [60, 64, 100, 333, lines.length - 1, lines.length]) {
      const parts = await splitAtLines(new Blob([lines]), max)
      const all = await texts(parts)
      expect(all.join("")).toBe(lines)
      expect(all.every((piece) => piece.length <= max && piece.endsWith("\n"))).toBe(true)
    }
    expect(await texts(await splitAtLines(new Blob([lines]), lines.length))).toHaveLength(1)
  })

  test("[PG35] a last line without a line ending is kept; a line longer than a part can't be split", async () => {
    expect(await texts(await splitAtLines(new Blob(["a\nbb\ncc"]), 5))).toEqual(["a\nbb\n", "cc"])
    expect(await splitAtLines(new Blob(["abcdef\n"]), 5)).toBe(null)
  })

  test("[PG35] compressed files and JSON arrays are recognised by their first bytes", async () => {
    expect(await isGzip(new Blob([new Uint8Array([0x1f, 0x8b, 8])]))).toBe(true)
    expect(await isGzip(new Blob(["{"]))).toBe(false)
    expect(await isJsonArray(new Blob(["\n [{}]"]))).toBe(true)
    expect(await isJsonArray(new Blob(['{"a":[]}']))).toBe(false)
  })
})

describe("a data export", () => {
  const conversation = (title: string, fields: object = { mapping: {}, current_node: "a" }) => ({ title, ...fields })
  const exported = (...list: object[]) => createFile(JSON.stringify(list), "conversations.json")

  test("[IH10] with several conversations: each is imported into its own session, and one without messages is skipped", async () => {
    const titles: string[] = []
    let created = 0
    const { importer, made, erased, stages } = createTestImporter(
      async (_path, body) => {
        const { title } = JSON.parse(await body.text()) as { title: string }
        titles.push(title)
        if (title === "none") return answered({ error: { code: "import_empty", message: "Nothing" } }, 422)
        return answered({ ...DONE, state: "done", messages: 2, kinds: { image: 1, system: 2 } })
      },
      {},
      () => `s${++created}`,
    )
    await importer.startImport(
      exported(conversation("one"), conversation("none"), conversation("two", { chat_messages: [] })),
    )
    expect(titles).toEqual(["one", "none", "two"])
    expect({ made, erased }).toEqual({ made: ["s1", "s2", "s3"], erased: ["s2"] })
    expect(stages).toContainEqual({ at: "several", done: 2, of: 3 })
    expect(stages.some(({ at }) => at === "folding")).toBe(false)
    expect(importer.stage.value).toEqual({
      at: "done",
      session: "s1",
      records: 6,
      skipped: 0,
      skippedLines: [],
      messages: 4,
      kinds: { image: 2, system: 4 },
      export: { imported: 2, empty: 1, leftOut: 0 },
    })
    expect(importer.hasSummary()).toBe(true)
  })

  test("[IH10] with a single conversation, like a list of anything else, is uploaded unchanged", async () => {
    for (const item of [
      exported(conversation("one")),
      exported({ role: "user", content: "Hi" }),
      createFile('{"mapping":{}}'),
    ]) {
      const bodies: Blob[] = []
      const { importer } = createTestImporter((_path, body) => {
        bodies.push(body)
        return Promise.resolve(answered({ ...DONE, messages: 1 }))
      })
      await importer.startImport(item)
      expect(bodies).toEqual([item])
      expect(importer.stage.value).toMatchObject({ at: "done", messages: 1, export: null })
      expect(importer.hasSummary()).toBe(false)
    }
  })

  test("[IH10] conversations that were imported before a cancellation are kept", async () => {
    let created = 0
    const { importer, erased } = createTestImporter(
      () => {
        if (created === 2) importer.cancelImport()
        return Promise.resolve(answered({ ...DONE, messages: 1 }))
      },
      {},
      () => `s${++created}`,
    )
    await importer.startImport(exported(conversation("one"), conversation("two"), conversation("three")))
    expect(importer.stage.value).toEqual({ at: "choose", error: null })
    await settle()
    expect(erased).toEqual(["s2"])
  })

  test("[IH10] choosing a ZIP archive shows a message that says what to do instead", async () => {
    const { importer, made } = createTestImporter(() => Promise.resolve(answered(DONE)))
    await importer.startImport(createFile("PK\u0003\u0004…", "export.zip"))
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining("Unzip it") })
    expect(made).toEqual([])
  })
})

test("[IH9] the summary counts messages, not records, and names each kind", () => {
  expect(importText.summary(2, 4)).toBe("Imported 2 messages.")
  expect(importText.summary(null, 1)).toBe("Imported 1 record.")
  expect(importText.exportSummary(12, 1, 3, 240)).toBe(
    "Imported 12 conversations with 240 messages. 1 conversation without messages was skipped. 3 more in this file were left out.",
  )
  const kinds = {
    image: 2,
    canvas: 1,
    branch: 2,
    long_question: 1,
    hidden_thinking: 1,
    "block:hologram": 3,
    "line:x": 1,
    "message:narrator": 2,
    text: 1,
    result: 2,
    output: 1_000,
    start: 1,
    call: 2,
    other: 1,
  }
  expect(Object.entries(kinds).map(([kind, count]) => describeImportKind(kind, count))).toEqual([
    "2 images couldn't be imported.",
    "1 canvas was imported as text.",
    "2 messages from other branches of the conversation aren't shown.",
    "1 user message over 64 KB was shortened.",
    "1 thinking block can't be read because providers encrypt thinking.",
    "3 blocks of the unknown type “hologram” were imported as text.",
    "1 line of the unknown type “x” isn't shown.",
    "2 messages with the unknown role “narrator” were imported as text.",
    "1 piece of text was dropped because it arrived too late, exceeded a limit, or differed from what is shown.",
    "2 tool results were dropped because they arrived too late, exceeded a limit, or differed from what is shown.",
    "1,000 pieces of tool output were dropped because they arrived too late, exceeded a limit, or differed from what is shown.",
    "1 tool call start or approval was dropped because it arrived too late, exceeded a limit, or differed from what is shown.",
    "2 tool calls beyond the limit or after the end of a response were dropped.",
    "1 block of other unknown types was imported as text.",
  ])
})
