/** detect-file-type.test.ts: tests how a file's type is detected from its first bytes. */

import { describe, expect, test } from "vitest"
import { detectFileType } from "../../worker/asset/detect-file-type.ts"
import { file, PNG_HEAD } from "./files.ts"

const ftyp = (major: string, ...brands: readonly string[]) =>
  file(300, 0, 0, 0, 16 + 4 * brands.length, `ftyp${major}`, 0, 0, 0, 0, ...brands)
const riff = (form: string) => file(100, "RIFF", 1, 2, 3, 4, form)
const ogg = (codec: string, ...before: readonly number[]) =>
  file(100, "OggS", 0, 2, ...Array.from({ length: 20 }, (_, i) => i), 1, 30, ...before, codec)
const ebml = (type: string, ...more: readonly (string | number)[]) =>
  file(400, 0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x80 + type.length, type, ...more)
/** Returns an MP4 file whose header comes first. `next` is the next track number in the header. */
const mp4 = (next: number, ...handlers: readonly string[]) => {
  const boxes = handlers.flatMap((handler) => ["trak....hdlr", 0, 0, 0, 0, 0, 0, 0, 0, handler])
  const header = ["mvhd", ...Array.from({ length: 99 }, () => 0), next]
  return file(600, 0, 0, 0, 20, "ftypmp42", 0, 0, 0, 0, "isom", 0, 0, 1, 0, "moov", 0, 0, 0, 108, ...header, ...boxes)
}

const ACCEPTED: readonly (readonly [what: string, bytes: Uint8Array, type: string])[] = [
  ["PNG", file(100, ...PNG_HEAD), "image/png"],
  ["JPEG, JFIF", file(100, 0xff, 0xd8, 0xff, 0xe0, 0, 16, "JFIF"), "image/jpeg"],
  ["JPEG, Exif", file(100, 0xff, 0xd8, 0xff, 0xe1), "image/jpeg"],
  ["GIF", file(100, "GIF89a"), "image/gif"],
  ["WebP", riff("WEBPVP8X"), "image/webp"],
  ["AVIF", ftyp("avif", "mif1"), "image/avif"],
  ["AVIF by a compatible brand", ftyp("mif1", "avif"), "image/avif"],
  ["MP3 with a tag", file(100, "ID3", 4, 0, 0), "audio/mpeg"],
  ["MP3", file(100, 0xff, 0xfb, 0x90, 0x64), "audio/mpeg"],
  ["MP3 of version 2", file(100, 0xff, 0xf3, 0x48, 0xc4), "audio/mpeg"],
  ["WAV", riff("WAVEfmt "), "audio/wav"],
  ["Opus", ogg("OpusHead"), "audio/ogg"],
  ["Vorbis", ogg("vorbis", 1), "audio/ogg"],
  ["FLAC", file(100, "fLaC"), "audio/flac"],
  ["M4A", ftyp("M4A ", "isom"), "audio/mp4"],
  ["AAC", file(100, 0xff, 0xf1, 0x50, 0x80), "audio/aac"],
  ["WebM with audio only", ebml("webm", 0x86, 0x86, "A_OPUS"), "audio/webm"],
  ["WebM", ebml("webm", "V_VP9", 0, "A_OPUS"), "video/webm"],
  ["MP4", ftyp("isom", "iso2", "mp41"), "video/mp4"],
  ["MP4 version 2", ftyp("mp42", "isom"), "video/mp4"],
  ["MP4 with audio only", mp4(2, "soun"), "audio/mp4"],
  ["MP4 with video only", mp4(2, "vide"), "video/mp4"],
  ["MP4 with audio first", mp4(3, "soun", "vide"), "video/mp4"],
  ["PDF", file(100, "%PDF-1.7"), "application/pdf"],
  ["text", file(5, "hello"), "text/plain"],
  ["text cut inside a character", new TextEncoder().encode("aé".repeat(10)).slice(0, -1), "text/plain"],
  ["text with a byte order mark", file(6, 0xef, 0xbb, 0xbf, "abc"), "text/plain"],
  ["HTML", file(15, "<!doctype html>"), "text/plain"],
  ["SVG", file(31, "<svg xmlns='x' onload='y' ></a>"), "text/plain"],
]

const REFUSED: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ["nothing", file(0)],
  ["zeros", file(50)],
  ["ZIP", file(100, "PK", 3, 4)],
  ["a program", file(100, "MZ", 0x90, 0)],
  ["HEIC", ftyp("heic", "mif1")],
  ["HEIF", ftyp("mif1", "heic")],
  ["QuickTime", ftyp("qt  ")],
  ["Matroska", ebml("matroska", "V_VP9")],
  ["Theora", ogg("theora", 0x80)],
  ["AVI", riff("AVI LIST")],
  ["UTF-16", file(8, 0xff, 0xfe, "a", 0, "b", 0, "c", 0)],
  ["Latin-1", file(6, "caf", 0xe9, "s,")],
  ["text with a NUL", file(20, "hello")],
  ["text with a control character", file(6, "hell", 7, "o")],
  ["an MP3 sync word without a layer", file(100, 0xff, 0xe0, 0x90)],
  ["an MP3 frame without a bit rate", file(100, 0xff, 0xfb, 0x00)],
  ["half a signature", file(8, 0x89, "PNG\r\n\x1a\n")],
]

describe("the type of a file", () => {
  test.each(ACCEPTED)("[AS2] is detected for %s", (_, bytes, type) => {
    expect(detectFileType(bytes)?.mime_type).toBe(type)
  })

  test.each(REFUSED)("[AS14] is unsupported for %s", (_, bytes) => {
    expect(detectFileType(bytes)).toBeNull()
  })
})
