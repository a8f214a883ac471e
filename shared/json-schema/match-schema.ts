/**
 * match-schema.ts: checks whether a value matches a JSON Schema that `checkSchema` accepts.
 *
 * Pure. A check takes at most MAX_STEPS steps.
 */

import { isJsonObject, type Json } from "../json.ts"
import { joinPointer } from "./json-pointer.ts"

/** A problem, and its position as a JSON Pointer (RFC 6901). */
export interface SchemaProblem {
  readonly pointer: string
  readonly problem: string
}

/** A schema and a value within their bounds need fewer steps, unless many alternatives are tried for many items. */
const MAX_STEPS = 200_000

/** Maximum number of enum values that a problem lists. */
const MAX_SHOWN_VALUES = 12

/** The keywords that compare numbers. */
export const LIMITS: ReadonlySet<string> = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])

type Schema = { readonly [keyword: string]: Json }

/** Returns the first problem of a value that doesn't match a checked schema; null if it matches. */
export function checkValue(schema: Schema, value: Json, pointer = ""): SchemaProblem | null {
  return matchSchema(schema, value, pointer, { steps: 0 })
}

function matchSchema(schema: Schema, value: Json, pointer: string, counter: { steps: number }): SchemaProblem | null {
  if (++counter.steps > MAX_STEPS) return { pointer, problem: "takes too long to check" }
  for (const keyword in schema) {
    const problem = matchKeyword(keyword, schema, value)
    if (problem !== null) return { pointer, problem }
  }
  const anyOf = schema["anyOf"]
  if (Array.isArray(anyOf)) {
    const matches = anyOf.some((one) => matchSchema(one as Schema, value, pointer, counter) === null)
    if (!matches) return { pointer, problem: "matches none of the alternatives" }
  }
  if (Array.isArray(value)) return matchItems(schema["items"], value, pointer, counter)
  return isJsonObject(value) ? matchProperties(schema, value, pointer, counter) : null
}

function matchItems(
  items: Json | undefined,
  value: readonly Json[],
  pointer: string,
  counter: { steps: number },
): SchemaProblem | null {
  if (!isJsonObject(items)) return null
  for (const [i, item] of value.entries()) {
    const problem = matchSchema(items, item, joinPointer(pointer, i), counter)
    if (problem !== null) return problem
  }
  return null
}

function matchProperties(
  { properties, additionalProperties = true }: Schema,
  value: Schema,
  pointer: string,
  counter: { steps: number },
): SchemaProblem | null {
  const known = isJsonObject(properties) ? properties : {}
  for (const [key, child] of Object.entries(value)) {
    const schema = Object.hasOwn(known, key) ? known[key] : additionalProperties
    const at = joinPointer(pointer, key)
    if (schema === false) return { pointer: at, problem: "isn't allowed by the schema" }
    if (!isJsonObject(schema)) continue
    const problem = matchSchema(schema, child, at, counter)
    if (problem !== null) return problem
  }
  return null
}

function matchKeyword(keyword: string, schema: Schema, value: Json): string | null {
  const limit = schema[keyword]
  switch (keyword) {
    case "type":
      return (Array.isArray(limit) ? limit : [limit]).some((type) => hasType(value, String(type)))
        ? null
        : `must be of type ${String(limit)}`
    case "enum":
      return Array.isArray(limit) && limit.includes(value) ? null : `must be one of ${listValues(limit)}`
    case "const":
      return limit === value ? null : "must be the value in const"
    case "required":
      return findMissing(limit, value)
    case "minItems":
    case "maxItems":
      return Array.isArray(value) ? compare(keyword, value.length, Number(limit)) : null
    case "minLength":
    case "maxLength":
      return typeof value === "string" ? compare(keyword, [...value].length, Number(limit)) : null
    default:
      return LIMITS.has(keyword) && typeof value === "number" ? compare(keyword, value, Number(limit)) : null
  }
}

/** Returns the first values of an enum, as JSON. */
function listValues(values: Json | undefined): string {
  const shown = Array.isArray(values) ? values.slice(0, MAX_SHOWN_VALUES) : []
  return shown.map((value) => JSON.stringify(value)).join(", ")
}

function findMissing(required: Json | undefined, value: Json): string | null {
  if (!isJsonObject(value) || !Array.isArray(required)) return null
  const missing = required.find((name) => !Object.hasOwn(value, String(name)))
  return missing === undefined ? null : `needs the property "${String(missing)}"`
}

function compare(keyword: string, figure: number, limit: number): string | null {
  const isWithin = keyword.startsWith("min")
    ? figure >= limit
    : keyword.startsWith("max")
      ? figure <= limit
      : keyword === "exclusiveMinimum"
        ? figure > limit
        : figure < limit
  return isWithin ? null : `violates ${keyword} (${limit})`
}

function hasType(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isJsonObject(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
