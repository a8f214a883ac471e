/**
 * tool-media.ts: which of the files that a call stored it gives to the reply.
 *
 * result string + what the call saved → TOOL MEDIA → tool_result.media
 * Asked once, at dispatch, and stored. A file is given if this very call saved it and its trailer names it: text inside
 * tool data gives nothing, whatever it says.
 * Pure.
 */

import { assetUrl, canvasUrl } from "../protocol/asset-url.ts"
import { splitResult } from "../protocol/card-cue.ts"
import { parseDirectives } from "./parse-directives.ts"
import type { Asset } from "../protocol/event.ts"
import type { Segment } from "../protocol/segment.ts"

/**
 * Reads the `MEDIA:` lines of a trailer; `[[audio_as_voice]]` there makes its audio a voice note. A canvas that it asks to
 * be embedded is one of them: the reader sees it where it is embedded alone, but the call is known to have made it.
 *
 * Shapes  (result, what its call saved) → assets in the order of their naming, once each.
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
