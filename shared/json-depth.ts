/**
 * json-depth.ts: JSON text whose deeper levels are omitted, and indented JSON of a bounded size.
 */

import { createJsonMeter, createJsonScanner, type Json, MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJson } from "./json.ts"

/** Replaces the levels that `limitJsonDepth` omits. */
export const OMITTED_LEVELS = "(deeper levels omitted)"

/**
 * Replaces arrays and objects below MAX_JSON_DEPTH levels with OMITTED_LEVELS, if the text is JSON (up to its first
 * blank line). Any other text is returned unchanged. Applying the function twice has the same effect as applying it
 * once. Cost: linear in the length of the text. If more than MAX_JSON_VALUES values would remain, the text is returned
 * unchanged, because such text is refused anyway. SPEC BD1, BD2.
 */
export function limitJsonDepth(text: string): string {
  if (createJsonMeter()(text)) return text
  const blank = text.indexOf("\n\n")
  const head = blank < 0 ? text : text.slice(0, blank)
  const limited = omitDeepLevels(head)
  if (limited === null || parseJson(limited) === undefined) return text
  return limited + text.slice(head.length)
}

const OMITTED_LEVELS_JSON = /* @__PURE__ */ JSON.stringify(OMITTED_LEVELS)

/** Returns the text without its deep levels; null if more than MAX_JSON_VALUES values would remain. */
function omitDeepLevels(text: string): string | null {
  const kept: string[] = []
  let from = 0
  let depth = 0
  let values = 0
  let omitted = 0
  const isWithinBounds = createJsonScanner((token, at) => {
    if (token === 1 && depth === MAX_JSON_DEPTH) {
      kept.push(text.slice(from, at), OMITTED_LEVELS_JSON)
      omitted++
    }
    depth += token
    if (token === -1 && depth === MAX_JSON_DEPTH) from = at + 1
    if (token >= 0 && depth <= MAX_JSON_DEPTH) values++
    return values <= MAX_JSON_VALUES && omitted <= MAX_JSON_VALUES
  })(text)
  if (!isWithinBounds) return null
  if (depth <= MAX_JSON_DEPTH) kept.push(text.slice(from))
  return kept.join("")
}

/** Parses JSON text after omitting its deeper levels. Returns undefined if the text is not JSON. */
export function parseJsonToDepth(text: string): Json | undefined {
  return parseJson(limitJsonDepth(text))
}

/**
 * Maximum length of indented JSON, in UTF-16 code units. Each level adds two spaces to each line, so wide and deep data
 * can grow a hundredfold.
 */
export const MAX_PRINTED_JSON_CHARS = 256 * 1024

/**
 * Returns JSON text, indented unless that would exceed MAX_PRINTED_JSON_CHARS. Cost: linear in the length of the
 * result. SPEC BD5.
 */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value)
  return countIndentedChars(text) > MAX_PRINTED_JSON_CHARS ? text : JSON.stringify(value, null, 2)
}

/**
 * Returns an upper bound for the length of JSON text after indentation. Each value and each closing bracket begins a
 * line.
 */
function countIndentedChars(text: string): number {
  let chars = text.length
  let depth = 0
  createJsonScanner((token) => {
    depth += token
    // A line break, the indentation, and at most one space after a colon.
    chars += 2 * depth + 2
    return true
  })(text)
  return chars
}
