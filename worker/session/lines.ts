/**
 * lines.ts: the lines of an uploaded file, one at a time, packed or not.
 *
 * bytes (gzip or plain) → LINES
 * UTF-8 is decoded line by line, so that a broken one costs itself alone.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"

export interface Line {
  /** From 1. */
  readonly n: number
  /** Its words, or why it has none: it is too long, or no UTF-8. */
  readonly text: Result<string, Fault>
}

/** The file was larger than it may be; what came before was given. */
export class TooLarge extends Error {}

const NEWLINE = 0x0a

/**
 * Shapes  byte stream → lines; blank ones are passed over but counted.
 * Errors  throws `TooLarge` beyond MAX_IMPORT_BYTES, packed or unpacked.
 * Cost    linear; the memory of the longest line.
 */
export async function* linesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let n = 0
  const take = (last: Uint8Array): Line | null => {
    n += 1
    const size = heldBytes + last.byteLength
    const text = size > MAX_IMPORT_LINE_BYTES ? tooLong() : decode([...held, last])
    held = []
    heldBytes = 0
    return text.ok && text.value.trim() === "" ? null : { n, text }
  }
  for await (const chunk of counted(await unpacked(body))) {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = take(chunk.subarray(from, at))
      from = at + 1
      if (line !== null) yield line
    }
    // What is too long already need not be kept to be told so.
    if (heldBytes <= MAX_IMPORT_LINE_BYTES) held.push(chunk.slice(from))
    heldBytes += chunk.byteLength - from
  }
  const last = heldBytes > 0 ? take(new Uint8Array()) : null
  if (last !== null) yield last
}

function tooLong(): Result<string, Fault> {
  return fail({ reason: "body_too_large", max: MAX_IMPORT_LINE_BYTES })
}

function decode(chunks: readonly Uint8Array[]): Result<string, Fault> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })
  try {
    return succeed(chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode())
  } catch {
    return fail({ reason: "body_malformed" })
  }
}

async function* counted(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > MAX_IMPORT_BYTES) throw new TooLarge()
    yield chunk
  }
}

/** Gzip is told by its first two bytes, whatever the request says. */
async function unpacked(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader()
  const first = await reader.read()
  const rest = new ReadableStream<Uint8Array>({
    async start(controller) {
      if (first.value !== undefined) controller.enqueue(first.value)
      if (first.done) controller.close()
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const isGzip = first.value?.[0] === 0x1f && first.value[1] === 0x8b
  return isGzip ? rest.pipeThrough(new DecompressionStream("gzip")) : rest
}
