/**
 * json.ts: JSON values: their type, a parser that does not throw and is bounded in depth and count, and printed forms.
 *
 * Recursive code (JSON.stringify, a component tree) overflows the stack on deep data, and parsing needs up to 80 bytes of
 * memory per byte of text. The bounds are therefore checked in the text, before it is parsed.
 */

import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./limits.ts"

/** Any value that `JSON.parse` can return. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Parses JSON text. Returns undefined if the text is not JSON, has more than `maxDepth` levels or MAX_JSON_VALUES values.
 *
 * Cost: one pass over the text before it is parsed. It ends at the first level or value that is too much. SPEC BD1.
 */
export function parseJson(text: string, maxDepth = MAX_JSON_DEPTH): Json | undefined {
  if (!createJsonMeter(maxDepth).push(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Serialises a value with sorted keys, so that equal values give equal bytes. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isJsonObject(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

function isOpening(unit: number): boolean {
  return unit === 0x5b || unit === 0x7b
}

function isClosing(unit: number): boolean {
  return unit === 0x5d || unit === 0x7d
}

export interface JsonMeter {
  /** Reads more text. Returns whether everything so far is within the bounds. */
  push(text: string): boolean
}

/** Measures depth and number of values of JSON text that may arrive in pieces. Text that is not JSON has a depth too. */
export function createJsonMeter(maxDepth = MAX_JSON_DEPTH): JsonMeter {
  let depth = 0
  let values = 0
  let isInString = false
  let isEscaped = false
  return {
    push(text) {
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i)
        if (isEscaped) isEscaped = false
        else if (unit === BACKSLASH) isEscaped = isInString
        else if (unit === QUOTE) isInString = !isInString
        else if (isInString) continue
        else if (unit === COMMA) values++
        else if (isClosing(unit)) depth--
        else if (isOpening(unit)) {
          values++
          depth++
        }
        if (depth > maxDepth || values > MAX_JSON_VALUES) return false
      }
      return true
    },
  }
}

/** Stands for the levels that `limitJsonDepth` omits. */
export const OMITTED_LEVELS = "(deeper levels omitted)"

/**
 * The same text, or if it is JSON (up to its first blank line) with more than MAX_JSON_DEPTH levels: with OMITTED_LEVELS
 * instead of the arrays and objects below. Applying it twice equals applying it once. Linear. SPEC BD2.
 */
export function limitJsonDepth(text: string): string {
  if (createJsonMeter().push(text)) return text
  const blank = text.indexOf("\n\n")
  const head = blank < 0 ? text : text.slice(0, blank)
  const limited = omitDeepLevels(head)
  return parseJson(limited) === undefined ? text : limited + text.slice(head.length)
}

function omitDeepLevels(text: string): string {
  const kept: string[] = []
  let from = 0
  let depth = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isInString && unit === BACKSLASH) i++
    else if (unit === QUOTE) isInString = !isInString
    else if (isInString) continue
    else if (isOpening(unit)) {
      depth++
      if (depth === MAX_JSON_DEPTH + 1) kept.push(text.slice(from, i), JSON.stringify(OMITTED_LEVELS))
    } else if (isClosing(unit)) {
      depth--
      if (depth === MAX_JSON_DEPTH) from = i + 1
    }
  }
  if (depth <= MAX_JSON_DEPTH) kept.push(text.slice(from))
  return kept.join("")
}

/** Parses JSON text whose deeper levels are omitted. Returns undefined if the text is not JSON. */
export function parseJsonToDepth(text: string): Json | undefined {
  return parseJson(limitJsonDepth(text))
}

/** Longest indented JSON, in UTF-16 code units. Each level adds two spaces to each line, so wide and deep data grows a hundredfold. */
export const MAX_PRINTED_JSON_CHARS = 256 * 1024

/** JSON text, indented unless that would exceed MAX_PRINTED_JSON_CHARS. Linear in its result. SPEC BD5. */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value)
  return countIndentedChars(text) > MAX_PRINTED_JSON_CHARS ? text : JSON.stringify(value, null, 2)
}

/** Upper bound of the length of JSON text after indentation: each value begins a line, and so does each end of a list. */
function countIndentedChars(text: string): number {
  let chars = text.length
  let depth = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isInString && unit === BACKSLASH) i++
    else if (unit === QUOTE) isInString = !isInString
    else if (isInString) continue
    else if (isOpening(unit)) chars += 2 * ++depth + 2
    else if (isClosing(unit)) chars += 2 * --depth + 1
    else if (unit === COMMA) chars += 2 * depth + 2
  }
  return chars
}
