/**
 * frames.ts: finds the frames in the bytes of a WebSocket connection by their headers (RFC 6455 §5.2).
 *
 * The bytes before the first frame are the HTTP upgrade. Earlier requests on the same connection contain no frames.
 */

/** Finds where data frames end. */
export interface FrameReader {
  /** Reads a chunk, and returns the offsets in it at which a data frame (text or binary) ends. */
  push(chunk: Uint8Array): number[]
}

const UPGRADED = "HTTP/1.1 101"
const HEAD_END = [13, 10, 13, 10]
const CONTROL = 0x8
const FINAL = 0x80
const MASKED = 0x80

export function createFrameReader(): FrameReader {
  let matched = 0
  let inHead = true
  /** The HTTP head so far. Its first characters show whether frames follow. */
  let head = ""
  let header: number[] = []
  /** Remaining payload bytes of the current frame. */
  let left = 0
  let isData = false

  /** Reads one byte of a header. Returns true if the header is complete. */
  const takeHeader = (byte: number): boolean => {
    header.push(byte)
    const size = headerSize(header)
    if (size === null || header.length < size) return false
    left = payloadSize(header)
    const first = header[0] ?? 0
    isData = (first & 0x0f) < CONTROL && (first & FINAL) !== 0
    header = []
    return true
  }
  return {
    push(chunk) {
      const ends: number[] = []
      if (!inHead && head !== UPGRADED) {
        // This is an ordinary response. The client may still upgrade the same connection later.
        if (Buffer.from(chunk.subarray(0, UPGRADED.length)).toString("latin1") !== UPGRADED) return ends
        inHead = true
        matched = 0
        head = ""
      }
      for (let at = 0; at < chunk.length; ) {
        const byte = chunk[at] ?? 0
        if (inHead) {
          if (head.length < UPGRADED.length) head += String.fromCharCode(byte)
          matched = byte === HEAD_END[matched] ? matched + 1 : byte === HEAD_END[0] ? 1 : 0
          inHead = matched < HEAD_END.length
          at += 1
          if (!inHead && head !== UPGRADED) return ends
        } else if (left > 0) {
          const taken = Math.min(left, chunk.length - at)
          left -= taken
          at += taken
          if (left === 0 && isData) ends.push(at)
        } else {
          at += 1
          if (takeHeader(byte) && left === 0 && isData) ends.push(at)
        }
      }
      return ends
    },
  }
}

/** Returns the length of a header, in bytes, or null before its first two bytes have been read. */
function headerSize(header: readonly number[]): number | null {
  if (header.length < 2) return null
  const second = header[1] ?? 0
  const length = second & 0x7f
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((second & MASKED) === 0 ? 0 : 4)
}

function payloadSize(header: readonly number[]): number {
  const length = (header[1] ?? 0) & 0x7f
  if (length < 126) return length
  const bytes = header.slice(2, length === 126 ? 4 : 10)
  return bytes.reduce((size, byte) => size * 256 + byte, 0)
}
