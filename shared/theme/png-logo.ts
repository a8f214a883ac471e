/**
 * png-logo.ts: rewrites an uploaded PNG file so that it contains nothing but an image. Pure. Source: SPEC TH6.
 *
 * Only the chunks that the image needs are copied. Text, profiles, animations and everything after the image are left
 * out, so a file that was also something else (a page, a script, an archive) is only an image afterwards.
 */

import { crc32 } from "../crc32.ts"
import { fail, type LogoFlaw, type Result, succeed } from "../fault.ts"

/** Maximum size of a logo, in bytes: every page of the tenant loads it. */
export const MAX_LOGO_BYTES = 64 * 1024
/**
 * Maximum width and height of a logo, in pixels. Logos are shown at most 48 pixels high, so this is sharp on every
 * screen.
 */
export const MAX_LOGO_SIDE = 512

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const KEPT_CHUNKS = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"])
/** Length, type and checksum of a chunk. */
const CHUNK_FRAME_BYTES = 12
const IHDR_BYTES = 13

interface Chunk {
  readonly type: string
  /** The whole chunk, including its length, type and checksum. */
  readonly bytes: Uint8Array
}

/** Returns the rewritten file, or the fault `logo_refused` with the reason. */
export function parseLogo(file: Uint8Array): Result<Uint8Array<ArrayBuffer>> {
  if (!SIGNATURE.every((byte, at) => file[at] === byte)) return refuse("type")
  const chunks = readChunks(file)
  if (chunks === null) return refuse("damaged")
  const flaw = findHeaderFlaw(chunks[0])
  if (flaw !== null) return refuse(flaw)
  if (!chunks.some(({ type }) => type === "IDAT")) return refuse("damaged")
  return succeed(joinChunks(chunks.filter(({ type }) => KEPT_CHUNKS.has(type))))
}

function refuse(because: LogoFlaw): Result<never> {
  return fail({ reason: "logo_refused", because })
}

/**
 * Returns the chunks up to the end of the image; null if a chunk is cut off, a checksum is wrong, or the end is
 * missing.
 */
function readChunks(file: Uint8Array): Chunk[] | null {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at + CHUNK_FRAME_BYTES <= file.length; ) {
    const end = at + CHUNK_FRAME_BYTES + view.getUint32(at)
    if (end > file.length || crc32(file.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return null
    const type = String.fromCharCode(...file.subarray(at + 4, at + 8))
    chunks.push({ type, bytes: file.subarray(at, end) })
    if (type === "IEND") return chunks
    at = end
  }
  return null
}

function findHeaderFlaw(header: Chunk | undefined): LogoFlaw | null {
  if (header?.type !== "IHDR" || header.bytes.length !== CHUNK_FRAME_BYTES + IHDR_BYTES) return "damaged"
  const view = new DataView(header.bytes.buffer, header.bytes.byteOffset)
  const sides = [view.getUint32(8), view.getUint32(12)]
  if (sides.includes(0)) return "damaged"
  return sides.some((side) => side > MAX_LOGO_SIDE) ? "side" : null
}

function joinChunks(chunks: readonly Chunk[]): Uint8Array<ArrayBuffer> {
  const parts = [Uint8Array.from(SIGNATURE), ...chunks.map(({ bytes }) => bytes)]
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    file.set(part, at)
    at += part.length
  }
  return file
}
