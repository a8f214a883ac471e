/**
 * referenced-assets.ts: the assets that a message needs to be shown: attachments, granted names, media of its calls.
 *
 * An export lists them as asset records. Pure.
 */

import type { Asset } from "../protocol/event.ts"
import type { Message } from "../protocol/message.ts"
import { segmentsOf } from "./segmenter.ts"

/** The assets that a message itself describes, each once, in order. */
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

const OWN_CANVAS = /^\/canvas\/documents\/([A-Za-z0-9_-]+)\/index\.html$/

/** Ids of the own canvases that a message frames. They are named only by their URL. */
export function listCanvasIds(message: Message): string[] {
  if (!message.parts.some((part) => part.type === "text" && /\[embed\s/i.test(part.text))) return []
  const ids = segmentsOf(message).flatMap((segment) => {
    return segment.type === "canvas" ? (OWN_CANVAS.exec(segment.preview.url)?.[1] ?? []) : []
  })
  return [...new Set(ids)]
}
