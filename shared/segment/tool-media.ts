/**
 * tool-media.ts: finds the media that a tool call attaches to the answer.
 *
 * result + assets saved by the call → TOOL MEDIA → tool_result.media
 * The media is decided once, when the tool returns, and stored. An asset counts if the same call saved it and the
 * trailer of the result names it; a public URL counts if the trailer names it. Text in the result's data attaches
 * nothing (SPEC DR12, DR24). Pure.
 */

import { assetUrl, canvasUrl, parseAssetUrl } from "../protocol/asset-url.ts"
import { splitResult } from "../protocol/card-cue.ts"
import { parseDirectives } from "./parse-directives.ts"
import type { Asset, CallMedia } from "../protocol/event.ts"
import type { Segment } from "../protocol/segment.ts"

/**
 * Reads the `MEDIA:` lines of a trailer. With `[[audio_as_voice]]` in the trailer, audio becomes a voice note. A canvas
 * that the trailer asks the model to embed is included even though it is shown only where the answer embeds it.
 *
 * Shapes: (result, assets saved by the call) → the named media, in order, each once; at most MAX_PUBLIC_MEDIA public
 * URLs. Cost: linear in the length of the trailer.
 * Source: SPEC DR12, DR19, DR20, DR24.
 */
export function readToolMedia(result: string, saved: readonly Asset[]): CallMedia[] {
  const { trailer } = splitResult(result)
  if (trailer === "") return []
  const { segments, voice } = parseDirectives(trailer, { assets: saved })
  const named = new Map<string, CallMedia>()
  let publicCount = 0
  for (const segment of segments) {
    const asset = saved.find((one) => isNamedBy(one, segment))
    const speech = voice && segment.type === "media" && segment.kind === "audio" ? { voice } : {}
    if (asset !== undefined) named.set(asset.id, { ...asset, ...speech })
    else if (segment.type === "media" && parseAssetUrl(segment.url) === null && publicCount++ < MAX_PUBLIC_MEDIA)
      named.set(segment.url, { url: segment.url, ...speech })
  }
  return [...named.values()]
}

/** Maximum number of public URLs that one call can attach. */
const MAX_PUBLIC_MEDIA = 20

function isNamedBy(asset: Asset, segment: Segment): boolean {
  if (segment.type === "canvas") return asset.kind === "canvas" && canvasUrl(asset.id) === segment.preview.url
  return segment.type === "media" && assetUrl(asset.id) === segment.url
}
