/**
 * reported-size.ts: reads the full size of a tool result that the producer has shortened.
 *
 * Known formats: Pi (`details.truncation`), Claude Code (`toolUseResult`), Codex ("Total output lines"), and results
 * that contain `truncated`, `totalLines`, `totalBytes` or `hasMore` (SPEC IH8). Pure.
 */

import { isJsonObject, parseJson } from "../../json.ts"
import type { TextSize } from "../../truncate.ts"
import { type Fields, toFields } from "../record-writer.ts"

/** Maximum length of a result that is parsed to look for these fields, in UTF-16 code units. */
const MAX_PARSED_CHARS = 256 * 1024

/** The paths at which producers put these fields, relative to the result or its details. */
const PLACES = ["truncation", "details", "file", "metadata", "pagination"] as const

/** The flags that mark a shortened result. */
const FLAGS = ["truncated", "hasMore", "has_more", "truncatedByTokenCap", "linesTruncated", "isTruncated"] as const

/**
 * Returns the size of the whole result; null if the result was not shortened. A count of 0 means that the producer did
 * not report it.
 *
 * Shapes: (a result, or the details that a producer stores with it) → TextSize | null.
 * Cost: linear in the length of a result's text.
 */
export function readReportedSize(value: unknown): TextSize | null {
  if (typeof value === "string") return readSizeOfText(value)
  if (!isJsonObject(value)) return null
  const inner = PLACES.map((place) => toFields(value[place]))
  const nested = inner.map((fields) => toFields(fields["truncation"]))
  for (const fields of [...inner, ...nested, value]) {
    const size = readSizeFields(fields)
    if (size !== null) return size
  }
  return null
}

function readSizeOfText(text: string): TextSize | null {
  const lines = /^(?:[^\n]{0,200}\n){0,8}Total output lines: (\d{1,9})\n/.exec(text.slice(0, 2_000))?.[1]
  if (lines !== undefined) return { lines: Number(lines), bytes: 0 }
  if (!text.startsWith("{") || text.length > MAX_PARSED_CHARS) return null
  const parsed = parseJson(text)
  return isJsonObject(parsed) ? readReportedSize(parsed) : null
}

function readSizeFields(fields: Fields): TextSize | null {
  const lines = readCount(fields, "totalLines", "total_lines")
  const bytes = readCount(fields, "totalBytes", "total_bytes", "persistedOutputSize")
  const shown = readCount(fields, "numLines", "outputLines")
  const isPart = shown > 0 && lines > shown
  const isFlagged = FLAGS.some((flag) => fields[flag] === true) || readCount(fields, "persistedOutputSize") > 0
  return isPart || isFlagged ? { lines, bytes } : null
}

/** Returns the value of the first of these fields that is a count; 0 if there is none. */
function readCount(fields: Fields, ...names: readonly string[]): number {
  const count = names.map((name) => fields[name]).find((value) => Number.isSafeInteger(value) && Number(value) > 0)
  return count === undefined ? 0 : Number(count)
}
