/**
 * media-view.tsx: the placeholder for a media segment, a Markdown image or a canvas document. It is replaced by the
 * actual view once the code is loaded. The placeholder for an image has the image's height from the start. SPEC PG39,
 * PG62.
 */

import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { getLearnedKind } from "../files/remote-media.ts"
import type { CanvasSegment, MediaSegment } from "../words/media-descriptions.ts"
import { mediaViews } from "./loading/deferred-media.ts"
import { createBoxStyle } from "./loading/image-box.ts"

/** Returns the code for the views; null until it is loaded. Also starts loading it. */
function useMediaViews(): typeof mediaViews.module.value {
  useEffect(() => void mediaViews.load(), [])
  return mediaViews.module.value
}

export function MediaView({ segment }: { readonly segment: MediaSegment }): VNode {
  const views = useMediaViews()
  const kind = segment.kind === "file" ? (getLearnedKind(segment.url) ?? "file") : segment.kind
  return (
    <div class="media" data-segment="media" data-kind={kind}>
      {views?.renderMedia({ ...segment, kind }) ??
        (kind === "image" && <ImagePlace width={segment.width} height={segment.height} />)}
    </div>
  )
}

/** An image in Markdown. */
export function InlineImage({ url, label }: { readonly url: string; readonly label: string }): VNode {
  const views = useMediaViews()
  return views === null ? <ImagePlace isInline /> : <views.ImageView url={url} label={label} isInline />
}

export function CanvasView({ segment }: { readonly segment: CanvasSegment }): VNode {
  const views = useMediaViews()
  return (
    <div data-segment="canvas">
      {views !== null && <views.CanvasView key={segment.preview.url} segment={segment} />}
    </div>
  )
}

interface ImagePlaceProps {
  readonly isInline?: boolean
  readonly width?: number | undefined
  readonly height?: number | undefined
}

function ImagePlace({ isInline = false, width, height }: ImagePlaceProps): VNode {
  return (
    <span
      class="frame"
      data-inline={isInline ? "" : undefined}
      data-sized={width === undefined ? undefined : ""}
      style={createBoxStyle(width, height)}
    />
  )
}

export function isMediaSegment(segment: Segment): segment is MediaSegment {
  return segment.type === "media"
}

/** The attachments of a user's message: images next to each other, followed by the rest. */
export function AttachmentsView({ segments }: { readonly segments: readonly MediaSegment[] }): VNode | null {
  if (segments.length === 0) return null
  return (
    <div class="attached" data-pictures={segments.filter(({ kind }) => kind === "image").length}>
      {segments.map((segment) => (
        <MediaView key={segment.url} segment={segment} />
      ))}
    </div>
  )
}
