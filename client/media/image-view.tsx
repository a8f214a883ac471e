/**
 * image-view.tsx: an image in a box whose height doesn't change when the image loads. Clicking it opens the lightbox.
 *
 * Used for media segments, Markdown images and the user's attachments. SPEC PG39, PG40, MD6.
 */

import type { VNode } from "preact"
import { describeImage, formatKind } from "../words/media-descriptions.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { ConsentGate } from "./consent-gate.tsx"
import { lightboxModule } from "./loading/deferred-lightbox.ts"
import { createBoxStyle } from "./loading/image-box.ts"
import { type MediaContextValue, type ViewableImage, useMediaContext } from "./loading/media-context.ts"
import { useMediaSource } from "./use-media-source.ts"

interface ImageViewProps {
  readonly url: string
  readonly label: string
  readonly isInline?: boolean
  /**
   * The image's size in pixels. If both values are known, the box has the image's aspect ratio, but at least
   * MIN_ASPECT_RATIO.
   */
  readonly width?: number | undefined
  readonly height?: number | undefined
}

export function ImageView({ url, label, isInline = false, width, height }: ImageViewProps): VNode {
  const media = useMediaContext()
  const source = useMediaSource(url)
  const { state } = source
  const kind = formatKind({ kind: "image" })
  if (state.at === "closed" || state.at === "failed") {
    return <ConsentGate source={source} url={url} icon="image" kind={kind} label={label} isInline={isInline} />
  }
  const onClick = (event: MouseEvent & { readonly currentTarget: HTMLElement }): void => {
    // A click on an image inside a link follows the link instead.
    if (media !== null && event.currentTarget.closest("a") === null) openLightbox(media, event.currentTarget)
  }
  return (
    <button
      type="button"
      class="frame"
      data-inline={isInline ? "" : undefined}
      data-sized={width === undefined ? undefined : ""}
      style={createBoxStyle(width, height)}
      data-url={url}
      aria-label={mediaText.named(kind, describeImage(label))}
      aria-haspopup="dialog"
      onClick={onClick}
    >
      {state.at === "ready" && (
        <img
          src={state.href}
          alt={describeImage(label)}
          loading="lazy"
          decoding="async"
          onLoad={() => {
            source.onLoad()
            void lightboxModule.load()
          }}
          onError={source.onError}
        />
      )}
    </button>
  )
}

/**
 * Opens all loaded images of the message, starting with the one that was clicked. If the lightbox's code can't be
 * loaded, the browser shows the clicked image in a new tab.
 */
function openLightbox(media: MediaContextValue, chosen: HTMLElement): void {
  const frames = Array.from(chosen.closest("article")?.querySelectorAll<HTMLElement>(".frame[data-url]") ?? [chosen])
  const loadedFrames = frames.filter((frame) => frame === chosen || frame.querySelector("img") !== null)
  const images = loadedFrames.flatMap((frame): ViewableImage[] => {
    const image = frame.querySelector("img")
    if (image === null) return []
    return [{ url: frame.dataset["url"] ?? "", label: image.alt }]
  })
  const index = loadedFrames.indexOf(chosen)
  if (images.length !== loadedFrames.length) return
  media.lightbox.value = { images, index }
  void lightboxModule.load().then((isLoaded) => {
    if (isLoaded) return
    media.lightbox.value = null
    open(chosen.querySelector("img")?.src, "_blank", "noopener,noreferrer")
  })
}
