/**
 * image-size.test.ts: tests how an image's size is read from its first bytes. media-input.test.ts uses files from real
 * encoders.
 */

import { describe, expect, test } from "vitest"
import { readImageSize } from "../../worker/asset/image-size.ts"
import { file } from "./files.ts"

const webp = (chunk: string, ...more: readonly number[]) =>
  file(60, "RIFF", 1, 2, 3, 4, `WEBP${chunk}`, 9, 0, 0, 0, ...more)
/** The frame header of a JPEG file with 640 × 480 pixels. */
const SOF = [0xff, 0xc0, 0, 17, 8, 0x01, 0xe0, 0x02, 0x80]
const JFIF = [0xff, 0xe0, 0, 4, 0, 0]
/** Returns an Exif segment with the given orientation, in either byte order. */
const exif = (orientation: number, isLittle: boolean): readonly (number | string)[] => {
  const two = (value: number) => (isLittle ? [value & 255, value >> 8] : [value >> 8, value & 255])
  const four = (value: number) => (isLittle ? [...two(value), 0, 0] : [0, 0, ...two(value)])
  const entry = [...two(0x0112), ...two(3), ...four(1), ...two(orientation), 0, 0]
  const tiff = [isLittle ? "II" : "MM", ...two(42), ...four(8), ...two(1), ...entry]
  return [0xff, 0xe1, 0, 2 + 6 + 22, "Exif", 0, 0, ...tiff]
}
const jpeg = (...segments: readonly (number | string)[]) => file(400, 0xff, 0xd8, ...segments)
const ispe = (width: number, height: number) => [
  0,
  0,
  0,
  20,
  "ispe",
  0,
  0,
  0,
  0,
  0,
  0,
  width >> 8,
  width & 255,
  0,
  0,
  height >> 8,
  height & 255,
]

const SIZES: readonly (readonly [what: string, type: string, bytes: Uint8Array, width: number, height: number])[] = [
  ["PNG", "image/png", file(60, 0x89, "PNG\r\n\x1a\n", 0, 0, 0, 13, "IHDR", 0, 0, 3, 0x20, 0, 0, 1, 0xf4), 800, 500],
  ["GIF", "image/gif", file(60, "GIF89a", 0x20, 3, 0xf4, 1), 800, 500],
  ["WebP", "image/webp", webp("VP8X", 0, 0, 0, 0, 0x1f, 3, 0, 0xf3, 1, 0), 800, 500],
  ["WebP, lossless", "image/webp", webp("VP8L", 0x2f, 0x1f, 0xc3, 0x7c, 0), 800, 500],
  ["WebP, lossy", "image/webp", webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0x20, 3, 0xf4, 1), 800, 500],
  [
    "AVIF with several images (the size of the largest)",
    "image/avif",
    file(200, "....ftypavif", ...ispe(64, 64), ...ispe(800, 500), ...ispe(8, 8)),
    800,
    500,
  ],
  ["JPEG", "image/jpeg", jpeg(...JFIF, ...SOF), 640, 480],
  ["JPEG, upright", "image/jpeg", jpeg(...exif(1, false), ...SOF), 640, 480],
  ["JPEG, rotated", "image/jpeg", jpeg(...exif(6, false), ...SOF), 480, 640],
  ["JPEG, rotated, other byte order", "image/jpeg", jpeg(...JFIF, ...exif(8, true), ...SOF), 480, 640],
  [
    "progressive JPEG whose frame header follows a table",
    "image/jpeg",
    jpeg(0xff, 0xc4, 0, 4, 0, 0, 0xff, 0xc2, ...SOF.slice(2)),
    640,
    480,
  ],
]

const WITHOUT_SIZE: readonly (readonly [what: string, type: string, bytes: Uint8Array])[] = [
  ["cut before its size", "image/png", file(20, 0x89, "PNG\r\n\x1a\n", 0, 0, 0, 13, "IHDR")],
  ["without a width", "image/gif", file(60, "GIF89a", 0, 0, 5, 0)],
  ["too wide", "image/png", file(60, 0x89, "PNG\r\n\x1a\n", 0, 0, 0, 13, "IHDR", 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1)],
  ["a JPEG with an invalid segment length", "image/jpeg", jpeg(0xff, 0xe0, 0xff, 0xff)],
  [
    "a JPEG with an Exif offset beyond its end",
    "image/jpeg",
    jpeg(0xff, 0xe1, 0, 30, "Exif", 0, 0, "MM", 0, 42, 0x7f, 0, 0, 0, ...Array(16).fill(0), ...SOF),
  ],
  ["not an image", "text/plain", file(60, "words")],
]

describe("the size of an image", () => {
  test.each(SIZES)("[AS15] is read: %s", (_, type, bytes, width, height) => {
    expect(readImageSize(type, bytes)).toEqual({ width, height })
  })

  test.each(WITHOUT_SIZE)("[AS15] is unknown: %s", (_, type, bytes) => {
    expect(readImageSize(type, bytes)).toBeNull()
  })

  test("[AS15] is either correct or unknown, wherever the file is cut off", () => {
    for (const [, type, bytes, width, height] of SIZES) {
      for (let end = 0; end <= bytes.byteLength; end++) {
        const size = readImageSize(type, bytes.slice(0, end))
        if (size !== null && type !== "image/avif") expect(size).toEqual({ width, height })
      }
    }
  })
})
