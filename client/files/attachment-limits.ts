/**
 * attachment-limits.ts: the size limit of a file to upload, by the type that the browser reports.
 *
 * The server determines the type from the content. Pure.
 */

import {
  MAX_AUDIO_BYTES,
  MAX_IMAGE_BYTES,
  MAX_PDF_BYTES,
  MAX_TEXT_BYTES,
  MAX_VIDEO_BYTES,
} from "../../shared/asset-limits.ts"

const MAX_BYTES_BY_TYPE: readonly (readonly [type: RegExp, bytes: number])[] = [
  [/^image\//, MAX_IMAGE_BYTES],
  [/^audio\//, MAX_AUDIO_BYTES],
  [/^application\/pdf$/, MAX_PDF_BYTES],
  [/^text\//, MAX_TEXT_BYTES],
]

/** Returns a file's size limit, in bytes. A file of unknown type may be a video, so it gets the largest limit. */
export function getMaxBytes({ type }: Pick<File, "type">): number {
  return MAX_BYTES_BY_TYPE.find(([kind]) => kind.test(type))?.[1] ?? MAX_VIDEO_BYTES
}
