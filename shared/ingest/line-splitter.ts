/**
 * line-splitter.ts: cuts bytes into lines, however they came.
 *
 * chunks → SPLITTER → lines
 * UTF-8 is decoded line by line where a block of lines is broken, so that a broken line costs itself alone. Chunks may
 * live in a buffer that is used again: what has to wait for its line's end is copied.
 */

import { type Fault, fail, type Result, succeed } from "../fault.ts"

export interface Line {
  /** From 1; blank lines count. */
  readonly n: number
  /** Its words, or why it has none: it is too long, or no UTF-8. */
  readonly text: Result<string, Fault>
}

export interface Splitter {
  /** The lines that end in this chunk; blank ones are passed over. */
  push(chunk: Uint8Array): Line[]
  /** The last line, where it has no end. */
  end(): Line[]
  /** Bytes of the line that has not ended yet. */
  held(): number
  /** The number of that line. */
  next(): number
}

const NEWLINE = 0x0a
/** A buffer of so many bytes is kept for the next line. */
const KEPT_BYTES = 64 * 1024

/**
 * Shapes  (longest line in bytes) → Splitter.
 * Errors  none: a line that is too long is `body_too_large`, one that is no UTF-8 `body_malformed`.
 * Cost    linear, also for chunks of one byte; the memory of the longest line.
 */
export function createSplitter(maxBytes: number): Splitter {
  let buffer = new Uint8Array(0)
  let held = 0
  let n = 0
  const lineOf = (text: Result<string>): Line[] => {
    n += 1
    return text.ok && text.value.trim() === "" ? [] : [{ n, text }]
  }
  const tooLong: Result<string> = fail({ reason: "body_too_large", max: maxBytes })
  const textOf = (bytes: Uint8Array): Result<string> => (bytes.byteLength > maxBytes ? tooLong : decode(bytes))
  const hold = (bytes: Uint8Array): void => {
    const size = held + bytes.byteLength
    // What is too long already need not be kept to be told so.
    if (size <= maxBytes) {
      if (size > buffer.byteLength) buffer = grown(buffer.subarray(0, held), size)
      buffer.set(bytes, held)
    }
    held = size
  }
  const takeHeld = (last: Uint8Array): Line[] => {
    hold(last)
    const text = held > maxBytes ? tooLong : decode(buffer.subarray(0, held))
    held = 0
    if (buffer.byteLength > KEPT_BYTES) buffer = new Uint8Array(0)
    return lineOf(text)
  }
  const split = (block: Uint8Array): Line[] => {
    const text = textOf(block)
    if (text.ok) return text.value.split("\n").flatMap((line) => lineOf(succeed(line)))
    const lines: Line[] = []
    for (let from = 0; from <= block.length; ) {
      const end = block.indexOf(NEWLINE, from)
      lines.push(...lineOf(textOf(block.subarray(from, end < 0 ? block.length : end))))
      if (end < 0) break
      from = end + 1
    }
    return lines
  }
  return {
    held: () => held,
    next: () => n + 1,
    push(chunk) {
      const last = chunk.lastIndexOf(NEWLINE)
      if (last < 0) {
        hold(chunk)
        return []
      }
      const from = held > 0 ? chunk.indexOf(NEWLINE) + 1 : 0
      const lines = from > 0 ? takeHeld(chunk.subarray(0, from - 1)) : []
      if (from <= last) for (const line of split(chunk.subarray(from, last))) lines.push(line)
      hold(chunk.subarray(last + 1))
      return lines
    },
    end: () => (held > 0 ? takeHeld(new Uint8Array()) : []),
  }
}

/** Twice as large each time, so that a line that comes byte by byte is not copied for each. */
function grown(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(size, 2 * bytes.byteLength, 1024))
  larger.set(bytes)
  return larger
}

function decode(bytes: Uint8Array): Result<string> {
  try {
    return succeed(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch {
    return fail({ reason: "body_malformed" })
  }
}
