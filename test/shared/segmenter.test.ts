/**
 * segmenter.test.ts: tests the segments of text and tool results (streamed and whole), cues, messages, and how spans
 * are stripped.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { resolveCardTag, extractResultData } from "../../shared/protocol/card-cue.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Op, Segment } from "../../shared/protocol/segment.ts"
import { toCanonicalJson, parseJson } from "../../shared/json.ts"
import { MAX_CARD_BYTES, MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "../../shared/limits.ts"
import { fold, createMessage } from "../../shared/protocol/message.ts"
import { clean } from "../../shared/sanitize/clean.ts"
import { createSegmenter, messageToWire, parse, plainText, segmentsOf } from "../../shared/segment/segmenter.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import { truncateLines, countUtf8Bytes } from "../../shared/truncate.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"
import { cutsOf, assertProperty } from "../support/seeded.ts"

const EMPTY = createMessage({ id: "m", role: "assistant", exchange_id: "u", timestamp: "2026-01-01T00:00:00.000Z" })

/** The original implementation's parser. For rows without `card`, our parser must return the same result. */
function originalParse(content: string, rows: readonly { result: string }[]): unknown[] {
  const segments: unknown[] = []
  let cursor = 0
  for (const match of content.matchAll(/<span\s+id=['"]([a-z][a-z0-9_]*)_(\d+)['"]\s*>([\s\S]*?)<\/span>/gi)) {
    const head = content.slice(cursor, match.index).trim()
    if (head !== "") segments.push({ type: "text", content: head })
    const tag = `${match[1]}_${match[2]}`
    const synthesis = (match[3] ?? "").trim()
    const row = rows.find(({ result }) => {
      const trailer = result.slice(result.indexOf("\n\n"))
      return trailer.includes(`<span id='${tag}'>`) || trailer.includes(`<span id="${tag}">`)
    })
    if (row !== undefined) {
      const data = row.result.slice(0, row.result.indexOf("\n\n"))
      segments.push({ type: "rich", tag, payload: parseJson(data) ?? data, synthesis })
    } else if (synthesis !== "") segments.push({ type: "text", content: synthesis })
    cursor = match.index + match[0].length
  }
  const tail = content.slice(cursor).trim()
  if (tail !== "") segments.push({ type: "text", content: tail })
  return segments
}

const ROWS = [
  { name: "weather", ordinal: 1, result: `{"c":1}\n\n${createCardTrailer("weather_1")}` },
  { name: "weather", ordinal: 2, result: `{"c":2}\n\nuse <span id="weather_2">x</span>` },
  { name: "note", ordinal: 1, result: `plain\n\n${createCardTrailer("note_1")}` },
]

const TOKENS = fc.oneof(
  fc.constantFrom("<span id='weather_1'>", '<span id="weather_2">', "<span id='weather_9'>", "<span  id='note_1' >"),
  fc.constantFrom(
    "</span>",
    "<span>",
    "<SPAN ID='weather_1'>",
    "</SPAN>",
    "<span id='weather_1\">",
    "<spa",
    "<",
    ">",
    "</",
  ),
  fc.constantFrom(" ", "\n", "\n\n", "  ", "\t", "a", "wörter", "😀", "'", '"', "<span id=", "1.", "- ", "> "),
)
const TEXT = fc.array(TOKENS, { maxLength: 24 }).map((tokens) => tokens.join(""))

describe("parse", () => {
  test("[SG10] agrees with the original regular expression for text without code, backslashes or entities", () => {
    assertProperty(
      fc.property(TEXT, (text) => {
        expect(parse(text, ROWS)).toEqual(originalParse(text, ROWS))
      }),
    )
  })

  test("[SG10] without `card`, data that isn't JSON becomes a string payload", () => {
    expect(parse("<span id='note_1'>n</span>", ROWS)).toEqual([
      { type: "rich", tag: "note_1", payload: "plain", synthesis: "n" },
    ])
  })

  test("[SG10] a row cues only the tag in its `card`, and cues nothing if that is null", () => {
    const result = `{"a":1}\n\n${createCardTrailer("t_1")}`
    const text = "<span id='t_1'>x</span>"
    expect(parse(text, [{ name: "t", ordinal: 1, result, card: null }])).toEqual([{ type: "text", content: "x" }])
    expect(parse(text, [{ name: "t", ordinal: 1, result, card: "t_1", call_id: "c" }])).toEqual([
      { type: "rich", tag: "t_1", payload: { a: 1 }, synthesis: "x", call_id: "c" },
    ])
  })

  test("[SG1] text that is split anywhere gives the same segments, and the same state after every chunk", () => {
    const withCode = fc
      .array(fc.oneof(TOKENS, fc.constantFrom("`", "``", "\n```\n", "~~~", "\\", "`x`")), { maxLength: 24 })
      .map((tokens) => tokens.join(""))
    const cases = withCode.chain((text) => cutsOf(text).map((chunks) => ({ text, chunks })))
    assertProperty(
      fc.property(cases, ({ text, chunks }) => {
        const cut = createSegmenter(ROWS)
        let live: Segment[] = []
        let soFar = ""
        for (const chunk of chunks) {
          live = apply(live, cut.push(chunk))
          soFar += chunk
          const whole = apply([], createSegmenter(ROWS).push(soFar))
          expect(toCanonicalJson(live)).toBe(toCanonicalJson(whole))
        }
        live = apply(live, cut.end())
        expect(toCanonicalJson(live)).toBe(toCanonicalJson(parse(text, ROWS)))
      }),
    )
  })

  /** Generates text with spans inside Markdown that can be left empty when a span is removed. */
  const MARKUP = fc
    .array(
      fc.oneof(
        { arbitrary: fc.constantFrom("<span id='weather_1'>Cool.</span>", '<span id="weather_9">x</span>'), weight: 3 },
        fc.constantFrom("<span id='weather_2'>", "</span>", "<b>", "</b>", "<br>", "`", "\n```\n", "\\"),
        fc.constantFrom("*", "**", "***", "_", "~~", "|", "\n", "\n\n", " ", "  ", ".", ", ", "(", ")", "—", ":"),
        fc.constantFrom("- ", "* ", "1. ", "2) ", "> ", "# ", "[ ] ", "---", "\n- ", "\n> ", "\n1. ", "| ", " |\n| "),
        fc.constantFrom("word", "wörter", "你好", "😀", "\u2060", "<", "*".repeat(300), " ".repeat(300)),
        fc.constantFrom("1", "123456789", "[", "]", "</strong>".repeat(30), "> ".repeat(129)),
      ),
      { maxLength: 20 },
    )
    .map((pieces) => pieces.join(""))

  test("[SG15] wherever the text is cut, the same markup is removed at every point", () => {
    const cases = MARKUP.chain((text) => cutsOf(text).map((chunks) => ({ text, chunks })))
    assertProperty(
      fc.property(cases, ({ text, chunks }) => {
        const cut = createSegmenter(ROWS, { trimsMarkup: true })
        let live: Segment[] = []
        let soFar = ""
        for (const chunk of chunks) {
          live = apply(live, cut.push(chunk))
          soFar += chunk
          const whole = apply([], createSegmenter(ROWS, { trimsMarkup: true }).push(soFar))
          expect(toCanonicalJson(live)).toBe(toCanonicalJson(whole))
        }
        const whole = createSegmenter(ROWS, { trimsMarkup: true })
        const segments = apply([], [...whole.push(text), ...whole.end()])
        expect(toCanonicalJson(apply(live, cut.end()))).toBe(toCanonicalJson(segments))
      }),
    )
  })

  test.each([
    ["an incomplete number", `${"> ".repeat(129)}1`, ". **<span id='weather_1'>Cool.</span>"],
    ["an incomplete checkbox", `${"> ".repeat(129)}[`, "x] **<span id='weather_1'>Cool.</span>"],
    ["an end tag at the limit", `<span id='weather_1'>x</span>${"</strong>".repeat(29)}`, "</strong>now"],
  ])("[SG15] a run of markup over the limit can be cut at %s", (_what, head, tail) => {
    const segmenter = createSegmenter(ROWS, { trimsMarkup: true })
    const whole = apply([], [...segmenter.push(head + tail), ...segmenter.end()])
    const cut = createSegmenter(ROWS, { trimsMarkup: true })
    expect(apply([], [...cut.push(head), ...cut.push(tail), ...cut.end()])).toEqual(whole)
    const single = createSegmenter(ROWS, { trimsMarkup: true })
    const ops = (head + tail).split("").flatMap((unit) => single.push(unit))
    expect(apply([], [...ops, ...single.end()])).toEqual(whole)
  })

  const toText = (segment: Segment): string =>
    segment.type === "text" ? segment.content : segment.type === "rich" ? segment.synthesis : ""

  test("[SG15] keeps every word and card, in order", () => {
    const wordsOf = (segments: readonly Segment[]): string =>
      segments
        .map((segment) => `${segment.type === "rich" ? "#" : ""}${toText(segment).replace(/<\/?(?:b|br|span)>/g, "")}`)
        .join("")
    assertProperty(
      fc.property(MARKUP, (text) => {
        const segmenter = createSegmenter(ROWS, { trimsMarkup: true })
        const trimmed = wordsOf(apply([], [...segmenter.push(text), ...segmenter.end()]))
        const lettersOf = (value: string): string => value.replace(/[^\p{L}\p{So}]/gu, "")
        expect(lettersOf(trimmed)).toBe(lettersOf(wordsOf(parse(text, ROWS))))
      }),
    )
  })

  test.each([
    [
      "encloses a span begins again in the text after it",
      "**<span id='weather_1'>Cool.</span> now**",
      ["#Cool.", "**now**"],
    ],
    [
      "encloses a span doesn't begin again in the next paragraph",
      "**<span id='weather_1'>Cool.</span>\n\nNow",
      ["#Cool.", "Now"],
    ],
    [
      "with text before its span keeps its markers",
      "**Paris <span id='weather_1'>Cool.</span> now**",
      ["**Paris", "#Cool.", "now**"],
    ],
  ])("[SG17] emphasis that %s", (_what, text, shown) => {
    const segmenter = createSegmenter(ROWS, { trimsMarkup: true })
    const segments = apply([], [...segmenter.push(text), ...segmenter.end()])
    expect(segments.map((segment) => `${segment.type === "rich" ? "#" : ""}${toText(segment)}`)).toEqual(shown)
  })

  test("[SG1] a live card opens with its payload when its tag is complete, and its text streams in", () => {
    const segmenter = createSegmenter(ROWS)
    const ops: Op[][] = ["In Paris: <span id='weather_1'", "> co", "ol ", "and dry", "</span> bye"].map((chunk) =>
      segmenter.push(chunk),
    )
    expect(ops).toEqual([
      [{ op: "open", at: 0, segment: { type: "text", content: "In Paris:" } }],
      [
        { op: "open", at: 1, segment: { type: "rich", tag: "weather_1", payload: { c: 1 }, synthesis: "" } },
        { op: "text", at: 1, offset: 0, text: "co" },
      ],
      [{ op: "text", at: 1, offset: 2, text: "ol" }],
      [{ op: "text", at: 1, offset: 4, text: " and dry" }],
      [{ op: "open", at: 2, segment: { type: "text", content: "bye" } }],
    ])
  })

  test("[SG5] an abandoned card is removed, and its text continues the preceding text", () => {
    const segmenter = createSegmenter(ROWS)
    segmenter.push("Hello <span id='weather_1'>co")
    expect(segmenter.end()).toEqual([
      { op: "cut", to: 1 },
      { op: "text", at: 0, offset: 5, text: " <span id='weather_1'>co" },
    ])
    expect(segmenter.drift).toEqual([{ reason: "mark_unclosed", tag: "weather_1" }])
  })
})

describe("cues", () => {
  test.each<[string, string, string | null]>([
    ["its own trailer", `{"a":1}\n\n${createCardTrailer("t_1")}`, "t_1"],
    ["no trailer", '{"a":1}', null],
    ["the trailer of another tool", `{"a":1}\n\n${createCardTrailer("u_1")}`, null],
    ["a tag in the data", `{"a":"<span id='t_1'>"}`, null],
    ["data that isn't JSON", `words\n\n${createCardTrailer("t_1")}`, null],
    ["a wrapper around it", `[t(x)]\n{"a":1}\n\n${createCardTrailer("t_1")}\n[end:t]`, "t_1"],
    ["a fake end inside the data", `{"a":"[end:t]"}\n\n${createCardTrailer("t_1")}`, "t_1"],
    ["a payload over the limit", `${JSON.stringify("x".repeat(MAX_CARD_BYTES))}\n\n${createCardTrailer("t_1")}`, null],
  ])("[SG6] %s", (_what, result, card) => {
    expect(resolveCardTag("t", 1, result)).toBe(card)
  })

  test("[SG3] a call without an ordinal, as on any channel except `user`, cues nothing", () => {
    expect(resolveCardTag("t", null, `{}\n\n${createCardTrailer("t_1")}`)).toBeNull()
  })

  test("[SG11] a trailer is never shown, even if it cued no card", () => {
    const trailers = [createCardTrailer("t_1"), createCardTrailer("t_77"), 'say <span id="t_2">']
    for (const trailer of trailers) expect(extractResultData({ name: "t", result: `head\n\n${trailer}` })).toBe("head")
    expect(extractResultData({ name: "t", result: "two\n\nparagraphs" })).toBe("two\n\nparagraphs")
  })
})

describe("messages", () => {
  const call: TurnEvent[] = [
    { type: "tool_call", call_id: "c", name: "t", args: "{}" },
    { type: "tool_call_start", call_id: "c", channel: "user", ordinal: 1 },
  ]
  const createResult = (text: string): TurnEvent => ({
    type: "tool_result",
    call_id: "c",
    status: "ok",
    result: text,
    card: null,
    error: null,
  })

  test("[SG9] a long result is cut at a line ending, and `truncated` reports its full size", () => {
    const lines = Array.from({ length: MAX_SHOWN_LINES + 500 }, (_, i) => `line ${i}`).join("\n")
    const [segment] = segmentsOf([...call, createResult(lines)].reduce(fold, EMPTY))
    if (segment?.type !== "tool") throw new Error("no tool")
    expect(segment.truncated).toEqual({ lines: MAX_SHOWN_LINES + 500, bytes: lines.length })
    expect(lines.startsWith(segment.result ?? "-")).toBe(true)
    expect(segment.result?.endsWith(`line ${MAX_SHOWN_LINES - 1}\n`)).toBe(true)
  })

  test("[SG9] a single line over the limit is cut between code points, within the limit", () => {
    assertProperty(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.nat({ max: 60 }), (text, bytes) => {
        const well = text.toWellFormed().replaceAll("\n", "")
        const shown = truncateLines(well, 10, bytes)
        expect(countUtf8Bytes(shown.text)).toBeLessThanOrEqual(Math.max(bytes, shown.truncated ? 0 : bytes))
        expect(well.startsWith(shown.text)).toBe(true)
        expect(shown.text.isWellFormed()).toBe(true)
      }),
      2_000,
    )
    expect(countUtf8Bytes("é😀a")).toBe(7)
    expect(truncateLines("x".repeat(MAX_SHOWN_BYTES + 1), 10, MAX_SHOWN_BYTES).text).toHaveLength(MAX_SHOWN_BYTES)
  })

  test("[SG12] plain text contains only the prose", () => {
    const events: TurnEvent[] = [
      { type: "thinking_delta", delta: "hm" },
      { type: "text_delta", delta: "In **Paris** <b>now</b>: <span id='x_1'>cool</span> `<b>` a &lt;T>" },
    ]
    expect(plainText(events.reduce(fold, EMPTY))).toBe("In **Paris** now:\n\ncool\n\n`<b>` a <T>")
    expect(plainText({ ...EMPTY, role: "user", words: "<b>" })).toBe("<b>")
  })

  test.each([
    ["<p>a</p><p>b</p>", "a b"],
    ["a<br>b<hr>c", "a b c"],
    ["<table><tr><th>City</th><td>Paris</td></tr></table><ul><li>x</li><li>y</li></ul>z", "City Paris x y z"],
    ["<p>a </p>\n<p> b</p>", "a \n b"],
    ["H<sub>2</sub>O is <b>w</b>et<span id='x_1'>ter</span>", "H2O is wet\n\nter"],
    ["`<p>`<p>a</p>", "`<p>` a"],
    ["<div>a</div><section>b</section><div>c", "a b c"],
  ])("[SG12] the plain text of %j keeps words apart", (raw, expected) => {
    const message = [{ type: "text_delta", delta: clean(raw) } as const].reduce(fold, EMPTY)
    expect(plainText(message)).toBe(expected)
    const hostile = [{ type: "text_delta", delta: "<p>".repeat(50_000) } as const].reduce(fold, EMPTY)
    expect(plainText(hostile)).toBe("")
  })

  test("[DR5] an external answer has no current message to reply to, but can name one", () => {
    const wireOf = (text: string, mode: string) => {
      const part = {
        type: "text",
        step: 1,
        text,
        open: false,
        grants: { origins: [], replies: ["m1"], assets: [] },
      } as const
      return messageToWire({ ...EMPTY, mode, parts: [part], status: "completed" })
    }
    expect(wireOf("[[reply_to_current]] Yes", "chat")).toMatchObject({ reply_to: "u" })
    const external = wireOf("[[reply_to_current]] Yes", "external")
    expect([external.segments, external.reply_to]).toEqual([[{ type: "text", content: "Yes" }], undefined])
    expect(wireOf("[[reply_to:m1]][[reply_to_current]]Yes", "external").reply_to).toBe("m1")
  })

  test("[EV5] a user's message is one text segment and is never parsed", () => {
    const words =
      "<span id='weather_1'>x</span> **b**\nMEDIA: https://a.com/x.png\n[embed ref='a' /] [[reply_to_current]]"
    const wire = messageToWire({ ...EMPTY, role: "user", words })
    expect(wire).toMatchObject({ content: words, segments: [{ type: "text", content: words }] })
    expect(wire.reply_to).toBeUndefined()
  })
})

describe("stripSpans", () => {
  test.each([
    ["<span id='weather_1'>x</span>", "x"],
    ["a <span id='weather_1'>x</span> b <span id=\"t_2\">y</span>", "a x b y"],
    ["<span id='a_1'>two\nlines</span>", "two\nlines"],
    ["", ""],
    ["<span class='x'>y</span>", "<span class='x'>y</span>"],
  ])("[SG12] %j becomes %j", (text, expected) => {
    expect(stripSpans(text)).toBe(expected)
    expect(stripSpans(stripSpans(text))).toBe(expected)
  })
})
