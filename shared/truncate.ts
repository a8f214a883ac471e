/**
 * truncate.ts: how much of a tool's text a client is shown.
 *
 * The store keeps the whole; a client gets the head, on whole lines, and the
 * true totals. Pure.
 */

import type { Truncated } from "./protocol/frame.ts"

/** Size of a text in UTF-8, in bytes, without encoding it. One pass. A lone surrogate counts as U+FFFD. */
export function countUtf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else {
      bytes += 2
      const next = text.charCodeAt(i + 1)
      // A pair is two units and four bytes.
      if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) i++
    }
  }
  return bytes
}

/** Size of a text inside a JSON string, in UTF-8 bytes: what it costs on the wire, escapes included. One pass. */
export function countJsonBytes(text: string): number {
  let bytes = countUtf8Bytes(text)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x09 || unit === 0x0d) bytes += 1
    else if (unit < 0x20) bytes += 5
  }
  return bytes
}

/**
 * The head of a text that fits both bounds, on whole lines; a first line that is
 * too long by itself is cut between code points.
 *
 * Shapes  (text, lines, bytes on the wire) → { text, truncated? }; `truncated` holds the true totals.
 * Cost    one pass.
 * Source  SPEC SG9.
 */
export function truncateLines(
  text: string,
  maxLines: number,
  maxBytes: number,
): { readonly text: string; readonly truncated?: Truncated } {
  const bytes = countUtf8Bytes(text)
  const lines = countLines(text)
  if (countJsonBytes(text) <= maxBytes && lines <= maxLines) return { text }
  const end = findHeadEnd(text, maxLines, maxBytes)
  return { text: text.slice(0, end), truncated: { lines, bytes } }
}

export interface TextHead {
  /** Takes more of the text; it must not end inside a surrogate pair. */
  push(text: string): void
  /** As `truncateLines` of the whole would give it. */
  readHead(): { readonly text: string; readonly truncated?: Truncated }
}

export interface SizeCounter {
  /** Takes more of the text; it must not end inside a surrogate pair. */
  push(text: string): void
  size(): Truncated
}

/** Counts the lines and UTF-8 bytes of a text that grows. Cost: linear in what is pushed. */
export function createSizeCounter(): SizeCounter {
  let lines = 1
  let bytes = 0
  return {
    push(text) {
      lines += countLines(text) - 1
      bytes += countUtf8Bytes(text)
    },
    size: () => ({ lines, bytes }),
  }
}

/**
 * The same head of a text that grows.
 *
 * Cost    linear in what is pushed, once the bounds are passed; before that in the bounds.
 * Source  SPEC SG9.
 */
export function createTextHead(maxLines: number, maxBytes: number): TextHead {
  let head = ""
  const size = createSizeCounter()
  let isFull = false
  return {
    push(text) {
      if (text === "") return
      size.push(text)
      if (isFull) return
      const cut = truncateLines(head + text, maxLines, maxBytes)
      // Kept whole until it is too long: only then is it known where it is to be cut.
      isFull = cut.truncated !== undefined
      head = cut.text
    },
    readHead: () => (isFull ? { text: head, truncated: size.size() } : { text: head }),
  }
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

function findHeadEnd(text: string, maxLines: number, maxBytes: number): number {
  let end = 0
  let bytes = 0
  for (let line = 0; line < maxLines; line++) {
    const newline = text.indexOf("\n", end)
    const next = newline < 0 ? text.length : newline + 1
    bytes += countJsonBytes(text.slice(end, next))
    if (bytes > maxBytes) break
    end = next
    if (newline < 0) break
  }
  return end > 0 ? end : findByteCut(text, maxBytes)
}

function findByteCut(text: string, maxBytes: number): number {
  let bytes = 0
  let end = 0
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0
    const size = point > 0xffff ? 2 : 1
    bytes += countJsonBytes(text.slice(end, end + size))
    if (bytes > maxBytes) break
    end += size
  }
  return end
}
