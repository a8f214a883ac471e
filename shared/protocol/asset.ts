/**
 * asset.ts: a file that we keep: what is known of it beside its bytes.
 *
 * upload, tool → ASSET → message, tool call, part → media segment
 * Its bytes stand in the bucket; segments, records and the store hold its id alone, and a page asks for a signed address
 * when it draws it.
 * Pure.
 */

import type { Asset } from "./event.ts"
import type { Segment } from "./segment.ts"

type MediaSegment = Extract<Segment, { type: "media" }>

/** Controls, line separators, and what turns or hides text: a name must look like what it is. */
export const INVISIBLE_CHARS = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff0-\uffff]/gu

/** Its address in segments and model text; nobody can fetch it without a signature. */
export function assetUrl({ id }: Pick<Asset, "id">): string {
  return `/media/${id}`
}

/** The address under which a canvas is framed. */
export function canvasUrl({ id }: Pick<Asset, "id">): string {
  return `/canvas/documents/${id}/index.html`
}

/** What a reader sees of it; null for a canvas, which stands where it is embedded. */
export function assetToSegment(asset: Asset): MediaSegment | null {
  const { kind, mime_type, label, size, voice, width, height } = asset
  if (kind === "canvas") return null
  return {
    ...({ type: "media", url: assetUrl(asset), kind, label, mime_type, size } as const),
    ...(voice === true && kind === "audio" ? { voice } : {}),
    ...(kind === "image" && width !== undefined && height !== undefined ? { width, height } : {}),
  }
}
