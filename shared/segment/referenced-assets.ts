/**
 * referenced-assets.ts: the files that a message needs to be shown: what was sent along, what its text names, what its calls made.
 *
 * Message → REFERENCED → asset records
 * Pure.
 */

import type { Asset } from "../protocol/event.ts"
import { parseCanvasUrl } from "../protocol/asset-url.ts"
import type { Message } from "../protocol/message.ts"
import { segmentsOf } from "./segmenter.ts"

/** The files that a message itself tells of, each once, in their order. */
export function listAssets({ attachments, parts }: Message): Asset[] {
  const all = [
    ...attachments,
    ...parts.flatMap((part) => {
      if (part.type === "tool_call") return part.call.media
      return part.type === "text" ? (part.grants?.assets ?? []) : []
    }),
  ]
  return [...new Map(all.map((asset) => [asset.id, asset])).values()]
}

/** Documents of ours that it frames: they are named by their address alone. */
export function listCanvasIds(message: Message): string[] {
  if (!message.parts.some((part) => part.type === "text" && /\[embed\s/i.test(part.text))) return []
  const ids = segmentsOf(message).flatMap((segment) => {
    return segment.type === "canvas" ? (parseCanvasUrl(segment.preview.url) ?? []) : []
  })
  return [...new Set(ids)]
}
