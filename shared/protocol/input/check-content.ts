/**
 * check-content.ts: checks whether the values of a form fit its fields. The page and the server make the same checks.
 * Pure.
 *
 * The MCP server that asked makes its own checks. The server's patterns are not run here. SPEC MP32.
 */

import type { InputContent, InputField, InputFormat, InputValue } from "./call-input.ts"

/** Maximum length of a field's text, in UTF-16 code units. */
export const MAX_INPUT_TEXT_CHARS = 4_000

/** Returns the names of fields whose values are missing or don't fit, and of values that have no field. */
export function listInvalidFields(fields: readonly InputField[], content: InputContent): string[] {
  const names = new Set(fields.map(({ name }) => name))
  const stray = Object.keys(content).filter((name) => !names.has(name))
  const invalid = fields.filter((field) => {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined
    return value === undefined ? field.isRequired : !fitsField(field, value)
  })
  return [...invalid.map(({ name }) => name), ...stray]
}

function fitsField(field: InputField, value: InputValue): boolean {
  switch (field.kind) {
    case "text":
      return typeof value === "string" && fitsText(field, value)
    case "number":
    case "integer":
      return typeof value === "number" && isWithin(field, value) && (field.kind === "number" || Number.isInteger(value))
    case "check":
      return typeof value === "boolean"
    case "choice":
      return field.options.some((option) => option.value === value)
    case "choices": {
      if (!Array.isArray(value) || new Set(value).size !== value.length || !isWithin(field, value.length)) return false
      const offered = new Set(field.options.map((option) => option.value))
      return value.every((one) => offered.has(one))
    }
  }
}

type TextField = Extract<InputField, { readonly kind: "text" }>

function fitsText(field: TextField, value: string): boolean {
  if (value.length > MAX_INPUT_TEXT_CHARS || (field.isRequired && value === "")) return false
  // JSON Schema counts code points.
  return isWithin(field, [...value].length) && (field.format === undefined || hasFormat(value, field.format))
}

function isWithin({ min, max }: { readonly min?: number; readonly max?: number }, figure: number): boolean {
  return Number.isFinite(figure) && figure >= (min ?? -Infinity) && figure <= (max ?? Infinity)
}

function isUrl(value: string): boolean {
  try {
    return new URL(value).href !== ""
  } catch {
    return false
  }
}

/** Checks only the format and the ranges. The MCP server checks whether the day exists. */
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function hasFormat(value: string, format: InputFormat): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(value)
    case "uri":
      return isUrl(value)
    case "date":
      return DATE.test(value)
    case "date-time":
      return DATE.test(value.slice(0, 10)) && value[10] === "T" && TIME.test(value.slice(11))
  }
}
