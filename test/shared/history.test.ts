/** history.test.ts: imports conversation files of other systems, in the formats that their source code declares. */

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { interpretRecord } from "../../shared/ingest/external-record.ts"
import { StreamedText } from "../../shared/ingest/whole-text.ts"
import { createMessage, listCalls } from "../../shared/protocol/message.ts"
import { segmentsOf } from "../../shared/segment/segmenter.ts"
import { readHistoryFixtures } from "../support/history-fixture-files.ts"
import { importValues, listKeys, listValues, printHistory } from "../support/history-fixtures.ts"

const fixtures = readHistoryFixtures()
const cases = fixtures.map((fixture) => [fixture.title, fixture] as const)
const producers = [...new Set(fixtures.map(({ producer }) => producer))]

describe("fixtures", () => {
  test.each(cases)("%s", (_title, { body, expected, source }) => {
    expect(source).not.toBe("")
    expect(printHistory(importValues(listValues(body)))).toEqual(expected)
  })

  test.each(cases)("[IH11] %s, in two parts, cut before any line", (_title, { body, expected }) => {
    const values = listValues(body)
    const removeSteps = (lines: readonly string[]): string[] =>
      lines.map((line) => line.replace(/^answer \d+/, "answer"))
    for (let cutAt = 1; cutAt < values.length; cutAt++) {
      const messages = printHistory(importValues(values, cutAt)).filter((line) => !line.startsWith("kind "))
      expect([cutAt, ...removeSteps(messages)]).toEqual([
        cutAt,
        ...removeSteps(expected.filter((line) => !line.startsWith("kind "))),
      ])
    }
  })
})

describe("[IH12] docs/import.md", () => {
  const docs = readFileSync(new URL("../../docs/import.md", import.meta.url), "utf8")
  const sections = new Map(docs.split(/^## /m).map((section) => [section.split("\n", 1)[0] ?? "", section]))

  /**
   * Returns the field names in the first column of the tables. The names are formatted as code, and a cell can contain
   * several.
   */
  const listedIn = (producer: string): Set<string> => {
    const rows = (sections.get(producer) ?? "").split("\n").filter((line) => line.startsWith("| `"))
    return new Set(
      rows.flatMap((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g), ([, name]) => name ?? "")),
    )
  }

  test.each(producers)(
    "lists the fields of %s: all of its source's fields, and all of its fixtures' fields",
    (producer) => {
      const own = fixtures.filter((fixture) => fixture.producer === producer)
      const declared = new Set(own.flatMap(({ fields }) => fields))
      const used = new Set(own.flatMap(({ body }) => listValues(body).flatMap(listKeys)))
      const listed = listedIn(producer)
      expect([...used].filter((key) => !declared.has(key))).toEqual([])
      expect([...declared].filter((key) => !listed.has(key)).sort()).toEqual([])
      expect([...listed].filter((key) => !declared.has(key)).sort()).toEqual([])
    },
  )
})

const printValues = (...values: unknown[]): string[] => printHistory(importValues(values))
const printAnswer = (...content: unknown[]): string[] => printValues({ role: "assistant", content })

describe("blocks that a reader does not know", () => {
  test("[IH7] are shown under their type: text, or JSON without encrypted fields", () => {
    expect(printAnswer({ type: "hologram", shape: "cube", encrypted_content: "Eo4B" })).toEqual([
      "answer 1",
      '  text "[hologram]\\n\\n```json\\n{\\"shape\\":\\"cube\\"}\\n```"',
      "kind block:hologram 1",
    ])
    expect(printAnswer({ type: "poem", text: "Roses" }, "plain", 7)).toEqual([
      "answer 1",
      '  text "[poem]\\n\\nRoses"',
      '  text "plain"',
      '  text "7"',
      "kind block:poem 1",
    ])
    expect(printValues({ role: "user", content: [{ type: "hologram", n: 1 }] })[0]).toContain("[hologram]")
    expect(printValues({ role: "narrator", content: "Meanwhile." })).toContain('  text "[narrator]\\n\\nMeanwhile."')
  })

  test("[IH7] are also shown in a result, and their files become labels", () => {
    const result = {
      type: "tool_result",
      tool_use_id: "c1",
      content: [
        { type: "hologram", n: 1 },
        { type: "image", data: "AA" },
      ],
    }
    expect(printAnswer({ type: "tool_use", id: "c1", name: "draw", input: {} }, result)[1]).toBe(
      '  tool draw {} ok "[hologram]\\n\\n{\\"n\\":1}\\n\\n[image]"',
    )
  })

  test("[IH6] a canvas, a citation and an attachment are recognised", () => {
    expect(printAnswer({ type: "canvas", title: "Clock", html: "<p>```</p>" })[1]).toBe(
      '  text "[canvas Clock]\\n\\n````html\\n<p>```</p>\\n````"',
    )
    expect(
      printAnswer({ type: "citation", title: "Seas", url: "https://www.example.com/s", cited_text: "It is salt." })[1],
    ).toBe('  text "[Seas](https://www.example.com/s)"')
    expect(
      printValues({ role: "user", content: "See", attachments: [{ file_name: "a.pdf", file_type: "pdf" }] }),
    ).toEqual(['user "See\\n\\n[file a.pdf]"', "kind file 1"])
  })

  test("[IH9] the number of counted kinds is bounded for a file with unknown types", () => {
    const { kinds } = importValues([
      { role: "assistant", content: Array.from({ length: 100 }, (_, n) => ({ type: `t${n}`, n })) },
    ])
    expect(Object.keys(kinds)).toHaveLength(33)
    expect(Object.values(kinds).reduce((sum, count) => sum + count, 0)).toBe(100)
  })
})

describe("content that is not shown", () => {
  test("[IH4] messages to the model and messages from subagents are counted", () => {
    const task = { type: "tool_use", id: "t1", name: "Task", input: {} }
    const createLine = (type: string, content: unknown, fields = {}) => ({
      type,
      message: { role: type, content },
      ...fields,
    })
    const lines = [
      createLine("user", "Caveat", { isMeta: true }),
      createLine("user", "Go"),
      createLine("assistant", [task]),
      createLine("assistant", [{ type: "text", text: "inside" }], { isSidechain: true }),
      { type: "system", subtype: "turn_duration" },
    ]
    expect(printValues(...lines).filter((shown) => !shown.startsWith("  tool"))).toEqual([
      'user "Go"',
      "answer 1 interrupted",
      "kind system 2",
      "kind subagent 1",
    ])
    expect(printValues({ role: "system", content: "Be brief." }, { role: "developer", content: "x" })).toEqual([
      "kind system 2",
    ])
    // A file that contains only a subagent's messages is that subagent's conversation.
    expect(printValues(createLine("user", "Look", { isSidechain: true }))).toEqual(['user "Look"'])
  })

  test("[IH5] thinking keeps its position; encrypted and removed thinking is counted", () => {
    const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" }
    expect(
      printAnswer(
        { type: "text", text: "a" },
        thinking,
        { type: "redacted_thinking", data: "x" },
        { type: "text", text: "b" },
      ),
    ).toEqual(["answer 1", '  text "a"', '  thinking "Hm."', '  text "b"', "kind hidden_thinking 1"])
    expect(printValues({ type: "reasoning", id: "r", summary: [], encrypted_content: "gA" })).toEqual([
      "answer 0",
      "kind hidden_thinking 1",
    ])
  })
})

describe("data that other systems omit or repeat", () => {
  const chatGpt = (text: string, content_references: unknown[], more: object = {}): string[] =>
    printValues({
      current_node: "a",
      mapping: {
        a: {
          message: {
            author: { role: "assistant" },
            content: { content_type: "text", parts: [text], ...more },
            metadata: { content_references },
          },
        },
        b: { message: { author: { role: "assistant" }, content: { content_type: "text", parts: ["other"] } } },
      },
    })
  const mark = "\ue200cite\ue202turn0search0\ue201"
  const createSource = (matched_text: string, path: string) => ({
    matched_text,
    url: `https://www.example.com/${path}`,
  })

  test("[IH13] each ChatGPT reference is used once, and text that is not a reference mark is kept", () => {
    const url = "https://www.example.com/"
    expect(
      chatGpt(`One ${mark}, two ${mark}, three${mark}.`, [createSource(mark, "a"), createSource(mark, "b")])[1],
    ).toBe(`  text ${JSON.stringify(`One ([${url}a](${url}a)), two ([${url}b](${url}b)), three.`)}`)
    expect(chatGpt(`In ${mark}!`, [{ matched_text: mark, alt: "Paris" }])[1]).toBe('  text "In Paris!"')
    const many = Array.from({ length: 40 }, () => createSource("x", "x".repeat(60)))
    expect(chatGpt("x", many)[1]).toBe('  text "x"')
  })

  test("[IH14] thoughts can be a string or a list of strings", () => {
    const printThoughts = (thoughts: unknown): string[] => chatGpt("", [], { content_type: "thoughts", thoughts })
    expect(printThoughts("Hm.")[1]).toBe('  thinking "Hm."')
    expect(printThoughts(["Hm.", { summary: "So", content: "yes" }])[1]).toBe('  thinking "Hm.\\n\\nSo\\n\\nyes"')
  })

  test("[IH14] content can be a single block, a number or a list of strings", () => {
    expect(printValues({ role: "assistant", content: { type: "text", text: "obj" } })).toEqual([
      "answer 1",
      '  text "obj"',
    ])
    expect(printValues({ role: "assistant", content: 42 })[1]).toBe('  text "42"')
    expect(printValues({ role: "assistant", content: [{ type: "text", text: 5 }] })[1]).toBe('  text "5"')
    expect(printValues({ role: "assistant", content: ["a", "b"] }).slice(1)).toEqual(['  text "a"', '  text "b"'])
    expect(printValues({ role: "user", content: 42 })).toEqual(['user "42"'])
  })

  test("[IH15] messages on other branches and alternative answers are counted", () => {
    expect(chatGpt("Hi", []).at(-1)).toBe("kind branch 1")
    const createMessage = (uuid: string, parent: string) => {
      return { uuid, parent_message_uuid: parent, sender: "human", content: [{ type: "text", text: uuid }] }
    }
    const chat_messages = [createMessage("a", ""), createMessage("b", "a"), createMessage("c", "a")]
    expect(printValues({ chat_messages, current_leaf_message_uuid: "c" })).toEqual([
      'user "a"',
      'user "c"',
      "kind branch 1",
    ])
    const choices = ["one", "two", "three"].map((content) => ({ message: { role: "assistant", content } }))
    expect(printValues({ choices })).toEqual(["answer 1", '  text "one"', "kind branch 2"])
  })

  test("[IH15] a line of a type that several programs share belongs to a program only if it has that program's fields", () => {
    const types = ["label", "progress", "custom", "mode", "turn_start"]
    expect(printValues(...types.map((type) => ({ type, text: "Words" })))).toEqual(
      types.map((type) => `kind line:${type} 1`),
    )
    expect(
      printValues(
        { type: "label", id: "1", targetId: "2", label: "x" },
        { type: "custom", customType: "state", data: {} },
        { type: "turn_start" },
        { type: "mode", mode: "normal", sessionId: "s" },
      ),
    ).toEqual([])
  })

  test("[IH16] a user's words are a question, even if they resemble a note from the program", () => {
    const printClaude = (text: string): string[] =>
      printValues({ type: "user", message: { role: "user", content: text } })
    const question = "[Request interrupted by user] was what I saw yesterday - why?"
    expect(printClaude(question)).toEqual([`user ${JSON.stringify(question)}`])
    expect(printClaude("[Request interrupted by user for tool use]")).toEqual([])
    const printCodex = (...texts: string[]): string[] =>
      printValues({
        type: "response_item",
        payload: { type: "message", role: "user", content: texts.map((text) => ({ type: "input_text", text })) },
      })
    const context = "<environment_context>\n<cwd>/p</cwd>\n</environment_context>"
    const agents = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"
    expect(printCodex(agents, context, "Fix it")).toEqual(['user "Fix it"', "kind system 2"])
    expect(printCodex(context)).toEqual(["kind system 1"])
    expect(printCodex("<skill> what does this tag mean?")).toEqual(['user "<skill> what does this tag mean?"'])
    expect(printCodex("# AGENTS.md instructions are ignored")).toEqual(['user "# AGENTS.md instructions are ignored"'])
  })
})

describe("results", () => {
  const call = { type: "tool_use", id: "c1", name: "look", input: { q: "x" } }
  const createResult = (content: string) => ({ type: "tool_result", tool_use_id: "c1", content })

  test("[IH3] a repeated result counts once; a different one is a separate block", () => {
    expect(printAnswer(call, createResult("a"), createResult("a"), createResult("b"))).toEqual([
      "answer 1",
      '  tool look {"q":"x"} ok "a"',
      '  tool look {} ok "b"',
    ])
  })

  test("[IH3] a call that comes after its result is joined with it", () => {
    const orphan = { role: "tool", tool_call_id: "c1", content: "a" }
    expect(printValues(orphan, { role: "assistant", content: [call] }).slice(1)).toEqual([
      '  tool look {"q":"x"} ok "a"',
    ])
  })

  test("[IR2] a repeated call gets the fuller name and arguments", () => {
    for (const calls of [
      [{ ...call, input: {} }, call],
      [call, { ...call, input: {} }],
      [{ ...call, name: "", input: {} }, call],
    ]) {
      expect(printAnswer(...calls, createResult("a"))).toEqual(["answer 1", '  tool look {"q":"x"} ok "a"'])
    }
  })

  test("[IH3] results without a call are shown, whether before the first question or after one", () => {
    const orphan = { role: "tool", tool_call_id: "c9", name: "notify", content: "sent" }
    expect(printValues(orphan, { role: "user", content: "Hi" }, orphan)).toEqual([
      "answer 0",
      '  tool notify {} ok "sent"',
      'user "Hi"',
      "answer 0",
      '  tool notify {} ok "sent"',
    ])
  })

  test("[IH2] a call without a result is interrupted, and so is its answer", () => {
    expect(printAnswer(call)).toEqual([
      "answer 1 interrupted",
      '  tool look {"q":"x"} interrupted (The tool was interrupted.)',
    ])
  })

  test.each([
    [
      { truncated: true, totalLines: 9000, totalBytes: 70_000 },
      { lines: 9000, bytes: 70_000 },
    ],
    [{ truncated: true }, { lines: 0, bytes: 0 }],
    [
      { items: [1], hasMore: true, total_lines: 40 },
      { lines: 40, bytes: 0 },
    ],
    [{ details: { truncation: { truncated: true, totalLines: 3, totalBytes: 9 } } }, { lines: 3, bytes: 9 }],
    [{ truncated: false, totalLines: 9000 }, null],
    ["Total output lines: 800\n\nfirst", { lines: 800, bytes: 0 }],
    ["The Total output lines: 800\n", null],
  ])("[IH8] %j reports the size of the whole output, live and imported", (value, size) => {
    const record = { type: "tool_result", callId: "c1", toolName: "look", ok: true, result: value } as const
    const start = { type: "tool_call_start", callId: "c1", toolName: "look", arguments: "{}" } as const
    const imported = importValues([{ type: "user_message", text: "?" }, start, record])
    const [shown] = imported.messages.flatMap(listCalls)
    expect(shown?.outputSize).toEqual(size)
    const question = createMessage({ id: "r1", role: "assistant", exchange_id: "q1", timestamp: "" })
    const effect = interpretRecord(question, new StreamedText(), record)
    const events = effect.do === "say" ? effect.events : []
    expect(events.at(-1)).toMatchObject(size === null ? { type: "tool_result" } : { output_size: size })
    expect("output_size" in (events.at(-1) ?? {})).toBe(size !== null)
    expect(imported.messages.flatMap(segmentsOf).at(-1)).toMatchObject(size === null ? {} : { truncated: size })
  })
})

describe("hostile histories", () => {
  const nestContent = (depth: number, wrap: (inner: unknown) => object): unknown => {
    let value: unknown = { type: "text", text: "core" }
    for (let i = 0; i < depth; i++) value = wrap(value)
    return value
  }

  test("[IH7] however deeply blocks are nested, they are read only to a bounded depth", () => {
    const deep = nestContent(20_000, (inner) => ({ type: "search_result", title: "t", content: [inner] }))
    const shown = printAnswer(deep, { type: "text", text: "after" })
    expect(shown.at(-1)).toBe('  text "after"')
    expect(shown.join("").length).toBeLessThan(10_000)
    expect(printAnswer({ type: "hologram", inner: nestContent(20_000, (inner) => ({ inner })) })).toHaveLength(3)
  })

  test("[IH6] code gets a fence even if it contains very many runs of backticks", () => {
    const code = "` ".repeat(200_000)
    expect(printAnswer({ type: "canvas", content: code })[1]).toContain("```")
  })

  test("[IH9] calls beyond the limit of an answer are dropped, and counted", () => {
    const calls = Array.from({ length: 2_100 }, (_, n) => ({
      type: "tool_use",
      id: `c${n % 3}`,
      name: "look",
      input: { n },
    }))
    const pairs = calls.flatMap((call) => [
      call,
      { type: "tool_result", tool_use_id: call.id, content: `r${call.input.n}` },
    ])
    const { messages, kinds } = importValues([{ role: "assistant", content: pairs }])
    expect(messages.flatMap(listCalls)).toHaveLength(2_000)
    expect(kinds).toEqual({ call: 100 })
  })
})
