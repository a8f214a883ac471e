/**
 * media-view.tsx: renders a media segment as an image, a player or a file, depending on its kind. SPEC PG39, PG62.
 */

import type { ComponentChildren, VNode } from "preact"
import type { Segment } from "../../shared/protocol/segment.ts"
import { getLearnedKind } from "../files/remote-media.ts"
import type { MediaSegment } from "../words/media-descriptions.ts"
import { AudioView } from "./audio-player.tsx"
import { FileView } from "./file-link.tsx"
import { ImageView } from "./image-view.tsx"
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

/** The attachments of a user's message: images side by side, then the rest. */
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

/** The elements are keyed by URL, so that another URL starts with fresh state. */
function renderMedia(segment: MediaSegment): ComponentChildren {
  const { url, kind, label, width, height } = segment
  switch (kind) {
    case "image":
      return <ImageView key={url} url={url} label={label} width={width} height={height} />
    case "audio":
      return <AudioView key={url} segment={segment} />
    case "video":
      return <VideoView key={url} url={url} label={label} />
    case "file":
      return <FileView key={url} segment={segment} />
  }
}
