/**
 * json-range.ts: finds the range of a value in JSON text, and the position at which text stops being valid JSON, so
 * that the editor can move the cursor there. Pure. Reads the text once. Nesting deeper than MAX_JSON_DEPTH is treated
 * as a syntax error.
 */

import { MAX_JSON_DEPTH } from "../../../shared/json.ts"

/** Indexes in UTF-16 code units. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A problem in JSON text, and its position. */
export interface TextProblem extends TextRange {
  /** The number of the line that contains `start`, counted from 1. */
  readonly line: number
  /** A JSON Pointer into the text. */
  readonly pointer: string
  readonly problem: string
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const SPACE = /[ \t\n\r]*/y

interface Reader {
  readonly text: string
  /** The keys of the pointer to find. */
  readonly keys: readonly string[]
  at: number
  /** The range of the value whose path matches the most keys of the pointer. */
  found: TextRange
  foundKeys: number
}

/**
 * Returns the range of the value that the pointer names, including its key. If there is no such value, returns the
 * range of the innermost value that would contain it.
 */
export function findRange(text: string, pointer: string): TextRange {
  const keys = pointer === "" ? [] : pointer.slice(1).split("/")
  const decoded = keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
  const reader: Reader = { text, keys: decoded, at: 0, found: { start: 0, end: 0 }, foundKeys: 0 }
  readValue(reader, 0, null, 0)
  return reader.found
}

/** Returns the index at which the text stops being valid JSON; null if it is valid. */
export function findSyntaxError(text: string): number | null {
  const reader: Reader = { text, keys: [], at: 0, found: { start: 0, end: 0 }, foundKeys: 0 }
  if (!readValue(reader, 0, null, 0)) return reader.at
  skip(reader, SPACE)
  return reader.at === text.length ? null : reader.at
}

/** Returns the line that contains `index`, counted from 1. */
export function findLine(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf("\n"); at >= 0 && at < index; at = text.indexOf("\n", at + 1)) line++
  return line
}

/**
 * Reads a value. `matched`: how many keys of the pointer lead to this value; null if it isn't on the pointer's path.
 * `from`: the index at which the value's key starts. Returns false on a syntax error, whose position is `reader.at`.
 */
function readValue(reader: Reader, depth: number, matched: number | null, from: number): boolean {
  const isRoot = depth === 0
  const keys = isRoot ? 0 : matched
  skip(reader, SPACE)
  const start = isRoot || from < 0 ? reader.at : from
  const isRead = readContent(reader, depth, keys)
  if (isRead && keys !== null && keys >= reader.foundKeys) {
    // Values inside this one are read first. If one of them matched more keys, that value remains the result.
    if (keys > reader.foundKeys || reader.found.end === 0) reader.found = { start, end: reader.at }
    reader.foundKeys = keys
  }
  return isRead
}

function readContent(reader: Reader, depth: number, matched: number | null): boolean {
  const unit = reader.text[reader.at]
  if (unit === "{" || unit === "[") {
    if (depth >= MAX_JSON_DEPTH) return false
    reader.at++
    return readMembers(reader, depth, matched, unit === "{")
  }
  return skip(reader, unit === '"' ? STRING : SCALAR)
}

function readMembers(reader: Reader, depth: number, matched: number | null, isObject: boolean): boolean {
  const closing = isObject ? "}" : "]"
  skip(reader, SPACE)
  if (take(reader, closing)) return true
  for (let index = 0; ; index++) {
    skip(reader, SPACE)
    const start = reader.at
    const key = isObject ? readKey(reader) : String(index)
    if (key === null) return false
    const isOnPath = matched !== null && reader.keys[matched] === key
    if (!readValue(reader, depth + 1, isOnPath ? matched + 1 : null, isObject ? start : -1)) return false
    skip(reader, SPACE)
    if (take(reader, closing)) return true
    if (!take(reader, ",")) return false
  }
}

/** Reads a member's key and the colon after it. Returns null on a syntax error. */
function readKey(reader: Reader): string | null {
  const start = reader.at
  if (!skip(reader, STRING)) return null
  const key = JSON.parse(reader.text.slice(start, reader.at)) as string
  skip(reader, SPACE)
  return take(reader, ":") ? key : null
}

function take(reader: Reader, unit: string): boolean {
  if (reader.text[reader.at] !== unit) return false
  reader.at++
  return true
}

/** Skips what the pattern matches here; returns whether it matched. SPACE also matches the empty string. */
function skip(reader: Reader, pattern: RegExp): boolean {
  pattern.lastIndex = reader.at
  if (!pattern.test(reader.text)) return false
  reader.at = pattern.lastIndex
  return true
}
