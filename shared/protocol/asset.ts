/**
 * asset.ts: the metadata of a stored file in a message.
 *
 * upload, tool → ASSET → message, tool call, part → media segment
 * Messages contain metadata only; the bytes are in the bucket.
 */

import { APP_MIME_TYPE } from "../asset-limits.ts"
import { assetUrl } from "./asset-url.ts"
import type { Asset, CallMedia } from "./event.ts"
import type { Segment } from "./segment.ts"

type MediaSegment = Extract<Segment, { type: "media" }>

/** Returns whether media of a tool call is a stored file, not a public URL. */
export function isAsset(media: CallMedia): media is Asset {
  return "id" in media
}

/** Returns whether a file is the document of an MCP App. */
export function isApp({ kind, mime_type }: Pick<Asset, "kind" | "mime_type">): boolean {
  return kind === "canvas" && mime_type === APP_MIME_TYPE
}

/**
 * Characters that are removed from file names, because they could disguise a file's extension: control characters, line
 * separators, and characters that are invisible or reverse the text.
 */
export const INVISIBLE_CHARS = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff0-\uffff]/gu

/** Returns the segment that shows an asset; null for a canvas, which is shown only where it is embedded. */
export function assetToSegment({ id, kind, mime_type, label, size, voice, width, height }: Asset): MediaSegment | null {
  if (kind === "canvas") return null
  return {
    type: "media",
    url: assetUrl(id),
    kind,
    label,
    mime_type,
    size,
    ...(voice === true && kind === "audio" ? { voice } : {}),
    ...(kind === "image" && width !== undefined && height !== undefined ? { width, height } : {}),
  }
}
