/**
 * split-file.ts: splits a file at line endings into parts that each fit one request.
 *
 * Only the bytes around the cuts are read, because a part is a view of the file, not a copy. Source: SPEC PG35.
 */

import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"

/** How many bytes are read at a time to find a line ending. */
const SCAN_STEP_BYTES = 256 * 1024
const LINE_FEED = 10

/** Splits the file. Returns null if a line is longer than the server accepts. */
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

/**
 * Returns the offset after the last line ending before `to`; null if there is none within the maximum length of a line.
 */
async function findLastLineEnd(file: Blob, from: number, to: number): Promise<number | null> {
  const floor = Math.max(from, to - MAX_IMPORT_LINE_BYTES)
  for (let high = to; high > floor; high -= SCAN_STEP_BYTES) {
    const low = Math.max(floor, high - SCAN_STEP_BYTES)
    const bytes = new Uint8Array(await file.slice(low, high).arrayBuffer())
    const index = bytes.lastIndexOf(LINE_FEED)
    if (index >= 0) return low + index + 1
  }
  return null
}

/** Returns the number of lines before each part. Reads every part except the last. */
export async function countLinesBefore(parts: readonly Blob[]): Promise<readonly number[]> {
  const before = [0]
  for (const part of parts.slice(0, -1)) before.push((before.at(-1) ?? 0) + (await countLineEnds(part)))
  return before
}

async function countLineEnds(part: Blob): Promise<number> {
  let count = 0
  for (let from = 0; from < part.size; from += SCAN_STEP_BYTES) {
    const bytes = new Uint8Array(await part.slice(from, from + SCAN_STEP_BYTES).arrayBuffer())
    for (let index = bytes.indexOf(LINE_FEED); index >= 0; index = bytes.indexOf(LINE_FEED, index + 1)) count++
  }
  return count
}

/** Returns whether a file is gzip-compressed, judging by its first bytes, because the extension may be wrong. */
export async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

/** Returns whether a file is a ZIP archive. Other chat services deliver their data exports as ZIP archives. */
export async function isZip(file: Blob): Promise<boolean> {
  return (await file.slice(0, 4).text()) === "PK\u0003\u0004"
}

/** Returns whether a file is a single JSON array, which can't be split at lines. */
export async function isJsonArray(file: Blob): Promise<boolean> {
  return /^\s*\[/.test(await file.slice(0, 256).text())
}
