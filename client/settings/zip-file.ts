/** zip-file.ts: writes a ZIP file whose entries aren't compressed. */

import { crc32 } from "../../shared/crc32.ts"

/** Maximum number of entries, and of bytes in total, of a ZIP file without the 64-bit extension. */
export const MAX_ZIP_ENTRIES = 65_535
export const MAX_ZIP_BYTES = 2 ** 32 - 1

const LOCAL_HEADER_BYTES = 30
const CENTRAL_HEADER_BYTES = 46
const END_BYTES = 22
const VERSION = 20
/** Marks file names as UTF-8. */
const UTF8_FLAG = 1 << 11

interface Entry {
  readonly name: Uint8Array<ArrayBuffer>
  readonly crc: number
  readonly size: number
  readonly offset: number
  readonly time: number
}

/** Collects files, and returns the ZIP file. The content is kept in blobs, which the browser may store on disk. */
export class ZipWriter {
  readonly #parts: BlobPart[] = []
  readonly #entries: Entry[] = []
  #bytes = 0
  #directoryBytes = 0

  /** Adds a file. Returns false, and adds nothing, if the ZIP file would be too large. `modified` is the local time. */
  async addFile(fileName: string, content: Blob, modified: Date): Promise<boolean> {
    const name = new TextEncoder().encode(fileName)
    const size = content.size
    const fileBytes = LOCAL_HEADER_BYTES + name.length + size
    const entryBytes = CENTRAL_HEADER_BYTES + name.length
    const total = this.#bytes + fileBytes + this.#directoryBytes + entryBytes + END_BYTES
    if (this.#entries.length >= MAX_ZIP_ENTRIES || total > MAX_ZIP_BYTES) return false
    const crc = crc32(new Uint8Array(await content.arrayBuffer()))
    const entry = { name, crc, size, offset: this.#bytes, time: toDosTime(modified) }
    this.#parts.push(createHeader(entry, false), name, content)
    this.#entries.push(entry)
    this.#bytes += fileBytes
    this.#directoryBytes += entryBytes
    return true
  }

  finish(): Blob {
    const directory = this.#entries.flatMap((entry) => [createHeader(entry, true), entry.name])
    const end = new DataView(new ArrayBuffer(END_BYTES))
    end.setUint32(0, 0x06054b50, true)
    end.setUint16(8, this.#entries.length, true)
    end.setUint16(10, this.#entries.length, true)
    end.setUint32(12, this.#directoryBytes, true)
    end.setUint32(16, this.#bytes, true)
    return new Blob([...this.#parts, ...directory, end.buffer], { type: "application/zip" })
  }
}

/** Returns the header before a file or, in the central directory, the one that locates it. */
function createHeader({ name, crc, size, offset, time }: Entry, isCentral: boolean): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(isCentral ? CENTRAL_HEADER_BYTES : LOCAL_HEADER_BYTES))
  header.setUint32(0, isCentral ? 0x02014b50 : 0x04034b50, true)
  // The central header has one more field, the version of the writer, at the start.
  const at = isCentral ? 6 : 4
  if (isCentral) header.setUint16(4, VERSION, true)
  header.setUint16(at, VERSION, true)
  header.setUint16(at + 2, UTF8_FLAG, true)
  header.setUint32(at + 6, time, true)
  header.setUint32(at + 10, crc, true)
  header.setUint32(at + 14, size, true)
  header.setUint32(at + 18, size, true)
  header.setUint16(at + 22, name.length, true)
  if (isCentral) header.setUint32(42, offset, true)
  return new Uint8Array(header.buffer)
}

/** Converts a date to ZIP's format, which has two-second steps and the years 1980 to 2107. */
function toDosTime(date: Date): number {
  const year = Math.min(Math.max(date.getFullYear() - 1980, 0), 127)
  const day = (year << 9) | ((date.getMonth() + 1) << 5) | date.getDate()
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1)
  return ((day << 16) | time) >>> 0
}
