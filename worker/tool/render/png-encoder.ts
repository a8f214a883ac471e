/**
 * png-encoder.ts: encodes an image as PNG: three chunks with checksums. The platform does the compression.
 */

import { crc32 } from "../../../shared/crc32.ts"
import type { Raster } from "./raster.ts"

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Encodes RGB with eight bits per channel. */
export async function encodePng({ width, height, pixels }: Raster): Promise<Uint8Array> {
  const header = new Uint8Array(13)
  const view = new DataView(header.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  header.set([8, 2], 8)
  const chunks = [
    Uint8Array.from(SIGNATURE),
    createChunk("IHDR", header),
    createChunk("IDAT", await deflateBytes(filterRows(width, height, pixels))),
    createChunk("IEND", new Uint8Array()),
  ]
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Applies the "up" filter: each row holds the differences from the row above, which compress well in drawings. */
function filterRows(width: number, height: number, pixels: Uint8Array): Uint8Array<ArrayBuffer> {
  const stride = width * 3
  const rows = new Uint8Array((stride + 1) * height)
  for (let y = 0; y < height; y++) {
    const at = y * (stride + 1)
    rows[at] = 2
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : (pixels[(y - 1) * stride + x] ?? 0)
      rows[at + 1 + x] = (pixels[y * stride + x] ?? 0) - above
    }
  }
  return rows
}

async function deflateBytes(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"))
  return new Uint8Array(await new Response(packed).arrayBuffer())
}

function createChunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}
