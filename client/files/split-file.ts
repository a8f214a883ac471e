/**
 * split-file.ts: a file of lines as pieces that one request may carry, each ended by a line's end.
 *
 * Reads only around the cuts: a piece is a view of the file, not a copy. Source: SPEC PG35.
 */

import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"

/** Looked through at once for a line's end, in bytes. */
const SCAN_STEP_BYTES = 256 * 1024
const LINE_FEED = 10

/** Null where a line is longer than any that would be taken. */
export async function splitAtLines(file: Blob, maxBytes = MAX_IMPORT_BYTES): Promise<readonly Blob[] | null> {
  const parts: Blob[] = []
  let from = 0
  while (file.size - from > maxBytes) {
    const end = await findLastLineEnd(file, from, from + maxBytes)
    if (end === null) return null
    parts.push(file.slice(from, end))
    from = end
  }
  return [...parts, file.slice(from)]
}

/** Just behind the last line's end before `to`. */
async function findLastLineEnd(file: Blob, from: number, to: number): Promise<number | null> {
  const floor = Math.max(from, to - MAX_IMPORT_LINE_BYTES)
  for (let high = to; high > floor; high -= SCAN_STEP_BYTES) {
    const low = Math.max(floor, high - SCAN_STEP_BYTES)
    const bytes = new Uint8Array(await file.slice(low, high).arrayBuffer())
    const at = bytes.lastIndexOf(LINE_FEED)
    if (at >= 0) return low + at + 1
  }
  return null
}

/** How many lines stand before each piece. Reads all but the last: only where somebody asks. */
export async function countLinesBefore(parts: readonly Blob[]): Promise<readonly number[]> {
  const before = [0]
  for (const part of parts.slice(0, -1)) before.push((before.at(-1) ?? 0) + (await countLineEnds(part)))
  return before
}

async function countLineEnds(part: Blob): Promise<number> {
  let count = 0
  for (let from = 0; from < part.size; from += SCAN_STEP_BYTES) {
    const bytes = new Uint8Array(await part.slice(from, from + SCAN_STEP_BYTES).arrayBuffer())
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  }
  return count
}

/** Is it packed? By its first bytes: names lie. */
export async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

/** Is it one JSON list, which cannot be cut at lines? */
export async function isJsonArray(file: Blob): Promise<boolean> {
  return /^\s*\[/.test(await file.slice(0, 256).text())
}
