/**
 * check-schema.ts: the JSON Schema of a card: which keywords it may have, and whether a value matches it.
 *
 * A closed list of keywords, without references and regular expressions, so that the time of a check is bounded by the sizes
 * of schema and value. Pure. SPEC CV3.
 */

import { isJsonObject, type Json } from "../../json.ts"
import type { TemplateProblem } from "./card-template.ts"
import { joinPointer } from "./json-pointer.ts"

const MAX_SCHEMA_NODES = 500
const MAX_SCHEMA_DEPTH = 16
/** A schema and a value within their bounds need fewer steps, unless many alternatives apply to many items. */
const MAX_STEPS = 200_000

type Schema = { readonly [keyword: string]: Json }

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
/** Describe the schema, and restrict nothing. */
const ANNOTATIONS = new Set(["$schema", "title", "description", "default", "examples", "format", "deprecated"])
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength"])
const LIMITS = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])

/** Returns the first problem of a schema, or null. */
export function checkSchema(schema: Json, pointer: string): TemplateProblem | null {
  const counter = { nodes: 0 }
  return checkNode(schema, pointer, 1, counter)
}

function checkNode(schema: Json, pointer: string, depth: number, counter: { nodes: number }): TemplateProblem | null {
  if (!isJsonObject(schema)) return { pointer, problem: "must be a schema, which is an object" }
  if (++counter.nodes > MAX_SCHEMA_NODES) return { pointer, problem: `has more than ${MAX_SCHEMA_NODES} schemas` }
  if (depth > MAX_SCHEMA_DEPTH) return { pointer, problem: `is nested deeper than ${MAX_SCHEMA_DEPTH} levels` }
  for (const [keyword, value] of Object.entries(schema)) {
    const at = joinPointer(pointer, keyword)
    const children = listChildren(keyword, value, at)
    if (children === null) {
      const problem = checkKeyword(keyword, value)
      if (problem !== null) return { pointer: at, problem }
      continue
    }
    if (typeof children === "string") return { pointer: at, problem: children }
    for (const [child, childPointer] of children) {
      const problem = checkNode(child, childPointer, depth + 1, counter)
      if (problem !== null) return problem
    }
  }
  return null
}

/** The schemas in a keyword; null if it contains none; a text if it has the wrong shape. */
function listChildren(keyword: string, value: Json, at: string): readonly (readonly [Json, string])[] | string | null {
  switch (keyword) {
    case "properties":
      if (!isJsonObject(value)) return "must be an object"
      return Object.entries(value).map(([key, child]) => [child, joinPointer(at, key)] as const)
    case "anyOf":
      if (!Array.isArray(value) || value.length === 0) return "must be a list of schemas"
      return value.map((child, i) => [child, joinPointer(at, i)] as const)
    case "items":
      return [[value, at]]
    case "additionalProperties":
      return typeof value === "boolean" ? [] : [[value, at]]
    default:
      return null
  }
}

function checkKeyword(keyword: string, value: Json): string | null {
  if (ANNOTATIONS.has(keyword)) return null
  if (COUNTS.has(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? null : "must be a count"
  if (LIMITS.has(keyword)) return typeof value === "number" ? null : "must be a number"
  switch (keyword) {
    case "type": {
      const types = Array.isArray(value) ? value : [value]
      return types.length > 0 && types.every((type) => typeof type === "string" && TYPES.includes(type))
        ? null
        : `must be one of ${TYPES.join(", ")}, or a list of them`
    }
    case "required":
      return Array.isArray(value) && value.every((name) => typeof name === "string") ? null : "must be a list of names"
    case "enum":
      return Array.isArray(value) && value.length > 0 && value.every(isScalar)
        ? null
        : "must be a list of simple values"
    case "const":
      return isScalar(value) ? null : "must be a simple value"
    default:
      return "isn't a supported keyword"
  }
}

function isScalar(value: Json): boolean {
  return value === null || typeof value !== "object"
}

/** Returns where a value doesn't match a checked schema, or null if it matches. */
export function checkValue(schema: Schema, value: Json, pointer = ""): TemplateProblem | null {
  return matchSchema(schema, value, pointer, { steps: 0 })
}

function matchSchema(schema: Schema, value: Json, pointer: string, counter: { steps: number }): TemplateProblem | null {
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
): TemplateProblem | null {
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
): TemplateProblem | null {
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
      return Array.isArray(limit) && limit.includes(value) ? null : "must be one of the values in enum"
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
  return isWithin ? null : `is outside ${keyword} (${limit})`
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
