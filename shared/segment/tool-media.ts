/**
 * tool-media.ts: which of the assets that a tool call saved are attached to the answer.
 *
 * result + assets saved by the call → TOOL MEDIA → tool_result.media
 * Decided once, at dispatch, and stored. An asset counts if this very call saved it and its trailer names it. Text inside
 * tool data attaches nothing (SPEC DR12). Pure.
 */

import { assetUrl, canvasUrl } from "../protocol/asset-url.ts"
import { splitResult } from "../protocol/card-cue.ts"
import { parseDirectives } from "./parse-directives.ts"
import type { Asset } from "../protocol/event.ts"
import type { Segment } from "../protocol/segment.ts"

/**
 * Reads the `MEDIA:` lines of a trailer. `[[audio_as_voice]]` in the trailer makes its audio a voice note. A canvas that
 * the trailer asks to embed is included, although it is shown only where the answer embeds it.
 *
 * Shapes  (result, assets saved by the call) → the named assets, in order, each once.
 * Cost    linear in the trailer.
 * Source  SPEC DR12, DR19, DR20.
 */
export function readToolMedia(result: string, saved: readonly Asset[]): Asset[] {
  if (saved.length === 0) return []
  const { segments, voice } = parseDirectives(splitResult(result).trailer, { assets: saved })
  const named = segments.flatMap((segment) => saved.find((asset) => isNamedBy(asset, segment)) ?? [])
  return [...new Set(named)].map((asset) => (voice && asset.kind === "audio" ? { ...asset, voice } : asset))
}

function isNamedBy(asset: Asset, segment: Segment): boolean {
  if (segment.type === "canvas") return asset.kind === "canvas" && canvasUrl(asset.id) === segment.preview.url
  return segment.type === "media" && assetUrl(asset.id) === segment.url
}
