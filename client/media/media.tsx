/**
 * media.tsx: one media segment, by its kind.
 *
 * media segment → MEDIA → picture, player, film, file
 * Source: SPEC PG39.
 */

import type { ComponentChildren, VNode } from "preact"
import { AudioView } from "./audio.tsx"
import { FileView } from "./file.tsx"
import type { MediaSegment } from "./media-words.ts"
import { PictureView } from "./picture.tsx"
import { VideoView } from "./video.tsx"

export function MediaView({ segment }: { readonly segment: MediaSegment }): VNode {
  return (
    <div class="media" data-segment="media" data-kind={segment.kind}>
      {viewOf(segment)}
    </div>
  )
}

/** Another address is another thing: it begins anew. */
function viewOf(segment: MediaSegment): ComponentChildren {
  const { url, kind, label } = segment
  switch (kind) {
    case "image":
      return <PictureView key={url} url={url} label={label} />
    case "audio":
      return <AudioView key={url} segment={segment} />
    case "video":
      return <VideoView key={url} url={url} label={label} />
    case "file":
      return <FileView key={url} segment={segment} />
  }
}
