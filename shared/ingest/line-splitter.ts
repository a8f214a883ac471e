/**
 * line-splitter.ts: splits a stream of byte chunks into lines of text.
 *
 * Blocks of lines are decoded as a whole. If a block is not valid UTF-8, it is decoded line by line, so that only the
 * invalid lines fail. Incomplete lines are copied, because callers may reuse a chunk's buffer. Pure.
 */

import { type Fault, fail, type Result, succeed } from "../fault.ts"

export interface Line {
  /** The line number, counted from 1. Blank lines count. */
  readonly n: number
  /** The text, or a fault if the line is too long or not UTF-8. */
  readonly text: Result<string, Fault>
}

export interface LineSplitter {
  /** Returns the lines that end in this chunk, without blank lines. */
  push(chunk: Uint8Array): Line[]
  /** Returns the last line if it has no line ending. */
  end(): Line[]
  /** Returns the number of bytes received of the line that has not ended yet. */
  pendingBytes(): number
  /** Returns the number of the line that has not ended yet. */
  nextLineNumber(): number
}

const NEWLINE = 0x0a
/** A buffer larger than this, in bytes, is released after its line. */
const MAX_REUSED_BUFFER_BYTES = 64 * 1024

/**
 * Shapes: (maximum length of a line in bytes) → LineSplitter.
 * Errors: a line that is too long gets the fault `body_too_large`; one that is not UTF-8 gets `body_malformed`.
 * Cost: linear in the number of bytes, even for chunks of one byte; memory for the longest line.
 */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let buffer = new Uint8Array(0)
  let pendingBytes = 0
  let n = 0
  const toLines = (text: Result<string>): Line[] => {
    n += 1
    return text.ok && text.value.trim() === "" ? [] : [{ n, text }]
  }
  const tooLongFault: Result<string> = fail({ reason: "body_too_large", max: maxBytes })
  const decodeLine = (bytes: Uint8Array): Result<string> =>
    bytes.byteLength > maxBytes ? tooLongFault : decodeUtf8(bytes)
  const bufferBytes = (bytes: Uint8Array): void => {
    const size = pendingBytes + bytes.byteLength
    // The rest of a line that is already too long isn't copied.
    if (size <= maxBytes) {
      if (size > buffer.byteLength) buffer = growBuffer(buffer.subarray(0, pendingBytes), size)
      buffer.set(bytes, pendingBytes)
    }
    pendingBytes = size
  }
  const finishPendingLine = (last: Uint8Array): Line[] => {
    bufferBytes(last)
    const text = pendingBytes > maxBytes ? tooLongFault : decodeUtf8(buffer.subarray(0, pendingBytes))
    pendingBytes = 0
    if (buffer.byteLength > MAX_REUSED_BUFFER_BYTES) buffer = new Uint8Array(0)
    return toLines(text)
  }
  const splitBlock = (block: Uint8Array): Line[] => {
    const text = decodeLine(block)
    if (text.ok) return text.value.split("\n").flatMap((line) => toLines(succeed(line)))
    const lines: Line[] = []
    for (let from = 0; from <= block.length; ) {
      const end = block.indexOf(NEWLINE, from)
      lines.push(...toLines(decodeLine(block.subarray(from, end < 0 ? block.length : end))))
      if (end < 0) break
      from = end + 1
    }
    return lines
  }
  return {
    pendingBytes: () => pendingBytes,
    nextLineNumber: () => n + 1,
    push(chunk) {
      const last = chunk.lastIndexOf(NEWLINE)
      if (last < 0) {
        bufferBytes(chunk)
        return []
      }
      const from = pendingBytes > 0 ? chunk.indexOf(NEWLINE) + 1 : 0
      const lines = from > 0 ? finishPendingLine(chunk.subarray(0, from - 1)) : []
      if (from <= last) for (const line of splitBlock(chunk.subarray(from, last))) lines.push(line)
      bufferBytes(chunk.subarray(last + 1))
      return lines
    },
    end: () => (pendingBytes > 0 ? finishPendingLine(new Uint8Array()) : []),
  }
}

/** Returns a copy of at least twice the size, so that a line that arrives byte by byte is not copied for each byte. */
function growBuffer(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(size, 2 * bytes.byteLength, 1024))
  larger.set(bytes)
  return larger
}

function decodeUtf8(bytes: Uint8Array): Result<string> {
  try {
    return succeed(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch {
    return fail({ reason: "body_malformed" })
  }
}
