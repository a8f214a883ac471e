/**
 * media-view.tsx: one media segment, by its kind.
 *
 * media segment → MEDIA → picture, player, film, file
 * Source: SPEC PG39.
 */

import type { ComponentChildren, VNode } from "preact"
import { AudioView } from "./audio-player.tsx"
import { FileView } from "./file-link.tsx"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { MediaSegment } from "../words/media-descriptions.ts"
import { ImageView } from "./picture.tsx"
import { getLearnedKind } from "../files/remote-media.ts"
import { VideoView } from "./video-player.tsx"

export function MediaView({ segment }: { readonly segment: MediaSegment }): VNode {
  const kind = segment.kind === "file" ? (getLearnedKind(segment.url) ?? "file") : segment.kind
  return (
    <div class="media" data-segment="media" data-kind={kind}>
      {renderMedia({ ...segment, kind })}
    </div>
  )
}

export function isMediaSegment(segment: Segment): segment is MediaSegment {
  return segment.type === "media"
}

/** What goes with a user's words: pictures side by side, then the rest. */
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

/** Another address is another thing: it begins anew. */
function renderMedia(segment: MediaSegment): ComponentChildren {
  const { url, kind, label, width, height } = segment
  switch (kind) {
    case "image":
      return <ImageView key={url} {...{ url, label, width, height }} />
    case "audio":
      return <AudioView key={url} segment={segment} />
    case "video":
      return <VideoView key={url} url={url} label={label} />
    case "file":
      return <FileView key={url} segment={segment} />
  }
}
