/**
 * image-size.ts: how wide and how high a picture is, as it is shown, by its first bytes.
 *
 * upload, tool → EXTENT → asset → the box that a page keeps for it
 * A hint for layout: where it is not to be read there is none, and a wrong one harms nothing. A picture that its camera
 * held sideways is told as it is seen. Pure.
 */

import { MAX_SIDE } from "../../shared/limits.ts"

export interface Extent {
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** Null: it does not say, or not in these bytes. */
export function extentOf(mime_type: string, head: Uint8Array): Extent | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    const found = READERS[mime_type]?.(view) ?? null
    return found !== null && isSide(found.width) && isSide(found.height) ? found : null
  } catch (error) {
    // The bytes end before they say it.
    if (error instanceof RangeError) return null
    throw error
  }
}

const isSide = (side: number): boolean => side >= 1 && side <= MAX_SIDE

const READERS: Readonly<Record<string, (view: DataView) => Extent | null>> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/webp": webpExtent,
  "image/jpeg": jpegExtent,
  "image/avif": avifExtent,
}

/** Its first chunk is one of three: an extended header, lossless, lossy. */
function webpExtent(view: DataView): Extent | null {
  switch (nameAt(view, 12)) {
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

/** The largest of its images: others are thumbnails, and its transparency. */
function avifExtent(view: DataView): Extent | null {
  let largest: Extent | null = null
  for (let at = 4; at + 16 <= view.byteLength; at++) {
    if (nameAt(view, at) !== "ispe") continue
    const found = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    if (largest === null || found.width * found.height > largest.width * largest.height) largest = found
  }
  return largest
}

/** Segment by segment up to the frame's header, which names both sides; Exif says before it how the camera was held. */
function jpegExtent(view: DataView): Extent | null {
  let isTurned = false
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xe1 && nameAt(view, at + 4) === "Exif") isTurned = isExifTurned(view, at + 10)
    if (!isFrame(marker)) continue
    const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
    return isTurned ? { width: height, height: width } : { width, height }
  }
  return null
}

/** All SOF markers; among them stand three that are none. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const ORIENTATION = 0x0112

/** Its orientation is one of the four that lie on their side. `at`: where its TIFF header begins. */
function isExifTurned(view: DataView, at: number): boolean {
  const isLittle = nameAt(view, at).startsWith("II")
  const table = at + view.getUint32(at + 4, isLittle)
  const count = view.getUint16(table, isLittle)
  for (let entry = table + 2; entry < table + 2 + count * 12; entry += 12) {
    if (view.getUint16(entry, isLittle) === ORIENTATION) return view.getUint16(entry + 8, isLittle) >= 5
  }
  return false
}

function nameAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}
