/** json.test.ts: tests canonical JSON, and the limits for JSON from outside. */
import fc from "fast-check"
import { describe, expect, test, vi } from "vitest"
import {
  limitJsonDepth,
  MAX_PRINTED_JSON_CHARS,
  OMITTED_LEVELS,
  parseJsonToDepth,
  printJson,
} from "../../shared/json-depth.ts"
import {
  createJsonMeter,
  type Json,
  parseJson,
  toCanonicalJson,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
} from "../../shared/json.ts"
import { assertProperty } from "../support/seeded.ts"

test("[SG1] canonical JSON sorts keys at every depth", () => {
  expect(toCanonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
})

const nestLists = (levels: number, inner = "1"): string => "[".repeat(levels) + inner + "]".repeat(levels)

/** Returns the value with all levels deeper than `left` replaced by a note. */
function omitBelow(value: Json, left: number): Json {
  if (typeof value !== "object" || value === null) return value
  if (left === 0) return OMITTED_LEVELS
  if (Array.isArray(value)) return value.map((inner) => omitBelow(inner, left - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, omitBelow(inner as Json, left - 1)]))
}

describe("the depth of JSON", () => {
  test("[BD1] text at the limit is parsed; text with one more level, or with nothing but brackets, is not", () => {
    expect(parseJson(nestLists(MAX_JSON_DEPTH))).toBeDefined()
    expect(parseJson(nestLists(MAX_JSON_DEPTH + 1))).toBeUndefined()
    expect(parseJson("[".repeat(4_000_000))).toBeUndefined()
    expect(parseJson(JSON.stringify("[".repeat(1_000)))).toBe("[".repeat(1_000))
    expect(parseJson(JSON.stringify(`"\\"${"{".repeat(1_000)}`))).toContain("{{{")
  })

  test("[BD1] text with too many values is not parsed", () => {
    expect(parseJson(`[${"1,".repeat(MAX_JSON_VALUES - 2)}1]`)).toHaveLength(MAX_JSON_VALUES - 1)
    expect(parseJson(`[${"1,".repeat(MAX_JSON_VALUES)}1]`)).toBeUndefined()
  })

  test("[BD1] text is measured in the same way, whether it arrives whole or in pieces", () => {
    assertProperty(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{},:"\\a1 ') }), fc.nat(40), fc.nat(8), (text, at, max) => {
        const meter = createJsonMeter(max)
        const inPieces = meter(text.slice(0, at)) && meter(text.slice(at))
        expect(inPieces).toBe(createJsonMeter(max)(text))
      }),
    )
  })

  test("[BD2] JSON up to the limit stays as it is, byte for byte", () => {
    assertProperty(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(limitJsonDepth(text)).toBe(text)
      }),
    )
  })

  test("[BD2] only levels beyond the limit are omitted, and a second pass changes nothing", () => {
    const deep = fc.tuple(
      fc.jsonValue({ maxDepth: 5 }),
      fc.integer({ min: MAX_JSON_DEPTH - 3, max: MAX_JSON_DEPTH + 3 }),
    )
    assertProperty(
      fc.property(deep, fc.boolean(), ([inner, levels], isSpaced) => {
        let value = inner as Json
        for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value, `]"\\${i}`] : { a: value, b: i }
        const text = JSON.stringify(value, null, isSpaced ? 1 : 0)
        const limited = limitJsonDepth(text)
        expect(JSON.parse(limited)).toEqual(omitBelow(JSON.parse(text), MAX_JSON_DEPTH))
        expect(limitJsonDepth(limited)).toBe(limited)
        expect(parseJsonToDepth(text)).toEqual(JSON.parse(limited))
      }),
    )
  })

  test("[BD2] reading ends at the first value over the limit, whether that value would be kept or omitted", () => {
    for (const item of ["[],", "[]"]) {
      const text = "[".repeat(MAX_JSON_DEPTH) + item.repeat(MAX_JSON_VALUES + 100_000)
      let slices = 0
      const original = String.prototype.slice
      const spy = vi.spyOn(String.prototype, "slice").mockImplementation(function (this: string, ...range) {
        slices++
        return original.apply(this, range)
      })
      const limited = limitJsonDepth(text)
      spy.mockRestore()
      expect(limited === text).toBe(true)
      expect(slices).toBeLessThanOrEqual(MAX_JSON_VALUES + 2)
    }
  })

  test("[BD2] text that isn't JSON stays as it is, and so does everything after the first blank line", () => {
    for (const text of ["[".repeat(100_000), `note: ${nestLists(100)}`, nestLists(100).slice(0, -1)])
      expect(limitJsonDepth(text)).toBe(text)
    const trailer = "\n\nYou MUST wrap it in <span id='weather_1'>[[["
    expect(limitJsonDepth(nestLists(100) + trailer)).toBe(
      nestLists(MAX_JSON_DEPTH, JSON.stringify(OMITTED_LEVELS)) + trailer,
    )
  })
})

describe("printed JSON", () => {
  test("[BD5] is indented, up to a size limit", () => {
    expect(printJson({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}')
    const wide = JSON.parse(nestLists(MAX_JSON_DEPTH - 1, `[${"1,".repeat(20_000)}1]`))
    expect(printJson(wide)).toBe(JSON.stringify(wide))
  })

  test("[BD5] is within the size limit, or no longer than compact JSON", () => {
    assertProperty(
      fc.property(
        fc.jsonValue(),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 600 }),
        (inner, levels, n) => {
          let value: unknown = Array.from({ length: n }, () => inner)
          for (let i = 0; i < levels; i++) value = { a: value }
          expect(printJson(value).length).toBeLessThanOrEqual(
            Math.max(MAX_PRINTED_JSON_CHARS, JSON.stringify(value).length),
          )
        },
      ),
    )
  })
})
