/**
 * truncate.ts: measures text, and shortens tool arguments and results for display.
 *
 * The store keeps the whole text. Clients receive its start, cut at a line ending, and the full size.
 */

/**
 * The size of some text. `bytes` counts UTF-8. 0 means unknown: a producer shortened the text without reporting its
 * size.
 */
export interface TextSize {
  readonly lines: number
  readonly bytes: number
}

/** The start of some text. If it is not the whole text, `truncated` is the full size. */
export interface TruncatedText {
  readonly text: string
  readonly truncated?: TextSize
}

/** Returns the size of a string in UTF-8 bytes, without encoding it. One pass. A lone surrogate counts as U+FFFD. */
export function countUtf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else {
      bytes += 2
      const next = text.charCodeAt(i + 1)
      // A surrogate pair is two code units and four bytes.
      if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) i++
    }
  }
  return bytes
}

/**
 * Returns the size of some text inside a JSON string, in UTF-8 bytes, including escapes. Cost: linear in its length.
 */
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
 * Shortens text to whole lines that fit both bounds. If its first line alone is too long, the line is cut between two
 * code points. `maxBytes` bounds the size inside a JSON string. Cost: linear in the length of the text. SPEC SG9.
 */
export function truncateLines(text: string, maxLines: number, maxBytes: number): TruncatedText {
  const size = { lines: countLines(text), bytes: countUtf8Bytes(text) }
  if (countJsonBytes(text) <= maxBytes && size.lines <= maxLines) return { text }
  return { text: text.slice(0, findHeadEnd(text, maxLines, maxBytes)), truncated: size }
}

export interface TextHead {
  /** Appends text. The text must not end inside a surrogate pair. */
  push(text: string): void
  /** Returns the result of `truncateLines` for the whole text. */
  readHead(): TruncatedText
}

export interface SizeCounter {
  /** Appends text. The text must not end inside a surrogate pair. */
  push(text: string): void
  size(): TextSize
}

/** Creates a counter of the lines and UTF-8 bytes of growing text. Cost: linear in the length of the pushed text. */
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
 * Does what `truncateLines` does, for growing text. Once a bound is exceeded, the cost is linear in the length of the
 * pushed text. SPEC SG9.
 */
export function createTextHead(maxLines: number, maxBytes: number): TextHead {
  let head = ""
  const counter = createSizeCounter()
  let isFull = false
  return {
    push(text) {
      if (text === "") return
      counter.push(text)
      if (isFull) return
      const result = truncateLines(head + text, maxLines, maxBytes)
      // The position of the cut depends on the text after it, so all text is kept in the head until it exceeds a bound.
      isFull = result.truncated !== undefined
      head = result.text
    },
    readHead: () => (isFull ? { text: head, truncated: counter.size() } : { text: head }),
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

/** Returns the largest index, between two code points, up to which the text has at most `maxBytes`. */
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
