/**
 * json.ts: JSON values: their type, a parser that never throws and limits depth and number of values, and a canonical
 * form.
 *
 * Recursive code (JSON.stringify, a component tree) overflows the stack on deep data, and parsing needs up to 80 bytes
 * of memory per byte of text. The bounds are therefore checked on the text, before it is parsed.
 */

/**
 * Maximum depth of arrays and objects in JSON that is parsed, stored or shown: twice the depth of real data, and the
 * default limit of several platforms' parsers. SPEC BD1, BD2.
 */
export const MAX_JSON_DEPTH = 64

/** Maximum number of values in JSON that is parsed: each needs up to 60 bytes of memory. SPEC BD1. */
export const MAX_JSON_VALUES = 500_000

/** Any value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Parses JSON text. Returns undefined if the text is not JSON, or has more than `maxDepth` levels or MAX_JSON_VALUES
 * values.
 *
 * Before parsing, checks the bounds in one pass over the text, which stops at the first level or value beyond a bound.
 * SPEC BD1.
 */
export function parseJson(text: string, maxDepth = MAX_JSON_DEPTH): Json | undefined {
  if (!createJsonMeter(maxDepth)(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Returns whether a value is an object other than null or an array. */
export function isJsonObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Serialises a value with sorted keys, so that equal values give equal text. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isJsonObject(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

/** How a character outside strings changes the depth: 1 opens an array or object, -1 closes one, 0 is a comma. */
export type JsonToken = 1 | 0 | -1

function unitToToken(unit: number): JsonToken | null {
  if (unit === COMMA) return 0
  // Square brackets and braces differ in one bit.
  const bracket = unit & ~0x20
  return bracket === 0x5b ? 1 : bracket === 0x5d ? -1 : null
}

/**
 * Creates a function that finds the tokens of JSON text that may arrive in pieces, without checking that it is valid
 * JSON. The function reads a piece, and returns false as soon as `onToken` does. `at` is the token's index in its
 * piece.
 */
export function createJsonScanner(onToken: (token: JsonToken, at: number) => boolean): (text: string) => boolean {
  let isInString = false
  let isEscaped = false
  return (text) => {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (isEscaped) isEscaped = false
      else if (unit === BACKSLASH) isEscaped = isInString
      else if (unit === QUOTE) isInString = !isInString
      else if (!isInString) {
        const token = unitToToken(unit)
        if (token !== null && !onToken(token, i)) return false
      }
    }
    return true
  }
}

/**
 * Creates a function that returns whether JSON text is within the bounds. The text may arrive in pieces, one per call.
 */
export function createJsonMeter(maxDepth = MAX_JSON_DEPTH): (text: string) => boolean {
  let depth = 0
  let values = 0
  return createJsonScanner((token) => {
    depth += token
    if (token >= 0) values++
    return depth <= maxDepth && values <= MAX_JSON_VALUES
  })
}
