/** hostile-cards.test.ts: templates and results that try to run, fetch, build or exhaust something. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { COMPONENT_KINDS, FORMAT_FUNCTIONS, MAX_VIEW_ROWS } from "../../../shared/card/view/card-template.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import { viewToMarkdown } from "../../../shared/card/view/view-markdown.ts"
import type { Json } from "../../../shared/json.ts"
import { assertProperty } from "../../support/seeded.ts"

const ENGLISH = { locale: "en", timeZone: "UTC", yes: "Yes", no: "No" }
const SCHEMA = { type: "object" }

const SCRIPTS = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  " javascript:alert(1)",
  "\u0001javascript:alert(1)",
  "vbscript:msgbox(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "blob:https://a.example/1",
  "file:///etc/passwd",
  "filesystem:https://a.example/x",
  "view-source:https://a.example",
  "//evil.example",
  "\\\\evil.example",
  "/v1/tokens",
  "/media/../v1/settings",
  "/media/a?token=x",
  "../media/a",
  "https:",
  "https://",
  "http://[",
  "ws://evil.example",
  "intent://evil#Intent;end",
  "about:blank",
  "",
]

const MARKUP = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "</span><span id='weather_1'>",
  "[link](javascript:alert(1))",
  "![x](https://evil.example/x.png)",
  "\u0024{1+1}",
  "{{constructor.constructor('alert(1)')()}}",
  "MEDIA:https://evil.example/a.png",
  '[embed url="https://evil.example"]',
  "| a | b |\n|---|---|",
  "\u202Egnp.exe",
  "\u0000\u0007",
  "# heading\n\n---\n> quote",
]

/** Places of a template in which a hostile value may be. */
const PLACES: readonly (readonly [name: string, view: (value: unknown) => readonly object[]])[] = [
  ["a link", (value) => [{ id: "root", component: "Link", text: "a", url: value }]],
  ["an image", (value) => [{ id: "root", component: "Image", description: "a", url: value }]],
]

const check = (view: unknown, more: object = {}) =>
  checkTemplate({ for: "t", title: "T", schema: SCHEMA, view, samples: [{ a: "x" }], ...more } as Json)

describe("hostile templates", () => {
  test.each(PLACES.flatMap(([name, view]) => SCRIPTS.map((script) => [name, script, view] as const)))(
    "[CV7] %s to %j is refused",
    (_name, script, view) => {
      expect(check(view(script)).ok).toBe(false)
    },
  )

  const text = (fields: object) => [{ id: "root", component: "Text", text: "a", ...fields }]
  test.each<[string, unknown]>([
    ["an event handler", text({ onclick: "alert(1)" })],
    ["a style", text({ style: "position:fixed" })],
    ["a class", text({ class: "page" })],
    ["an HTML field", text({ dangerouslySetInnerHTML: { __html: "<b>" } })],
    ["a key of a prototype", text({ constructor: "x" })],
    ["an own __proto__", JSON.parse('[{"id":"root","component":"Text","text":"a","__proto__":{"x":1}}]')],
    ["an unknown kind", [{ id: "root", component: "Video", url: "https://a.example/v.mp4" }]],
    ["a kind of a prototype", [{ id: "root", component: "constructor" }]],
    ["a kind that is a list", [{ id: "root", component: ["Text"], text: "a" }]],
    ["an id with a space", [{ id: "ro ot", component: "Text", text: "a" }]],
    ["an id of a prototype", [{ id: "__proto__", component: "Text", text: "a" }]],
    ["a function of a prototype", text({ text: { call: "toString", args: {} } })],
    ["a function without arguments", text({ text: { call: "formatNumber" } })],
    ["a function with a literal number", text({ text: { call: "formatNumber", args: { value: 1e308 } } })],
    ["a binding with more", text({ text: { path: "/a", call: "x" } })],
    ["a binding that is a number", text({ text: { path: 1 } })],
    ["a text that is a number", text({ text: 5 })],
    ["a text that is a list", text({ text: ["a"] })],
    ["too many decimals", text({ text: { call: "formatNumber", args: { value: { path: "/a" }, decimals: 99 } } })],
    ["a pattern of a date", text({ text: { call: "formatDate", args: { value: { path: "/a" }, style: "yyyy" } } })],
    [
      "an address made by a function",
      [
        {
          id: "root",
          component: "Link",
          text: "a",
          url: { call: "join", args: { values: ["https://", { path: "/a" }] } },
        },
      ],
    ],
    [
      "an image made by a function",
      [
        {
          id: "root",
          component: "Image",
          description: "a",
          url: { call: "choose", args: { value: { path: "/a" }, cases: {} } },
        },
      ],
    ],
    ["a negative weight", text({ weight: -1 })],
    ["an endless weight", text({ weight: 1e300 })],
    [
      "two components in a circle",
      [
        { id: "root", component: "Card", child: "a" },
        { id: "a", component: "Card", child: "root" },
      ],
    ],
    [
      "a component twice",
      [
        { id: "root", component: "Row", children: ["a", "a"] },
        { id: "a", component: "Text", text: "a" },
      ],
    ],
    ["a list of itself", [{ id: "root", component: "List", children: { componentId: "root", path: "/a" } }]],
    ["an empty view", []],
    ["a view that is an object", { root: {} }],
    ["null as a component", [null]],
  ])("[CV2] with %s are refused", (_name, view) => {
    expect(check(view).ok).toBe(false)
  })

  test.each<[string, object]>([
    ["a regular expression", { type: "string", pattern: "(a+)+$" }],
    ["a pattern of names", { patternProperties: { "(a+)+$": {} } }],
    ["a remote reference", { $ref: "https://evil.example/schema.json" }],
    ["a reference to itself", { $ref: "#" }],
    ["a dynamic reference", { $dynamicRef: "#a" }],
    ["definitions", { $defs: { a: { $ref: "#/$defs/a" } } }],
    ["an unknown keyword", { "x-evil": 1 }],
    ["a type that is an object", { type: {} }],
    ["a schema that is a list", { properties: { a: [] } }],
    ["many levels", Array.from({ length: 40 }).reduce<object>((items) => ({ items }), {})],
    ["many schemas", { anyOf: Array.from({ length: 2_000 }, () => ({})) }],
  ])("[CV3] whose schema has %s are refused", (_name, schema) => {
    expect(check(text({}), { schema }).ok).toBe(false)
  })

  test("[CV1] any JSON is checked without an exception, and what passes can be filled", () => {
    const words = [...COMPONENT_KINDS, ...FORMAT_FUNCTIONS, "root", "a", "/a", "b", "body", ...SCRIPTS]
    const leaf = fc.oneof(fc.constantFrom(...words), fc.string(), fc.double(), fc.boolean(), fc.constant(null))
    const names = [
      "id",
      "component",
      "text",
      "url",
      "children",
      "child",
      "path",
      "call",
      "args",
      "values",
      "rows",
      "columns",
      "title",
      "value",
      "componentId",
    ]
    const key = fc.oneof(fc.constantFrom(...names), fc.string())
    const json = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie("json"), { maxLength: 5 }), fc.dictionary(key, tie("json"))),
    })).json as fc.Arbitrary<Json>
    assertProperty(
      fc.property(json, json, json, (view, result, title) => {
        const checked = checkTemplate({ for: "t", title, schema: {}, view, samples: [{ a: "b" }] } as Json)
        expect(typeof checked.ok).toBe("boolean")
        // The page trusts no template, because an archive of a tenant can contain any.
        const list = Array.isArray(view) ? view.filter((one) => typeof one === "object" && one !== null) : []
        const filled = fillView({ title: title as never, view: list as never }, result, ENGLISH)
        if (filled !== null) expect(typeof viewToMarkdown(filled)).toBe("string")
      }),
    )
  })
})

describe("hostile results", () => {
  const view = [
    { id: "root", component: "Column", children: ["t", "l", "i", "b", "p", "m", "table", "list"] },
    { id: "t", component: "Text", text: { path: "/a" } },
    { id: "l", component: "Link", text: "link", url: { path: "/a" } },
    { id: "i", component: "Image", description: { path: "/a" }, url: { path: "/a" } },
    {
      id: "b",
      component: "Badge",
      text: { path: "/a" },
      tone: { call: "choose", args: { value: { path: "/a" }, cases: { x: "good" } } },
    },
    { id: "p", component: "Progress", label: { path: "/a" }, value: { path: "/n" } },
    { id: "m", component: "Timer", label: { path: "/a" }, endsAt: { path: "/n" } },
    { id: "table", component: "Table", rows: { path: "/rows" }, columns: [{ title: "A", value: { path: "a" } }] },
    { id: "list", component: "List", children: { componentId: "item", path: "/rows" } },
    { id: "item", component: "Icon", name: { path: "a" } },
  ]
  const fill = (result: Json) => fillView({ title: { path: "/a" }, view } as never, result, ENGLISH)

  test.each(SCRIPTS)("[CV7] the address %j is neither a link nor an image", (a) => {
    const drawn = JSON.stringify(fill({ a, n: 1, rows: [{ a }] }))
    expect(drawn).not.toMatch(/"type":"(?:link|image)"/)
  })

  test.each(MARKUP)("[CV8] [CV12] the text %j stays text, also in Markdown", (a) => {
    const filled = fill({ a, n: 1, rows: [{ a }] })
    if (filled === null) return
    expect(JSON.stringify(filled)).not.toMatch(/"type":"(?:link|image)"/)
    const markdown = viewToMarkdown(filled)
    expect(markdown).not.toMatch(/(?<!\\)<(?:script|img|span)|(?<!\\)\]\(|(?<!\\)!\[/)
    // One line for each text, so that nothing begins a block of its own.
    for (const line of markdown.split("\n")) expect(line).not.toMatch(/^(?:#{1,6} |> )/)
  })

  test.each<[string, Json]>([
    ["numbers without end", { a: "x", n: Number.POSITIVE_INFINITY }],
    ["a huge time", { a: "x", n: 1e300 }],
    ["a negative share", { a: "x", n: -5 }],
    ["a list as text", { a: ["x"], n: 1 }],
    ["an object as rows", { a: "x", rows: { length: 5 } }],
    ["null in rows", { a: "x", rows: [null, null] }],
    ["text as rows", { a: "x", rows: "rows" }],
    ["a prototype", JSON.parse('{"__proto__":{"a":"evil"},"n":1}')],
    ["a long text", { a: "x".repeat(1_000_000), n: 1 }],
    ["a half surrogate", { a: "\uD800", n: 1 }],
  ])("[CV4] with %s are drawn within bounds", (_name, result) => {
    const filled = fill(result)
    if (filled === null) return
    const drawn = JSON.stringify(filled)
    expect(drawn.length).toBeLessThan(60_000)
    expect(drawn).not.toContain("evil")
    for (const [, share] of drawn.matchAll(/"type":"progress".*?"value":([^,}]+)/g)) {
      expect(Number(share)).toBeGreaterThanOrEqual(0)
      expect(Number(share)).toBeLessThanOrEqual(1)
    }
  })

  test("[CV6] lists in lists are bounded as a whole", () => {
    const deep = [
      { id: "root", component: "List", children: { componentId: "a", path: "/rows" } },
      { id: "a", component: "List", children: { componentId: "b", path: "/rows" } },
      { id: "b", component: "Table", rows: { path: "/rows" }, columns: [{ title: "A", value: { path: "/long" } }] },
    ]
    const rows = Array.from({ length: 1_000 }, (_, a) => ({ a }))
    const filled = fillView({ title: "", view: deep } as never, { rows, long: "y".repeat(4_000) }, ENGLISH)
    const texts = JSON.stringify(filled).split("y".repeat(100)).length
    expect(texts).toBeLessThan(MAX_VIEW_ROWS * 100)
  })
})
