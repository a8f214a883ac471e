/** card-texts.test.ts: tests the payload of a chart card, the card's Markdown, and text that repeats a card. */

import fc from "fast-check"
import { Marked } from "marked"
import { describe, expect, test } from "vitest"
import { cardToMarkdown } from "../../shared/card/card-markdown.ts"
import { MAX_CHART_LABEL_CHARS, MAX_CHART_POINTS } from "../../shared/card/card-limits.ts"
import { chartToMarkdown, isChartPayload, parseChartPayload } from "../../shared/card/chart-payload.ts"
import { repeatsFigures } from "../../shared/card/repeated-text.ts"
import { assertProperty } from "../support/seeded.ts"

const CHART = {
  title: "Drinks",
  kind: "bar",
  unit: "",
  data: [
    { label: "tea", value: 4 },
    { label: "coffee", value: -7.5 },
  ],
} as const

describe("a chart payload", () => {
  test("[CA10] has a title, a kind, a unit and points; other fields are ignored", () => {
    expect(parseChartPayload({ ...CHART, data: CHART.data.map((point) => ({ ...point })) })).toMatchObject(CHART)
    expect(isChartPayload({ ...CHART, more: 1 })).toBe(true)
  })

  test.each<[string, object]>([
    ["no title", { title: undefined }],
    ["another kind", { kind: "pie" }],
    ["no unit", { unit: undefined }],
    ["a long unit", { unit: "kilometres per hour" }],
    ["no points", { data: [] }],
    ["too many points", { data: Array.from({ length: MAX_CHART_POINTS + 1 }, () => ({ label: "a", value: 1 })) }],
    ["a label that isn't text", { data: [{ label: 1, value: 1 }] }],
    ["a long label", { data: [{ label: "a".repeat(MAX_CHART_LABEL_CHARS + 1), value: 1 }] }],
    ["a figure that isn't a number", { data: [{ label: "a", value: "1" }] }],
    ["an infinite figure", { data: [{ label: "a", value: Number.POSITIVE_INFINITY }] }],
    ["a figure that is too large", { data: [{ label: "a", value: 1e16 }] }],
    ["a point without a value", { data: [{ label: "a" }] }],
  ])("[CA10] with %s is invalid", (_, change) => {
    expect(isChartPayload({ ...CHART, ...change })).toBe(false)
  })

  test("[CA10] must be an object whose fields aren't inherited", () => {
    for (const value of [null, undefined, 1, "x", [], [CHART], Object.create(CHART)])
      expect(isChartPayload(value)).toBe(false)
  })
})

describe("a chart as Markdown", () => {
  test("[CA12] is a table; other cards have no Markdown of their own", () => {
    expect(cardToMarkdown("chart_1", JSON.parse(JSON.stringify(CHART)))).toBe(
      "| Drinks |  |\n|---|---:|\n| tea | 4 |\n| coffee | -7.5 |",
    )
    expect(cardToMarkdown("chart_1", { title: "x" })).toBeNull()
    expect(cardToMarkdown("weather_1", JSON.parse(JSON.stringify(CHART)))).toBeNull()
  })

  test("[CA12] keeps text within its cells", () => {
    const label = fc.string({ unit: fc.constantFrom("|", "\n", "\\", "`", "<b>", "*", "a", " ", "\r", "[", "](", "~") })
    assertProperty(
      fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), (labels) => {
        const data = labels.map((one) => ({ label: one, value: 1 }))
        const tokens = new Marked().lexer(chartToMarkdown({ title: labels[0] ?? "", kind: "bar", unit: "|", data }))
        const tables = tokens.filter(({ type }) => type === "table")
        expect(tables).toHaveLength(1)
        expect(tables[0]).toMatchObject({ rows: { length: labels.length } })
      }),
    )
  })
})

describe("text that repeats its card", () => {
  const figures = [12.4, 54.3, 10, 78, 14, 9, null, 70]

  test.each([
    ["It is 12 °C in London with a partly cloudy sky.", true],
    ["It is 12.4 °C. Tomorrow: rain, 9 to 14 °C, 70% chance of rain.", true],
    ["It is 12 °C. Take an umbrella.", false],
    ["It is 13 °C.", false],
    ["Cool, with some sun.", false],
    ["", false],
    ["Im Moment sind es 12,4 °C.", true],
    ["气温 12 度。明天 9 度。", true],
    ["气温 12 度。请带伞。", false],
    [`It is 12 °C${" and so on".repeat(60)}.`, false],
  ])("[CA9] %j: %s", (text, isRepeated) => {
    expect(repeatsFigures(text, figures)).toBe(isRepeated)
  })

  test("[CA9] minus signs and ranges are recognised", () => {
    expect(repeatsFigures("It is -3 °C, later −3 °C.", [-3])).toBe(true)
    expect(repeatsFigures("From 4-9 °C.", [4, 9])).toBe(true)
  })
})
