/**
 * picture.tsx: a picture, in a box that is as high before it came as after, and can be looked at closely.
 *
 * source → PICTURE → lightbox
 * Segments, Markdown and a user's own files draw the same. Source: SPEC PG39, PG40, MD6.
 */

import type { VNode } from "preact"
import { Gate } from "./consent-gate.tsx"
import { type Media, type Picture, useMedia, useSource } from "./use-media-source.ts"

interface PictureProps {
  readonly url: string
  readonly label: string
  readonly isInline?: boolean
  /** Pixels, where they are known: then the box is as the picture is, and else one that fits most. */
  readonly width?: number | undefined
  readonly height?: number | undefined
}

/** One that is higher, for its width, is cut below: a screen that was scrolled would be a thread. */
const MIN_RATIO = 0.5

export function PictureView({ url, label, isInline = false, width, height }: PictureProps): VNode {
  const media = useMedia()
  const source = useSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    return <Gate source={source} url={url} icon="image" kind="Picture" label={label} isInline={isInline} />
  }
  return (
    <button
      type="button"
      class="frame"
      data-inline={isInline ? "" : undefined}
      data-sized={width === undefined ? undefined : ""}
      style={boxOf(width, height)}
      data-url={url}
      aria-label={`Picture: ${label}`}
      aria-haspopup="dialog"
      onClick={(event) => {
        // A picture in a link leads where the link leads.
        if (media === null || event.currentTarget.closest("a") !== null) return
        look(media, event.currentTarget)
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

function boxOf(width: number | undefined, height: number | undefined): Readonly<Record<string, string>> | undefined {
  if (width === undefined || height === undefined) return undefined
  return { "--width": `${width}px`, "--ratio": Math.max(MIN_RATIO, width / height).toFixed(4) }
}

/** All pictures of the message that are there, the one that was chosen first in view. */
function look(media: Media, chosen: HTMLElement): void {
  const frames = Array.from(chosen.closest("article")?.querySelectorAll<HTMLElement>(".frame[data-url]") ?? [chosen])
  const there = frames.filter((frame) => frame === chosen || frame.querySelector("img") !== null)
  const pictures = there.flatMap((frame): Picture[] => {
    const image = frame.querySelector("img")
    if (image === null) return []
    return [{ url: frame.dataset["url"] ?? "", label: image.alt }]
  })
  const at = there.indexOf(chosen)
  if (pictures.length === there.length) media.shown.value = { pictures, at }
}
