/**
 * image-size.ts: reads the size of an image, as displayed, from its first bytes (SPEC AS15).
 *
 * The page uses the size only to reserve space, so a missing or wrong size does no harm. The Exif orientation is
 * applied. Pure.
 */

import { MAX_SIDE } from "../../shared/asset-limits.ts"

/** In pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Reads the size; null if these bytes contain no valid size. */
export function readImageSize(mime_type: string, head: Uint8Array): ImageSize | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    const found = SIZE_READERS[mime_type]?.(view) ?? null
    return found !== null && isValidSide(found.width) && isValidSide(found.height) ? found : null
  } catch (error) {
    // The header is longer than these bytes.
    if (error instanceof RangeError) return null
    throw error
  }
}

const isValidSide = (side: number): boolean => side >= 1 && side <= MAX_SIDE

const SIZE_READERS: Readonly<Record<string, (view: DataView) => ImageSize | null>> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/webp": readWebpSize,
  "image/jpeg": readJpegSize,
  "image/avif": readAvifSize,
}

/** Reads the size in the first chunk, which is an extended header, a lossless image or a lossy image. */
function readWebpSize(view: DataView): ImageSize | null {
  switch (readFourCc(view, 12)) {
    case "VP8X":
      return { width: 1 + (view.getUint32(23, true) >>> 8), height: 1 + (view.getUint32(26, true) >>> 8) }
    case "VP8L": {
      const bits = view.getUint32(21, true)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    }
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    default:
      return null
  }
}

/** Returns the size of the largest image in the file. The other images are thumbnails and alpha planes. */
function readAvifSize(view: DataView): ImageSize | null {
  let largest: ImageSize | null = null
  for (let at = 4; at + 16 <= view.byteLength; at++) {
    if (readFourCc(view, at) !== "ispe") continue
    const found = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    if (largest === null || found.width * found.height > largest.width * largest.height) largest = found
  }
  return largest
}

/**
 * Reads the segments up to the frame header, which contains the size. An Exif segment before that header contains the
 * orientation.
 */
function readJpegSize(view: DataView): ImageSize | null {
  let isRotated = false
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xe1 && readFourCc(view, at + 4) === "Exif") isRotated = isRotatedByExif(view, at + 10)
    if (!isFrameMarker(marker)) continue
    const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
    return isRotated ? { width: height, height: width } : { width, height }
  }
  return null
}

/** Whether the marker is one of the SOF markers. Three codes in the same range have other meanings. */
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const EXIF_ORIENTATION_TAG = 0x0112

/** Whether the orientation swaps width and height. `at` is the offset of the TIFF header. */
function isRotatedByExif(view: DataView, at: number): boolean {
  const isLittleEndian = readFourCc(view, at).startsWith("II")
  const table = at + view.getUint32(at + 4, isLittleEndian)
  const count = view.getUint16(table, isLittleEndian)
  for (let entry = table + 2; entry < table + 2 + count * 12; entry += 12) {
    if (view.getUint16(entry, isLittleEndian) === EXIF_ORIENTATION_TAG)
      return view.getUint16(entry + 8, isLittleEndian) >= 5
  }
  return false
}

function readFourCc(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}
