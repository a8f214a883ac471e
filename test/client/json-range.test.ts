/** json-range.test.ts: ranges in JSON text, and the problems in a draft. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { bodyToDraft, checkDraft, formatJson, splitPasted } from "../../client/admin/cards/card-draft.ts"
import { findLine, findRange, findSyntaxError } from "../../client/admin/cards/json-range.ts"
import { SHIPPED_TEMPLATES } from "../../client/admin/cards/shipped-templates.ts"
import { isJsonObject, type Json } from "../../shared/json.ts"
import { joinPointer } from "../../shared/json-schema/json-pointer.ts"
import { readTemplates } from "../shared/card/card-templates.ts"
import { assertProperty } from "../support/seeded.ts"

/** Returns all pointers into a value, with the values that they point to. */
function listPointers(value: Json, pointer = ""): [string, Json][] {
  const inner: [string | number, Json][] = Array.isArray(value)
    ? [...(value as readonly Json[]).entries()]
    : isJsonObject(value)
      ? (Object.entries(value) as [string, Json][])
      : []
  return [[pointer, value], ...inner.flatMap(([key, item]) => listPointers(item, joinPointer(pointer, key)))]
}

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

describe("ranges in JSON text", () => {
  test("[CV41] the range of each pointer contains its value", () => {
    assertProperty(
      fc.property(json, fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const text = indent === 3 ? formatJson(value) : JSON.stringify(value, null, indent)
        for (const [pointer, expected] of listPointers(value)) {
          const { start, end } = findRange(text, pointer)
          const found = JSON.parse(text.slice(start, end).replace(/^"(?:[^"\\]|\\.)*"\s*:/, ""))
          expect(found).toEqual(JSON.parse(JSON.stringify(expected)))
        }
      }),
    )
  })

  test("[CV41] text counts as JSON if and only if JSON.parse accepts it", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"a"',
      ":",
      ",",
      "1",
      "-",
      "0.5",
      "01",
      "true",
      "nul",
      " ",
      "\n",
      "\\",
    )
    assertProperty(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 12 }).map((list) => list.join("")),
          fc.string(),
        ),
        (text) => {
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          const at = findSyntaxError(text)
          expect(at === null).toBe(isJson)
          if (at !== null) expect(at).toBeLessThanOrEqual(text.length)
        },
      ),
    )
  })

  test.each([
    ['{"a": [1, 2,]}', 12],
    ['{"a": 1 "b": 2}', 8],
    ['{"a"}', 4],
    ["[1] x", 4],
    ['{"a": "\n"}', 6],
    ["", 0],
  ])("[CV41] %j stops being JSON at %i", (text, at) => {
    expect(findSyntaxError(text)).toBe(at)
  })

  test("[CV41] a missing value has the range of the innermost value that would contain it; text that is nested too deeply has no ranges", () => {
    const text = '{\n  "view": [\n    { "id": "root" }\n  ]\n}'
    const { start } = findRange(text, "/view/0/component")
    expect([text.slice(start, start + 4), findLine(text, start)]).toEqual(['{ "i', 3])
    expect(findRange(text, "/none")).toEqual({ start: 0, end: text.length })
    const deep = "[".repeat(100_000)
    expect(findRange(deep, "/0/0")).toEqual({ start: 0, end: 0 })
    expect(findSyntaxError(deep)).toBeLessThan(100)
  })
})

describe("a draft", () => {
  test("[CV41] the playground has every shipped template, and each is valid", () => {
    expect(Object.keys(SHIPPED_TEMPLATES).toSorted()).toEqual([...readTemplates().keys()].toSorted())
    for (const [name, body] of Object.entries(SHIPPED_TEMPLATES)) {
      expect(checkDraft(bodyToDraft(body)), name).toMatchObject({ ok: true, template: body })
    }
  })

  test("[CV41] reports the sample, the line and the pointer of a problem", () => {
    const draft = bodyToDraft(SHIPPED_TEMPLATES["search"] ?? {})
    const [first = ""] = draft.samples
    const wrong = { ...draft, samples: [first, first.replace('"green tea"', "5")] }
    expect(checkDraft(wrong)).toMatchObject({ ok: false, problem: { sample: 1, line: 2, pointer: "/query" } })
    expect(checkDraft({ ...draft, samples: ["{"] })).toMatchObject({ ok: false, problem: { sample: 0, line: 1 } })
    expect(checkDraft({ ...draft, template: "[]" })).toMatchObject({
      ok: false,
      problem: { sample: null, pointer: "" },
    })
    const long = checkDraft({ ...draft, samples: ["x".repeat(300_001)] })
    expect(long).toMatchObject({ ok: false, problem: { problem: expect.stringContaining("300,000") } })
  })

  test("[CV41] a pasted body is split; a template without samples stays as it is", () => {
    const body = SHIPPED_TEMPLATES["facts"] ?? {}
    expect(splitPasted(JSON.stringify(body))).toEqual(bodyToDraft(body))
    expect(splitPasted('{"for": "facts"}')).toBeNull()
    expect(splitPasted("{")).toBeNull()
  })
})
