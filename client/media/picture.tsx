/**
 * picture.tsx: a picture, in a box that is as high before it came as after, and can be looked at closely.
 *
 * source → PICTURE → lightbox
 * Segments, Markdown and a user's own files draw the same. Source: SPEC PG39, PG40, MD6.
 */

import type { VNode } from "preact"
import { ConsentGate } from "./consent-gate.tsx"
import { type MediaContextValue, type ViewableImage, useMediaContext, useMediaSource } from "./use-media-source.ts"

interface ImageViewProps {
  readonly url: string
  readonly label: string
  readonly isInline?: boolean
  /** Pixels, where they are known: then the box is as the picture is, and else one that fits most. */
  readonly width?: number | undefined
  readonly height?: number | undefined
}

/** One that is higher, for its width, is cut below: a screen that was scrolled would be a thread. */
const MIN_ASPECT_RATIO = 0.5

export function ImageView({ url, label, isInline = false, width, height }: ImageViewProps): VNode {
  const media = useMediaContext()
  const source = useMediaSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    return <ConsentGate source={source} url={url} icon="image" kind="Picture" label={label} isInline={isInline} />
  }
  return (
    <button
      type="button"
      class="frame"
      data-inline={isInline ? "" : undefined}
      data-sized={width === undefined ? undefined : ""}
      style={createBoxStyle(width, height)}
      data-url={url}
      aria-label={`Picture: ${label}`}
      aria-haspopup="dialog"
      onClick={(event) => {
        // A picture in a link leads where the link leads.
        if (media === null || event.currentTarget.closest("a") !== null) return
        openLightbox(media, event.currentTarget)
      }}
    >
      {state.at === "ready" && (
        <img
          src={state.href}
          alt={label}
          loading="lazy"
          decoding="async"
          onLoad={source.onLoad}
          onError={source.onError}
        />
      )}
    </button>
  )
}

function createBoxStyle(
  width: number | undefined,
  height: number | undefined,
): Readonly<Record<string, string>> | undefined {
  if (width === undefined || height === undefined) return undefined
  return { "--width": `${width}px`, "--ratio": Math.max(MIN_ASPECT_RATIO, width / height).toFixed(4) }
}

/** All pictures of the message that are there, the one that was chosen first in view. */
function openLightbox(media: MediaContextValue, chosen: HTMLElement): void {
  const frames = Array.from(chosen.closest("article")?.querySelectorAll<HTMLElement>(".frame[data-url]") ?? [chosen])
  const loadedFrames = frames.filter((frame) => frame === chosen || frame.querySelector("img") !== null)
  const images = loadedFrames.flatMap((frame): ViewableImage[] => {
    const image = frame.querySelector("img")
    if (image === null) return []
    return [{ url: frame.dataset["url"] ?? "", label: image.alt }]
  })
  const index = loadedFrames.indexOf(chosen)
  if (images.length === loadedFrames.length) media.lightbox.value = { images, index }
}
