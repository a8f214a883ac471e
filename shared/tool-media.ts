/**
 * tool-media.ts: which of the files that a call stored it gives to the reply.
 *
 * result string + what the call saved → TOOL MEDIA → tool_result.media
 * Asked once, at dispatch, and stored. A file is given if this very call saved it and its trailer names it: text inside
 * tool data gives nothing, whatever it says.
 * Pure.
 */

import { assetUrl } from "./asset.ts"
import { splitResult } from "./cue.ts"
import { parseDirectives } from "./directive.ts"
import type { Asset } from "./event.ts"

/**
 * Reads the `MEDIA:` lines of a trailer; `[[audio_as_voice]]` there makes its audio a voice note.
 *
 * Shapes  (result, what its call saved) → assets in the order of their naming, once each. Never a canvas.
 * Cost    linear in the trailer.
 * Source  SPEC DR12.
 */
export function toolMedia(result: string, saved: readonly Asset[]): Asset[] {
  if (saved.length === 0) return []
  const { segments, voice } = parseDirectives(splitResult(result).trailer, { assets: saved })
  const given = segments.map((segment) =>
    segment.type === "media" ? saved.find((asset) => assetUrl(asset) === segment.url) : undefined,
  )
  return given
    .filter((asset) => asset !== undefined)
    .map((asset) => (voice && asset.kind === "audio" ? { ...asset, voice } : asset))
}
