/** card-view.test.ts: tests what a card's template may contain, and what a card shows from a tool's result. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MAX_VIEW_COMPONENTS, MAX_VIEW_DEPTH } from "../../../shared/card/view/card-template.ts"
import { MAX_VIEW_ROWS } from "../../../shared/protocol/cards/card-bounds.ts"
import { checkSchema } from "../../../shared/json-schema/check-schema.ts"
import { checkValue } from "../../../shared/json-schema/match-schema.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../../shared/card/view/view-labels.ts"
import { viewToMarkdown } from "../../../shared/card/view/view-markdown.ts"
import type { Json } from "../../../shared/json.ts"
import { assertProperty } from "../../support/seeded.ts"
import { readTemplate, readTemplates } from "./card-templates.ts"

const ENGLISH = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }

const text = (id: string, of: unknown) => ({ id, component: "Text", text: of })
/** Creates a template with the given components, for results such as `{a: 1, rows: [{b: "x"}]}`. */
const template = (view: readonly object[], more: object = {}) => ({
  for: "probe_data",
  title: "Card",
  schema: { type: "object" },
  view,
  samples: [{ a: 1, s: "text", rows: [{ b: "x" }], at: "2026-05-02T14:00:00Z" }],
  ...more,
})
const check = (body: unknown) => checkTemplate(body as Json)
const fill = (view: readonly object[], result: Json) => fillView({ title: "Card", view } as never, result, ENGLISH)

describe("shipped templates", () => {
  test.each([...readTemplates()])("[CV1] %s passes the check, and all its bindings find a value", (_, shipped) => {
    expect(check(shipped)).toEqual({ ok: true, template: shipped })
  })

  test("[CV12] a card is a list or a table in Markdown", () => {
    const markdown = [...readTemplates()].map(([name, shipped]) => {
      const filled = fillView(shipped, shipped.samples[0] ?? null, ENGLISH)
      return `### ${name}\n\n${filled === null ? "nothing" : viewToMarkdown(filled)}`
    })
    expect(markdown.join("\n\n")).toMatchSnapshot()
  })
})

describe("a template", () => {
  test.each<[string, string, unknown]>([
    ["isn't an object", "", []],
    ["has an unknown field", "/html", template([text("root", "a")], { html: "<b>" })],
    ["is for no tool", "/for", template([text("root", "a")], { for: "" })],
    ["is for a tool with its own card", "/for", template([text("root", "a")], { for: "weather" })],
    ["has no components", "/view", template([])],
    ["has no root", "/view", template([text("a", "a")])],
    ["has an unknown component", "/view/0/component", template([{ id: "root", component: "Html", html: "<b>" }])],
    [
      "has an unknown field in a component",
      "/view/0/onClick",
      template([{ ...text("root", "a"), onClick: "alert(1)" }]),
    ],
    ["misnames a label", "/view/0/text/args/name", template([text("root", { call: "label", args: { name: "html" } })])],
    [
      "has a label without its value",
      "/view/0/text/args/value",
      template([text("root", { call: "label", args: { name: "resultsFor" } })]),
    ],
    [
      "has a label with a value that the label has no placeholder for",
      "/view/0/text/args/value",
      template([text("root", { call: "label", args: { name: "done", value: { path: "/a" } } })]),
    ],
    [
      "chooses a label with a value",
      "/view/0/text/args/cases/1",
      template([
        text("root", {
          call: "choose",
          args: {
            value: { path: "/a" },
            cases: { 1: { call: "label", args: { name: "timer", value: { path: "/a" } } } },
          },
        }),
      ]),
    ],
    ["uses an id twice", "/view/1/id", template([text("root", "a"), text("root", "b")])],
    ["names a missing component", "/view/0/child", template([{ id: "root", component: "Card", child: "b" }])],
    ["contains itself", "/view/0/child", template([{ id: "root", component: "Card", child: "root" }])],
    ["has an unused component", "/view/1", template([text("root", "a"), text("b", "b")])],
    [
      "builds a URL",
      "/view/0/url",
      template([{ id: "root", component: "Link", text: "a", url: { call: "join", args: {} } }]),
    ],
    [
      "links to a script",
      "/view/0/url",
      template([{ id: "root", component: "Link", text: "a", url: "javascript:alert(1)" }]),
    ],
    ["has an unknown function", "/view/0/text/call", template([text("root", { call: "formatString", args: {} })])],
    ["has an expression as a pointer", "/view/0/text/path", template([text("root", { path: "/a~" })])],
    ["starts at an item outside of a list", "/view/0/text", template([text("root", { path: "b" })])],
    [
      "has one argument too many",
      "/view/0/text/args/format",
      template([text("root", { call: "formatDate", args: { value: { path: "/at" }, format: "yyyy" } })]),
    ],
    [
      "finds no value in its samples",
      "/view/0/children/1",
      template([{ id: "root", component: "Row", children: ["a", 7] }]),
    ],
    [
      "binds to a field that no sample has",
      "/view/1/text",
      template([
        { id: "root", component: "Row", children: ["a", "b"] },
        text("a", { path: "/nothing" }),
        text("b", "b"),
      ]),
    ],
    ["has no samples", "/samples", template([text("root", "a")], { samples: [] })],
    [
      "has a sample that its schema refuses",
      "/samples/0",
      template([text("root", "a")], { schema: { type: "object", required: ["z"] } }),
    ],
    ["shows nothing of a sample", "/view/0/text", template([text("root", { path: "/z" })])],
  ])("[CV2] [CV42] that %s is refused at %s", (_, pointer, body) => {
    expect(check(body)).toMatchObject({ ok: false, pointer })
  })

  test("[CV2] has a bounded number of components, levels and bytes", () => {
    const ids = Array.from({ length: MAX_VIEW_COMPONENTS }, (_, i) => `c${i}`)
    const many = [{ id: "root", component: "Column", children: ["c0"] }, ...ids.map((id) => text(id, "a"))]
    expect(check(template(many))).toMatchObject({ ok: false, pointer: "/view" })
    const nested = (levels: number) =>
      Array.from({ length: levels }, (_, i) =>
        i + 1 === levels
          ? text(i === 0 ? "root" : `n${i}`, "a")
          : { id: i === 0 ? "root" : `n${i}`, component: "Card", child: `n${i + 1}` },
      )
    expect(check(template(nested(MAX_VIEW_DEPTH)))).toMatchObject({ ok: true })
    expect(check(template(nested(MAX_VIEW_DEPTH + 1)))).toMatchObject({ ok: false })
    const long = { ...text("root", "a"), id: "root" }
    expect(check(template([long], { schema: { description: "x".repeat(70_000) } }))).toMatchObject({
      ok: false,
      pointer: "",
    })
    expect(check(template([text("root", "x".repeat(3_000))]))).toMatchObject({ ok: false, pointer: "/view/0/text" })
  })
})

describe("a card's schema", () => {
  test.each(["pattern", "patternProperties", "$ref", "$dynamicRef", "$defs", "not", "oneOf", "if", "uniqueItems"])(
    "[CV3] can't have %s",
    (keyword) => {
      const problem = checkSchema({ properties: { a: { [keyword]: "x" } } }, "/schema")
      expect(problem?.pointer).toBe(`/schema/properties/a/${keyword}`)
    },
  )

  test("[CV3] the error for a value contains the value's position", () => {
    const schema: Json = {
      type: "object",
      properties: { rows: { type: "array", items: { type: "integer", minimum: 1 } } },
    }
    expect(checkSchema(schema, "")).toBe(null)
    expect(checkValue(schema as never, { rows: [1, 2] })).toBe(null)
    expect(checkValue(schema as never, { rows: [1, 0] })?.pointer).toBe("/rows/1")
    expect(checkValue(schema as never, { rows: [1, "2"] })?.pointer).toBe("/rows/1")
    expect(checkValue({ additionalProperties: false }, { __proto__: null, a: 1 } as never)?.pointer).toBe("/a")
  })

  test("[CV3] checking many alternatives for many items stops at a limit", () => {
    const deep = Array.from({ length: 20 }).reduce<Json>((items) => ({ items }), {})
    expect(checkSchema(deep, "")?.problem).toContain("levels")
    expect(checkSchema({ anyOf: Array.from({ length: 600 }, () => ({})) }, "")?.problem).toContain("schemas")
    const wide: Json = { items: { anyOf: Array.from({ length: 400 }, () => ({ type: "string" })) } }
    expect(checkSchema(wide, "")).toBe(null)
    expect(
      checkValue(
        wide as never,
        Array.from({ length: 30_000 }, () => 1),
      )?.problem,
    ).toBeDefined()
  })
})

describe("a filled card", () => {
  test("[CV5] formats values in the reader's language", () => {
    const result = { n: 1234.5, p: 0.256, c: "EUR", d: "2026-05-02", t: 3725, k: 2, s: "late" }
    const value = (path: string) => ({ path })
    const values = [
      { call: "formatNumber", args: { value: value("/n"), decimals: 2, unit: "km" } },
      { call: "formatPercent", args: { value: value("/p"), decimals: 1 } },
      { call: "formatCurrency", args: { value: value("/n"), currency: value("/c") } },
      { call: "formatDate", args: { value: value("/d"), style: "date" } },
      { call: "formatDuration", args: { value: value("/t") } },
      { call: "pluralize", args: { value: value("/k"), one: "day", other: "days" } },
      { call: "choose", args: { value: value("/s"), cases: { late: "Delayed" } } },
      value("/n"),
    ]
    const texts = (locale: string) => {
      const ids = values.map((_, i) => `t${i}`)
      const view = [
        { id: "root", component: "Column", children: ids },
        ...values.map((of, i) => text(ids[i] ?? "", of)),
      ]
      const filled = fillView({ title: "", view } as never, result, { ...ENGLISH, locale })
      return (filled as unknown as { root: { children: { runs: string[] }[] } }).root.children.map(({ runs }) =>
        runs.join("").replace(/[\u00a0\u202f]/g, " "),
      )
    }
    expect(texts("en")).toEqual([
      "1,234.50 km",
      "25.6%",
      "€1,234.50",
      "May 2, 2026",
      "1:02:05",
      "days",
      "Delayed",
      "1234.5",
    ])
    expect(texts("de")).toEqual([
      "1.234,50 km",
      "25,6 %",
      "1.234,50 €",
      "02.05.2026",
      "1:02:05",
      "days",
      "Delayed",
      "1234,5",
    ])
  })

  test.each(["calculation", "list", "page", "search", "timer"])("[BT10] %s contains no text of its own", (name) => {
    const shipped = readTemplate(name)
    const [sample = null] = shipped.samples
    const labels = Object.fromEntries(Object.entries(ENGLISH_LABELS).map(([key, text]) => [key, `⟦${text}⟧`]))
    const filled = fillView(shipped, sample, { ...ENGLISH, labels } as never)
    const { title, root } = filled ?? { title: "", root: null }
    const words = [...listRuns(root as unknown as Json), ...listEnds(root as unknown as Json)].filter((run) =>
      /\p{L}{3}/u.test(run),
    )
    expect(words.filter((run) => !/⟦|⟧/.test(run) && !listTexts(sample).includes(run))).toEqual([])
    expect(/⟦/.test(title) || listTexts(sample).includes(title)).toBe(true)
  })

  test("[CV14] shows labels in the reader's language, and omits unknown labels", () => {
    const label = (name: string, value?: object) => ({ call: "label", args: value ? { name, value } : { name } })
    const show = (text_: object, labels: object = ENGLISH_LABELS) => {
      const view = [{ id: "root", component: "Text", text: text_ }]
      const filled = fillView({ title: "", view } as never, { n: 3, q: "#", d: true }, { ...ENGLISH, labels } as never)
      return (filled?.root as { readonly runs: readonly string[] } | undefined)?.runs ?? null
    }
    const german = { ...ENGLISH_LABELS, openCount: "Offen: #", done: "Erledigt" }
    expect(show(label("openCount", { path: "/n" }))).toEqual(["3", " open"])
    expect(show(label("openCount", { path: "/n" }), german)).toEqual(["Offen: ", "3"])
    expect(show(label("resultsFor", { path: "/q" }))).toEqual(["Results for ", "#"])
    expect(show(label("openCount", { path: "/other" }))).toBe(null)
    const choice = { call: "choose", args: { value: { path: "/d" }, cases: { true: label("done") } } }
    expect(show(choice, german)).toEqual(["Erledigt"])
    expect(show({ call: "join", args: { values: [label("done"), ": ", { path: "/n" }] } })).toEqual(["Done", ": ", "3"])
    expect(show({ call: "join", args: { values: [label("done"), ": ", { path: "/other" }] } })).toBe(null)
    for (const name of ["constructor", "toString", "newLabel"]) expect(show(label(name))).toBe(null)
  })

  test("[CV4] omits components for which the result has no value", () => {
    const view = [
      { id: "root", component: "Column", children: ["a", "row"] },
      text("a", { path: "/a" }),
      { id: "row", component: "Row", children: ["b"] },
      text("b", { path: "/b" }),
    ]
    expect(fill(view, { a: "x" })?.root).toMatchObject({ type: "column", children: [{ type: "text", runs: ["x"] }] })
    expect(fill(view, { other: 1 })).toBe(null)
    expect(fill(view, { a: { nested: true } })).toBe(null)
    expect(fill([text("root", { path: "/constructor/name" })], {})).toBe(null)
    expect(fill([text("root", { path: "/__proto__" })], {})).toBe(null)
  })

  test("[CV6] a list and a table show at most 100 items, and state how many more there are", () => {
    const rows = Array.from({ length: MAX_VIEW_ROWS + 7 }, (_, i) => ({ b: i }))
    const list = [
      { id: "root", component: "List", children: { componentId: "item", path: "/rows" } },
      text("item", { path: "b" }),
    ]
    expect(fill(list, { rows })?.root).toMatchObject({ omitted: 7, children: { length: MAX_VIEW_ROWS } })
    const table = [
      { id: "root", component: "Table", rows: { path: "/rows" }, columns: [{ title: "B", value: { path: "b" } }] },
    ]
    expect(fill(table, { rows })?.root).toMatchObject({ omitted: 7, rows: { length: MAX_VIEW_ROWS } })
    // Lists within lists are bounded as a whole.
    const nested = [
      { id: "root", component: "List", children: { componentId: "inner", path: "/rows" } },
      { id: "inner", component: "List", children: { componentId: "item", path: "/rows" } },
      text("item", { path: "b" }),
    ]
    expect(JSON.stringify(fill(nested, { rows })).match(/"text"/g)?.length).toBeLessThanOrEqual(2_000)
  })

  test("[CV7] a link whose URL isn't allowed is shown as text, and such an image is omitted", () => {
    const link = (url: unknown) =>
      fill([{ id: "root", component: "Link", text: "go", url: { path: "/url" } }], { url } as Json)?.root.type
    const image = (url: unknown) =>
      fill([{ id: "root", component: "Image", description: "it", url: { path: "/url" } }], { url } as Json)
    for (const url of ["https://a.example/", "http://a.example/", "mailto:a@example.org", "tel:+1"])
      expect(link(url)).toBe("link")
    for (const url of [
      "javascript:alert(1)",
      " javascript:1",
      "data:text/html,x",
      "//a.example",
      "/v1/sessions",
      "file:///etc",
      7,
      null,
    ])
      expect(link(url)).toBe("text")
    for (const url of ["https://a.example/a.png", "/media/abc"]) expect(image(url)?.root.type).toBe("image")
    for (const url of [
      "http://a.example/a.png",
      "data:image/svg+xml,x",
      "/media/a/b",
      "javascript:1",
      "/v1/settings",
      {},
    ])
      expect(image(url)).toBe(null)
  })

  test("[CV8] every text is a literal of the template, a value of the result, or a label", () => {
    const leaf = fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
    const json = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("json")), fc.dictionary(fc.string(), tie("json"))),
    })).json as fc.Arbitrary<Json>
    const names = [...readTemplates().keys()]
    assertProperty(
      fc.property(fc.constantFrom(...names), json, fc.infiniteStream(fc.nat(5)), (name, hostile, dice) => {
        const shipped = readTemplate(name)
        const result = replaceSome(shipped.samples[0] ?? null, hostile, dice[Symbol.iterator]())
        const filled = fillView(shipped, result, ENGLISH)
        if (filled === null) return
        const labels = Object.values(ENGLISH_LABELS).flatMap((label) => label.split("#"))
        const known = new Set([...listTexts(shipped.view as Json), ...listTexts(result), ...labels])
        for (const run of listRuns(filled.root as unknown as Json)) {
          // A formatted number or date contains a digit, infinity or NaN. The beginning of truncated text is in the
          // result.
          const isFormatted = /[\d∞]|NaN/.test(run) || run === "\u00a0"
          expect(
            known.has(run) || isFormatted || [...known].some((text) => text.startsWith(run.replace(/…$/, ""))),
          ).toBe(true)
        }
      }),
    )
  })
})

function replaceSome(value: Json, hostile: Json, dice: Iterator<number>): Json {
  if (dice.next().value === 0) return hostile
  if (Array.isArray(value)) return value.map((item: Json) => replaceSome(item, hostile, dice))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceSome(item as Json, hostile, dice)]))
}

function listTexts(value: Json): string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((child) => listTexts(child as Json))
    : []
}

function listRuns(node: Json): string[] {
  if (typeof node !== "object" || node === null) return []
  const { runs = [] } = node as { readonly runs?: readonly string[] }
  return [
    ...runs,
    ...Object.values(node).flatMap((child) => (typeof child === "object" ? listRuns(child as Json) : [])),
  ]
}

/** Returns what a card's timers show once they have ended. */
function listEnds(node: Json): string[] {
  if (typeof node !== "object" || node === null) return []
  const { done } = node as { readonly done?: string }
  return [done ?? [], ...Object.values(node).map((child) => listEnds(child as Json))].flat()
}
