/**
 * detect-file-type.ts: detects the type of a file from its first bytes, never from its name. Only the types listed in
 * SPEC AS2 are accepted.
 *
 * All text gets the type text/plain, including HTML and SVG, so that a browser never executes a stored file (SPEC
 * AS14). Pure.
 */

import type { Asset } from "../../shared/protocol/event.ts"
import {
  MAX_AUDIO_BYTES,
  MAX_IMAGE_BYTES,
  MAX_PDF_BYTES,
  MAX_TEXT_BYTES,
  MAX_VIDEO_BYTES,
} from "../../shared/asset-limits.ts"

export interface FileType {
  readonly kind: Exclude<Asset["kind"], "canvas">
  readonly mime_type: string
  readonly maxBytes: number
  /** Extension of a generated label, without the dot. */
  readonly extension: string
}

const imageType = (mime_type: string, extension: string): FileType =>
  ({ kind: "image", mime_type, maxBytes: MAX_IMAGE_BYTES, extension }) as const
const audioType = (mime_type: string, extension: string): FileType =>
  ({ kind: "audio", mime_type, maxBytes: MAX_AUDIO_BYTES, extension }) as const
const videoType = (mime_type: string, extension: string): FileType =>
  ({ kind: "video", mime_type, maxBytes: MAX_VIDEO_BYTES, extension }) as const

const MP3 = audioType("audio/mpeg", "mp3")
const PDF: FileType = { kind: "file", mime_type: "application/pdf", maxBytes: MAX_PDF_BYTES, extension: "pdf" }
const TEXT: FileType = { kind: "file", mime_type: "text/plain", maxBytes: MAX_TEXT_BYTES, extension: "txt" }
const MP4 = videoType("video/mp4", "mp4")
const M4A = audioType("audio/mp4", "m4a")
const AVIF = imageType("image/avif", "avif")

/** Signatures at the start of a file, decoded as Latin-1. */
const SIGNATURES: readonly (readonly [RegExp, FileType])[] = [
  [/^\x89PNG\r\n\x1a\n\0\0\0\rIHDR/, imageType("image/png", "png")],
  [/^\xff\xd8\xff/, imageType("image/jpeg", "jpg")],
  [/^GIF8[79]a/, imageType("image/gif", "gif")],
  [/^RIFF.{4}WEBPVP8[ LX]/s, imageType("image/webp", "webp")],
  [/^RIFF.{4}WAVE/s, audioType("audio/wav", "wav")],
  [/^fLaC/, audioType("audio/flac", "flac")],
  [/^ID3[\x02-\x04]/, MP3],
  [/^\xff[\xf0\xf1\xf8\xf9][\x00-\xff]/, audioType("audio/aac", "aac")],
  // The first page must start a stream of one of these codecs.
  [/^OggS\0\x02.{20}\x01(?:.OpusHead|.\x01vorbis|.\x7fFLAC|.Speex)/s, audioType("audio/ogg", "ogg")],
  [/^%PDF-\d/, PDF],
]

/** Returns the type of a file that starts with these bytes; null if the type is not accepted. */
export function detectFileType(head: Uint8Array): FileType | null {
  const latin1 = bytesToLatin1(head)
  const found = SIGNATURES.find(([signature]) => signature.test(latin1))?.[1]
  return (
    found ??
    (isMp3Frame(head) ? MP3 : null) ??
    detectIsoMedia(latin1) ??
    detectWebm(latin1) ??
    (isText(head) ? TEXT : null)
  )
}

/**
 * Whether a file is MPEG audio without a tag, that is, whether it begins with a layer III frame with a valid version,
 * bit rate and sample rate.
 */
function isMp3Frame([sync = 0, head = 0, rates = 0]: Uint8Array): boolean {
  const isLayer3 = sync === 0xff && (head & 0xe6) === 0xe2 && (head & 0x18) !== 0x08
  const bitRate = rates >> 4
  return isLayer3 && bitRate !== 0 && bitRate !== 15 && (rates & 0x0c) !== 0x0c
}

/** Matches an MP4 header whose only track is audio: the next track number is 2, and the first handler is `soun`. */
const AUDIO_ONLY_MP4 = /moov.{4}mvhd(?:\0.{95}|\x01.{107})\0\0\0\x02(?:(?!hdlr).)*hdlr.{8}soun/s

/**
 * Detects ISO media by the brands in the first box. Audio-only MP4 files are recognised only if their header comes
 * first.
 */
function detectIsoMedia(latin1: string): FileType | null {
  const [, majorBrand = "", rest = ""] = /^\0\0[\0\x01].ftyp(.{4}).{4}(.{0,64})/s.exec(latin1) ?? []
  const length = latin1.charCodeAt(2) * 256 + latin1.charCodeAt(3)
  const brands = rest.slice(0, Math.max(0, length - 16))
  if (/^avi[fs]$/.test(majorBrand)) return AVIF
  if (/^m(?:if|sf)1$/.test(majorBrand)) return /avi[fs]/.test(brands) ? AVIF : null
  if (/^M4[AB] $/.test(majorBrand)) return M4A
  if (!/^(?:iso[m2-9]|mp4[12]|avc1|M4V |M4VH|dash|msdh|MSNV|mmp4|f4v )$/.test(majorBrand)) return null
  return AUDIO_ONLY_MP4.test(latin1) ? M4A : MP4
}

/** Detects WebM, as audio if the list of tracks near the start contains only audio. */
function detectWebm(latin1: string): FileType | null {
  if (!/^\x1aE\xdf\xa3.{0,56}?B\x82[\x84\x88]webm/s.test(latin1)) return null
  const hasVideo = /V_(?:VP[89]|AV1|MPEG)/.test(latin1)
  return !hasVideo && /A_(?:OPUS|VORBIS)/.test(latin1)
    ? audioType("audio/webm", "weba")
    : videoType("video/webm", "webm")
}

/**
 * Whether the bytes are UTF-8 text without control characters other than whitespace and escape. The last character may
 * be incomplete.
 */
function isText(head: Uint8Array): boolean {
  if (head.length === 0) return false
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(head, { stream: true })
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)
  } catch {
    return false
  }
}

function bytesToLatin1(bytes: Uint8Array): string {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
