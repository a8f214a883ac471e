/** search-words.test.ts: tests how search splits text into words, parses queries and creates snippets. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseSearchQuery, phrasesToMatch } from "../../worker/search/search-query.ts"
import { createSnippet, hasAllPhrases } from "../../worker/search/snippet.ts"
import { MAX_MESSAGE_TEXT_CHARS, toMessageText } from "../../worker/search/turn-texts.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { listWords, toIndexText } from "../../worker/search/word-list.ts"
import { assertProperty } from "../support/seeded.ts"

const phrasesOf = (query: string) => parseSearchQuery(query) ?? []
const finds = (query: string, text: string): boolean => hasAllPhrases(listWords(text), phrasesOf(query))

describe("words", () => {
  test.each([
    ["Grüße aus ÅLESUND", "grusse aus alesund"],
    ["Ελλάδα, ёлка, Ørsted", "ελλαδα елка orsted"],
    ["مُحَمَّد إلى المدرسة", "محمد الي المدرسة"],
    ["don't e-mail C3PO", "don t e mail c3po"],
    ["हिन्दी भाषा", "हिन्दी भाषा"],
    ["서울에서 만나요", "서울에서 만나요"],
    ["東京の天気", "東京 京の の天 天気 気"],
    ["ภาษา", "ภา าษ ษา า"],
    ["RAMを買う", "ram を買 買う う"],
    ["", ""],
    ["👍 … !", ""],
  ])("[FT2] %j is indexed as %j", (text, indexed) => {
    expect(toIndexText(text)).toBe(indexed)
  })

  test("[FT2] a very long word is shortened", () => {
    expect(toIndexText("x".repeat(5_000))).toBe("x".repeat(64))
  })
})

describe("queries", () => {
  test.each([
    ["weather oslo", '{a b} : ("weather" AND "oslo" *)'],
    ["weather ", '{a b} : ("weather")'],
    ['"rain or shine" x', '{a b} : ("rain or shine" AND "x")'],
    ["e-mail", '{a b} : ("e mail" *)'],
    ["天気", '{a b} : ("天気")'],
    ["天", '{a b} : ("天" *)'],
    ["東京tower", '{a b} : ("東京 京 tower" *)'],
    ["서울 날씨 ", '{a b} : ("서울" * AND "날씨" *)'],
    ['NEAR(a b) OR title:x* -"c', '{a b} : ("near a" AND "b" AND "or" AND "title x" AND "c")'],
  ])("[FT2] [FT35] %j becomes the expression %j", (query, match) => {
    expect(phrasesToMatch(phrasesOf(query), ["a", "b"])).toBe(match)
  })

  test("[FT35] a query without a word, or with too many, is refused", () => {
    for (const query of ["", '""', "… ! -", "a ".repeat(41)]) expect(parseSearchQuery(query)).toBeNull()
  })

  test("[FT35] whatever is typed, the expression contains only quoted words, prefixes and AND", () => {
    assertProperty(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (query) => {
        const phrases = parseSearchQuery(query)
        if (phrases === null) return
        const match = phrasesToMatch(phrases, ["a"])
        expect(match).toMatch(/^\{a\} : \("[^"]+"(?: \*)?(?: AND "[^"]+"(?: \*)?)*\)$/)
      }),
    )
  })

  test.each([
    ["oslo", "The weather in OSLO", true],
    ["weath", "The weather", true],
    ["weath x", "The weather", false],
    ['"the weather"', "The, weather", true],
    ['"weather the"', "The weather", false],
    ["京都", "東京都", true],
    ["都京", "東京都", false],
    ["مدرسة", "الى مَدرسة كبيرة", true],
  ])("[FT2] %j in %j: %j", (query, text, isFound) => {
    expect(finds(query, text)).toBe(isFound)
  })
})

test("[FT3] the search covers only the beginning of a very long message, and the names of its files", () => {
  const message = createMessage({
    id: "m",
    role: "user",
    exchange_id: "m",
    status: "completed",
    timestamp: "2026-01-01",
  })
  const { text } = toMessageText({ ...message, words: `${"word ".repeat(8_000)} quartz` })
  expect(text.length).toBe(MAX_MESSAGE_TEXT_CHARS)
  const file = { id: "f", kind: "file", mime_type: "text/csv", label: "budget.csv", size: 1 } as const
  expect(toMessageText({ ...message, words: "See", attachments: [file] }).text).toBe("See\nbudget.csv")
})

describe("snippets", () => {
  test("[FT1] a snippet is the part of the text with the most hits, and marks the hits", () => {
    const text = `Oslo once. ${"Filler text goes here. ".repeat(30)}In Oslo there is rain, and more rain. ${"End. ".repeat(60)}`
    const { parts, found } = createSnippet(text, phrasesOf("oslo rain"))
    expect(found).toBe(2)
    expect(parts.filter(({ hit }) => hit).map(({ text: one }) => one)).toEqual(["Oslo", "rain", "rain"])
    expect(parts[0]).toEqual({ text: "…", hit: false })
    expect(parts.at(-1)?.text.endsWith("…")).toBe(true)
    expect(parts.map((part) => part.text).join("").length).toBeLessThan(200)
  })

  test("[FT1] in a script without spaces, a snippet marks the characters that match", () => {
    expect(createSnippet("明日の東京の天気", phrasesOf("東京")).parts).toEqual([
      { text: "明日の", hit: false },
      { text: "東京", hit: true },
      { text: "の天気", hit: false },
    ])
  })

  test("[FT1] the joined parts of a snippet are part of the text, whatever the text contains", () => {
    assertProperty(
      fc.property(fc.string({ unit: "grapheme", maxLength: 600 }), fc.string({ maxLength: 3 }), (text, query) => {
        const { parts } = createSnippet(text, phrasesOf(query))
        const joined = parts.map((part) => part.text).join("")
        expect(joined.isWellFormed()).toBe(true)
        const inner = joined.replace(/^…|…$/g, "")
        expect(text.toWellFormed().replace(/\s+/g, " ")).toContain(inner.replace(/\s+/g, " ").replace(/^…|…$/g, ""))
      }),
    )
  })
})
