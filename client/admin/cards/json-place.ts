/**
 * json-place.ts: finds the position of a value in JSON text, and the position at which a text stops being valid JSON.
 * The editor moves the cursor there. Pure. The text is read once. Nesting deeper than MAX_JSON_DEPTH counts as an
 * error.
 */

import { MAX_JSON_DEPTH } from "../../../shared/json.ts"

/** Indexes in UTF-16 code units. */
export interface TextPlace {
  readonly start: number
  readonly end: number
}

/** A problem in a text, and its position. */
export interface TextProblem extends TextPlace {
  /** Counted from 1. */
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
  /** The position of the value whose path matches the most keys of the pointer. */
  found: TextPlace
  foundKeys: number
}

/**
 * Returns the position of a pointer's value, including its key. If there is no such value, returns the position of the
 * innermost value around it.
 */
export function findPlace(text: string, pointer: string): TextPlace {
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

/** Counted from 1. */
export function findLine(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf("\n"); at >= 0 && at < index; at = text.indexOf("\n", at + 1)) line++
  return line
}

/**
 * Reads a value. `matched`: how many keys of the pointer lead to it; null if it isn't on the pointer's path. `from`:
 * where its key starts. Returns false at an error, which is at `reader.at`.
 */
function readValue(reader: Reader, depth: number, matched: number | null, from: number): boolean {
  const isRoot = depth === 0
  const keys = isRoot ? 0 : matched
  skip(reader, SPACE)
  const start = isRoot || from < 0 ? reader.at : from
  const isRead = readContent(reader, depth, keys)
  if (isRead && keys !== null && keys >= reader.foundKeys) {
    // A position inside this value matches more keys and has already been found.
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

/** Reads the key of a member, with its colon. Returns null at an error. */
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

/** Whether the pattern matches here. The pattern for whitespace also matches the empty string. */
function skip(reader: Reader, pattern: RegExp): boolean {
  pattern.lastIndex = reader.at
  if (!pattern.test(reader.text)) return false
  reader.at = pattern.lastIndex
  return true
}
