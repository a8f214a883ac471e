/**
 * hostile-cards.test.ts: tests templates and results that try to run code, fetch URLs, forge content or exhaust
 * resources.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { COMPONENT_KINDS, FORMAT_FUNCTIONS } from "../../../shared/card/view/card-template.ts"
import { MAX_VIEW_ROWS } from "../../../shared/protocol/cards/card-bounds.ts"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../../shared/card/view/view-labels.ts"
import { viewToMarkdown } from "../../../shared/card/view/view-markdown.ts"
import type { Json } from "../../../shared/json.ts"
import { assertProperty } from "../../support/seeded.ts"
import { EVERYTHING, HOSTILE_RESULTS, HOSTILE_TEMPLATES, MARKUP, SCRIPTS } from "./hostile-corpus.ts"

const ENGLISH = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }
describe("hostile templates", () => {
  test.each(HOSTILE_TEMPLATES)("[CV1] [CV2] [CV3] [CV7] [CV42] %s is refused, with a pointer", (_name, body) => {
    const checked = checkTemplate(body as Json)
    expect(checked).toMatchObject({ ok: false, pointer: expect.stringMatching(/^(?:\/|$)/) })
  })

  test("[CV2] there are more than 200 hostile templates and results", () => {
    const bodies = [...HOSTILE_TEMPLATES, ...HOSTILE_RESULTS].map(([, body]) => JSON.stringify(body))
    expect(new Set(bodies).size).toBeGreaterThanOrEqual(200)
  })

  test("[CV1] any JSON can be checked without an exception, and every accepted template can be filled", () => {
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
        // The page trusts no template, because a tenant's archive can contain any template.
        const list = Array.isArray(view)
          ? view.filter((component) => typeof component === "object" && component !== null)
          : []
        const filled = fillView({ title: title as never, view: list as never }, result, ENGLISH)
        if (filled !== null) expect(typeof viewToMarkdown(filled)).toBe("string")
      }),
    )
  })
})

describe("hostile results", () => {
  const fill = (result: Json) => fillView({ title: { path: "/a" }, view: EVERYTHING } as never, result, ENGLISH)

  test.each(SCRIPTS)("[CV7] the URL %j is neither a link nor an image", (a) => {
    const drawn = JSON.stringify(fill({ a, n: 1, rows: [{ a }] }))
    expect(drawn).not.toMatch(/"type":"(?:link|image)"/)
  })

  test.each(MARKUP)("[CV8] [CV12] the text %j stays text, even in Markdown", (a) => {
    const filled = fill({ a, n: 1, rows: [{ a }] })
    if (filled === null) return
    expect(JSON.stringify(filled)).not.toMatch(/"type":"(?:link|image)"/)
    const markdown = viewToMarkdown(filled)
    expect(markdown).not.toMatch(/(?<!\\)<(?:script|img|span)|(?<!\\)\]\(|(?<!\\)!\[/)
    // Each text must be on one line, so that no part of it begins a separate block.
    for (const line of markdown.split("\n")) expect(line).not.toMatch(/^(?:#{1,6} |> )/)
  })

  test.each<[string, Json]>([
    ["infinite numbers", { a: "x", n: Number.POSITIVE_INFINITY }],
    ["a huge time", { a: "x", n: 1e300 }],
    ["a negative share", { a: "x", n: -5 }],
    ["a list as text", { a: ["x"], n: 1 }],
    ["an object as rows", { a: "x", rows: { length: 5 } }],
    ["null in rows", { a: "x", rows: [null, null] }],
    ["text as rows", { a: "x", rows: "rows" }],
    ["a prototype", JSON.parse('{"__proto__":{"a":"evil"},"n":1}')],
    ["a long text", { a: "x".repeat(1_000_000), n: 1 }],
    ["a lone surrogate", { a: "\uD800", n: 1 }],
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

  test("[CV6] nested lists are bounded as a whole", () => {
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
