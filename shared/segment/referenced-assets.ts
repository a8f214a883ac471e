/**
 * referenced-assets.ts: the assets that a message needs to be shown: attachments, granted names, media of its calls.
 *
 * An export lists them as asset records. Pure.
 */

import { isAsset } from "../protocol/asset.ts"
import type { Asset } from "../protocol/event.ts"
import { parseCanvasUrl } from "../protocol/asset-url.ts"
import type { Message } from "../protocol/message.ts"
import { segmentsOf } from "./segmenter.ts"

/** Returns the assets that a message itself describes, each once, in order. */
export function listAssets({ attachments, parts }: Message): Asset[] {
  const all = [
    ...attachments,
    ...parts.flatMap((part) => {
      if (part.type === "tool_call") return part.call.media.filter(isAsset)
      return part.type === "text" ? (part.grants?.assets ?? []) : []
    }),
  ]
  return [...new Map(all.map((asset) => [asset.id, asset])).values()]
}

/** Ids of the session's canvases that a message frames. Segments name them only by URL. */
export function listCanvasIds(message: Message): string[] {
  if (!message.parts.some((part) => part.type === "text" && /\[embed\s/i.test(part.text))) return []
  const ids = segmentsOf(message).flatMap((segment) => {
    return segment.type === "canvas" ? (parseCanvasUrl(segment.preview.url) ?? []) : []
  })
  return [...new Set(ids)]
}
