/**
 * hostile-elicitation.test.ts: tests that a hostile MCP server's requests to the user are bounded, and can show only
 * text and fields.
 */

import { describe, expect, test } from "vitest"
import { MAX_INPUT_TEXT_CHARS, listInvalidFields } from "../../shared/protocol/input/check-content.ts"
import type { InputField } from "../../shared/protocol/input/call-input.ts"
import { findOpenForm } from "../../worker/store/callbacks/call-inputs.ts"
import { readInputRequired } from "../../worker/mcp/elicitation/read-input-required.ts"

const TEXT = { type: "string" }

const elicit = (params: unknown) => ({ method: "elicitation/create", params })
const schemaOf = (properties: unknown, more: object = {}) => ({ type: "object", properties, ...more })
const formOf = (properties: unknown, message: unknown = "Who?") =>
  elicit({ message, requestedSchema: schemaOf(properties) })
const read = (inputRequests: unknown, more: object = {}) => readInputRequired({ inputRequests, ...more }, "trips", 1)
const readOne = (properties: unknown, message?: unknown) => read({ a: formOf(properties, message) })
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, value]))

/** Returns the only field of a form with the given schema. */
function fieldOf(schema: object): InputField | undefined {
  const asked = readOne({ a: schema })
  return asked.ok ? findOpenForm(asked.value)?.fields[0] : undefined
}

const nest = (levels: number): object => (levels === 0 ? TEXT : { type: "object", properties: { a: nest(levels - 1) } })

describe("a form", () => {
  test.each<readonly [string, string, unknown]>([
    ["a nested object", "input", nest(1)],
    ["a deep schema", "input", nest(30)],
    ["a list of objects", "input", { type: "array", items: { type: "object" } }],
    ["a list of anything", "input", { type: "array" }],
    ["a list of strings without options", "input", { type: "array", items: TEXT }],
    ["a list of numbers", "input", { type: "array", items: { type: "number", enum: [1] } }],
    ["no type", "input", {}],
    ["a list of types", "input", { type: ["string", "null"] }],
    ["null", "input", { type: "null" }],
    ["a reference", "input", { $ref: "https://evil.example/schema.json" }],
    ["an unknown type", "input", { type: "file" }],
    ["a password", "input", { type: "string", format: "password" }],
    ["a secret", "input", { type: "string", writeOnly: true }],
    ["an unknown format", "input", { type: "string", format: "credit-card" }],
    ["a format that is not a string", "input", { type: "string", format: ["email"] }],
    ["a title that is not a string", "input", { type: "string", title: { toString: 1 } }],
    ["a description that is not a string", "input", { type: "string", description: 7 }],
    ["no options", "input", { type: "string", enum: [] }],
    ["options that are not strings", "input", { type: "string", enum: [1, 2] }],
    ["duplicate options", "input", { type: "string", enum: ["a", "a"] }],
    ["options without values", "input", { type: "string", oneOf: [{ title: "A" }] }],
    ["a schema that is not an object", "input", "string"],
    ["a schema that is a list", "input", [TEXT]],
    ["too many options", "too_many", { type: "string", enum: Array.from({ length: 65 }, (_, n) => `${n}`) }],
    ["a long option", "too_large", { type: "string", enum: ["x".repeat(201)] }],
    ["a long title", "too_large", { type: "string", title: "x".repeat(201) }],
    ["a long description", "too_large", { type: "string", description: "x".repeat(501) }],
  ])("[MP31] is refused if a field has %s: %s", (_name, flaw, schema) => {
    expect(readOne({ a: schema })).toEqual({ ok: false, fault: flaw })
  })

  test.each<readonly [string, string, unknown, unknown?]>([
    ["too many fields", "too_many", many(17, TEXT)],
    ["10,000 fields", "too_many", many(10_000, TEXT)],
    ["a long name", "too_large", { ["x".repeat(65)]: TEXT }],
    ["a name from the object prototype", "input", JSON.parse('{"__proto__": {"type": "string"}}')],
    ["an empty name", "input", { "": TEXT }],
    ["fields that are not an object", "input", [TEXT]],
    ["a long message", "too_large", {}, "x".repeat(2_001)],
    ["no message", "input", {}, null],
    ["many long texts", "too_large", many(16, { type: "string", enum: many30(), description: "d".repeat(500) })],
  ])("[MP31] is refused if it has %s: %s", (_name, flaw, properties, message = "Who?") => {
    expect(readOne(properties, message)).toEqual({ ok: false, fault: flaw })
  })

  test.each<readonly [string, string, unknown, object?]>([
    ["for a model", "input", { a: { method: "sampling/createMessage", params: {} } }],
    ["for files", "input", { a: { method: "roots/list" } }],
    ["of an unknown mode", "input", { a: elicit({ mode: "voice", message: "Say" }) }],
    ["without parameters", "input", { a: elicit(null) }],
    ["that is not an object", "input", { a: "ask" }],
    ["for files beside a form", "input", { a: formOf({}), b: { method: "roots/list" } }],
    ["with a schema of another type", "input", { a: elicit({ message: "m", requestedSchema: { type: "array" } }) }],
    ["made five times", "too_many", many(5, formOf({}))],
    ["under a long key", "too_large", { ["k".repeat(129)]: formOf({}) }],
    [
      "under a key from the object prototype",
      "input",
      JSON.parse('{"__proto__": {"method": "elicitation/create", "params": {}}}'),
    ],
    ["with a large state", "too_large", { a: formOf({}) }, { requestState: "s".repeat(64 * 1024 + 1) }],
  ])("[MP36] a request %s is refused: %s", (_name, flaw, requests, more) => {
    expect(read(requests, more ?? {})).toEqual({ ok: false, fault: flaw })
  })

  test("[MP31] contains only plain text, without characters that are invisible or reverse the text", () => {
    const asked = readOne(
      { a: { ...TEXT, title: "N\u202eame\u200b\n", description: "<img src=x>\u0000" } },
      "A\u2028b\n<b>c</b>",
    )
    expect(asked.ok && findOpenForm(asked.value)).toEqual({
      id: "1-1",
      server: "trips",
      message: "Ab\n<b>c</b>",
      fields: [{ name: "a", label: "Name", hint: "<img src=x>", isRequired: false, kind: "text" }],
    })
    expect(fieldOf({ ...TEXT, title: "\u202e" })).toMatchObject({ label: "a" })
  })

  test("[MP31] drops a default that doesn't fit, and never runs a pattern", () => {
    expect(fieldOf({ ...TEXT, minLength: 3, default: "ab" })).not.toHaveProperty("initial")
    expect(fieldOf({ type: "integer", default: 1.5 })).not.toHaveProperty("initial")
    expect(fieldOf({ type: "boolean", default: "yes" })).not.toHaveProperty("initial")
    expect(fieldOf({ type: "string", enum: ["a"], default: "b" })).not.toHaveProperty("initial")
    expect(fieldOf({ type: "integer", default: 2 })).toMatchObject({ initial: 2 })
    const field = fieldOf({ ...TEXT, pattern: "^(a+)+$" })
    expect(field && listInvalidFields([field], { a: `${"a".repeat(MAX_INPUT_TEXT_CHARS - 1)}!` })).toEqual([])
  })

  test("[MP31] may name its options in the older way, and may have multiple choices with titles", () => {
    expect(fieldOf({ type: "string", enum: ["a", "b"], enumNames: ["First"] })).toMatchObject({
      options: [
        { value: "a", label: "First" },
        { value: "b", label: "b" },
      ],
    })
    const titled = { type: "array", items: { anyOf: [{ const: "x", title: "X" }] }, minItems: 1 }
    expect(fieldOf(titled)).toMatchObject({ kind: "choices", options: [{ value: "x", label: "X" }], min: 1 })
  })
})

function many30(): string[] {
  return Array.from({ length: 30 }, (_, n) => `${n}${"o".repeat(150)}`)
}

test("[MP32] values must have the types, bounds and formats of their fields, and only the names that the form has", () => {
  const field = (more: object) => [{ name: "a", label: "A", isRequired: false, ...more }] as InputField[]
  const fits = (more: object, value: unknown) => listInvalidFields(field(more), { a: value } as never).length === 0
  const text = (format?: string) => ({ kind: "text", format })
  expect(fits(text("email"), "a@b")).toBe(true)
  for (const bad of ["a", "a@", "a b@c", "@"]) expect(fits(text("email"), bad), bad).toBe(false)
  expect(fits(text("uri"), "https://a.example/x")).toBe(true)
  expect(fits(text("uri"), "a.example")).toBe(false)
  expect(fits(text("date"), "2026-02-28")).toBe(true)
  for (const bad of ["2026-2-8", "2026-13-01", "today"]) expect(fits(text("date"), bad), bad).toBe(false)
  expect(fits(text("date-time"), "2026-02-28T10:00:00Z")).toBe(true)
  for (const bad of ["2026-02-28T10:00", "2026-02-28", "x"]) expect(fits(text("date-time"), bad), bad).toBe(false)
  expect(fits(text(), "x".repeat(MAX_INPUT_TEXT_CHARS))).toBe(true)
  expect(fits(text(), "x".repeat(MAX_INPUT_TEXT_CHARS + 1))).toBe(false)
  expect(fits({ kind: "text", max: 2 }, "😀😀")).toBe(true)
  expect(fits({ kind: "number" }, Number.POSITIVE_INFINITY)).toBe(false)
  expect(fits({ kind: "number" }, "1")).toBe(false)
  expect(fits({ kind: "check" }, "true")).toBe(false)
  expect(fits({ kind: "choice", options: [] }, "x")).toBe(false)
  expect(listInvalidFields([], JSON.parse('{"__proto__": "x", "constructor": "y"}'))).toEqual([
    "__proto__",
    "constructor",
  ])
  expect(listInvalidFields(field({ kind: "check", isRequired: true, name: "constructor" }), {})).toEqual([
    "constructor",
  ])
})
