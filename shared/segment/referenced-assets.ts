/**
 * referenced-assets.ts: lists the assets that are needed to show a message: attachments, granted assets, and media of
 * the message's calls.
 *
 * An export contains an asset record for each of them. Pure.
 */

import { isAsset } from "../protocol/asset.ts"
import type { Asset } from "../protocol/event.ts"
import { parseCanvasUrl } from "../protocol/asset-url.ts"
import type { Message } from "../protocol/message.ts"
import { segmentsOf } from "./segmenter.ts"

/** Returns the assets whose metadata the message contains, in order and without duplicates. */
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

/** Returns the ids of the session's canvases that a message frames. Segments refer to canvases only by URL. */
export function listCanvasIds(message: Message): string[] {
  if (!message.parts.some((part) => part.type === "text" && /\[embed\s/i.test(part.text))) return []
  const ids = segmentsOf(message).flatMap((segment) => {
    return segment.type === "canvas" ? (parseCanvasUrl(segment.preview.url) ?? []) : []
  })
  return [...new Set(ids)]
}
