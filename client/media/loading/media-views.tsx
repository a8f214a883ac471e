/**
 * media-views.tsx: the views of media and canvas documents, and what all media of a session share. Loaded on demand.
 */

import { effect, signal } from "@preact/signals"
import type { VNode } from "preact"
import { LinkSigner } from "../../files/signed-links.ts"
import type { MediaSegment } from "../../words/media-descriptions.ts"
import { AudioView } from "../audio-player.tsx"
import { FileView } from "../file-link.tsx"
import { ImageView } from "../image-view.tsx"
import type { MediaContextValue, MediaRequests } from "./media-context.ts"
import { VideoView } from "../video-player.tsx"

export { CanvasView } from "../canvas-view.tsx"
export { copySelection } from "./copy-selection.ts"
export { ImageView } from "../image-view.tsx"

/** Renders a media segment. The elements are keyed by URL, so that another URL starts with fresh state. */
export function renderMedia(segment: MediaSegment): VNode {
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

export function createMediaContext(requests: MediaRequests): MediaContextValue {
  const signer = new LinkSigner({
    signUrls: (urls) => requests.signUrls(urls),
    now: Date.now,
    random: Math.random,
    setTimer(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
  })
  return { signer, settings: requests.settings, reconnectCount: signal(0), lightbox: signal(null), panel: signal(null) }
}

/** Retries failed media when the server can be reached again. Returns a function that stops this. */
export function retryOnReconnect({ signer, reconnectCount }: MediaContextValue, { link }: MediaRequests): () => void {
  const retryFailed = (): void => {
    signer.retryFailed()
    reconnectCount.value = reconnectCount.peek() + 1
  }
  const disposeEffect = effect(() => {
    if (link.value === "live") retryFailed()
  })
  // A short network interruption makes requests fail, but does not always close the socket.
  addEventListener("online", retryFailed)
  return () => {
    disposeEffect()
    removeEventListener("online", retryFailed)
    signer.stopRetrying()
  }
}
