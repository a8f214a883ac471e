/**
 * check-schema.ts: checks that a JSON Schema uses only supported keywords.
 *
 * Only a fixed set of keywords is allowed, without references or regular expressions, so that the time of a check is
 * bounded by the sizes of the schema and of the value. Pure. SPEC CV3.
 */

import { isJsonObject, type Json } from "../json.ts"
import { joinPointer } from "./json-pointer.ts"
import { LIMITS, type SchemaProblem } from "./match-schema.ts"

const MAX_SCHEMA_NODES = 500
const MAX_SCHEMA_DEPTH = 16
const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
/** Keywords that describe the schema without restricting values. */
const ANNOTATIONS = new Set(["$schema", "title", "description", "default", "examples", "format", "deprecated"])
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength"])

/** Returns the first problem of a schema, or null. */
export function checkSchema(schema: Json, pointer: string): SchemaProblem | null {
  const counter = { nodes: 0 }
  return checkNode(schema, pointer, 1, counter)
}

function checkNode(schema: Json, pointer: string, depth: number, counter: { nodes: number }): SchemaProblem | null {
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

/**
 * Returns the subschemas of a keyword; null if the keyword takes none; a description of the problem if its value has
 * the wrong shape.
 */
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
