/**
 * attachment-limits.ts: what a reader can be told of a file before it is sent. The server decides by the bytes; this goes by what the
 * browser thinks it is. Pure.
 */

import {
  MAX_ATTACHMENTS,
  MAX_AUDIO_BYTES,
  MAX_IMAGE_BYTES,
  MAX_PDF_BYTES,
  MAX_TEXT_BYTES,
  MAX_VIDEO_BYTES,
} from "../../shared/limits.ts"

const MAX_BYTES_BY_TYPE: readonly (readonly [type: RegExp, bytes: number])[] = [
  [/^image\//, MAX_IMAGE_BYTES],
  [/^audio\//, MAX_AUDIO_BYTES],
  [/^application\/pdf$/, MAX_PDF_BYTES],
  [/^text\//, MAX_TEXT_BYTES],
]

/** What the browser does not know may be a film: the largest kind. */
export function getMaxBytes({ type }: Pick<File, "type">): number {
  return MAX_BYTES_BY_TYPE.find(([kind]) => kind.test(type))?.[1] ?? MAX_VIDEO_BYTES
}

/** Of files that there was no room for. */
export function describeLeftOut(count: number): string {
  return `A message takes ${MAX_ATTACHMENTS} files: ${count} ${count === 1 ? "was" : "were"} left out.`
}

export const LIMITS_TEXT = `up to ${MAX_ATTACHMENTS}: pictures, audio, video, PDF and text`
