/**
 * json-depth.ts: JSON text whose deeper levels are omitted, and indented JSON of a bounded size.
 */

import { createJsonMeter, createJsonScanner, type Json, MAX_JSON_DEPTH, parseJson } from "./json.ts"

/** Stands for the levels that `limitJsonDepth` omits. */
export const OMITTED_LEVELS = "(deeper levels omitted)"

/**
 * The same text, or if it is JSON (up to its first blank line) with more than MAX_JSON_DEPTH levels: with OMITTED_LEVELS
 * instead of the arrays and objects below. Applying it twice equals applying it once. Linear. SPEC BD2.
 */
export function limitJsonDepth(text: string): string {
  if (createJsonMeter()(text)) return text
  const blank = text.indexOf("\n\n")
  const head = blank < 0 ? text : text.slice(0, blank)
  const limited = omitDeepLevels(head)
  return parseJson(limited) === undefined ? text : limited + text.slice(head.length)
}

function omitDeepLevels(text: string): string {
  const kept: string[] = []
  let from = 0
  let depth = 0
  createJsonScanner((token, at) => {
    if (token === 1 && depth === MAX_JSON_DEPTH) kept.push(text.slice(from, at), JSON.stringify(OMITTED_LEVELS))
    depth += token
    if (token === -1 && depth === MAX_JSON_DEPTH) from = at + 1
    return true
  })(text)
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
  createJsonScanner((token) => {
    depth += token
    // A line end, the indentation, and at most one space after a colon.
    chars += 2 * depth + 2
    return true
  })(text)
  return chars
}
