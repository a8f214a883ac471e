/**
 * lightbox.tsx: a viewer for the images of one message.
 *
 * Arrow keys and horizontal swipes show the other images. Escape, swiping down and a click outside the image close the
 * viewer, and the focus returns to the image from which it was opened. An image is scaled to fit the window; a click
 * shows it at full size. SPEC PG57.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { getRootElement } from "../ui/kept-focus/page-elements.ts"
import { useModalDialog } from "../ui/use-modal-dialog.ts"
import { formatKind } from "../words/media-descriptions.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { downloadMedia } from "./file-link.tsx"
import { describeLoadFault, type LoadFault } from "./load-failure.ts"
import { MediaIcon, type MediaIconName } from "./media-icons.tsx"
import { type MediaContextValue, type ViewableImage, useMediaContext } from "./loading/media-context.ts"
import { useMediaSource } from "./use-media-source.ts"

export function Lightbox(): VNode | null {
  const media = useMediaContext()
  const lightbox = media?.lightbox.value ?? null
  const image = lightbox?.images[lightbox.index]
  if (media === null || lightbox === null || image === undefined) return null
  const { images, index } = lightbox
  const showImage = (to: number) => () => {
    media.lightbox.value = { images, index: to }
  }
  return (
    <LightboxDialog
      media={media}
      image={image}
      position={images.length > 1 ? mediaText.imageOf(index + 1, images.length) : ""}
      onPrevious={index > 0 ? showImage(index - 1) : null}
      onNext={index < images.length - 1 ? showImage(index + 1) : null}
      onClose={() => {
        media.lightbox.value = null
      }}
    />
  )
}

interface LightboxDialogProps {
  readonly media: MediaContextValue
  readonly image: ViewableImage
  /** For example "2 of 3"; "" if there is only one image. */
  readonly position: string
  readonly onPrevious: (() => void) | null
  readonly onNext: (() => void) | null
  readonly onClose: () => void
}

function LightboxDialog({ media, image, position, onPrevious, onNext, onClose }: LightboxDialogProps): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  useModalDialog(dialogRef)
  // The images follow the direction of the page.
  const [onLeft, onRight] = getRootElement().dir === "rtl" ? [onNext, onPrevious] : [onPrevious, onNext]
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = { Escape: onClose, ArrowLeft: onLeft, ArrowRight: onRight }[event.key]
    if (action === undefined || action === null || event.isComposing) return
    // Otherwise the page's own Escape handler would stop a running answer.
    event.preventDefault()
    action()
  }
  return (
    <dialog
      class="lightbox"
      ref={dialogRef}
      aria-label={mediaText.named(formatKind({ kind: "image" }), image.label)}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest("img, button") === null) onClose()
      }}
    >
      <LightboxHeader media={media} image={image} position={position} onClose={onClose} />
      <LightboxImage key={image.url} image={image} onSwipe={{ left: onRight, right: onLeft, down: onClose }} />
      {position !== "" && <IconButton name="back" label={mediaText.previousImage} onActivate={onPrevious} />}
      {position !== "" && <IconButton name="on" label={mediaText.nextImage} onActivate={onNext} />}
    </dialog>
  )
}

function LightboxHeader({
  media,
  image,
  position,
  onClose,
}: Pick<LightboxDialogProps, "media" | "image" | "position" | "onClose">): VNode {
  const [fault, setFault] = useState<LoadFault | null>(null)
  useLayoutEffect(() => setFault(null), [image])
  return (
    <header>
      <p aria-live="polite">
        <b dir="auto">{image.label}</b> <small>{fault === null ? position : describeLoadFault(fault)}</small>
      </p>
      <IconButton
        name="download"
        label={mediaText.download}
        onActivate={() => void downloadMedia(media, image.url, image.label).then(setFault)}
      />
      <IconButton name="close" label={mediaText.close} hasInitialFocus onActivate={onClose} />
    </header>
  )
}

interface LightboxImageProps {
  readonly image: ViewableImage
  readonly onSwipe: SwipeHandlers
}

/**
 * An image in the lightbox. It has a media source of its own, because the URL that the transcript used may have
 * expired.
 */
function LightboxImage({ image: { url, label }, onSwipe }: LightboxImageProps): VNode {
  const { state, onLoad, onError } = useMediaSource(url)
  const [isLarge, setLarge] = useState(false)
  return (
    <div class="stage" data-large={isLarge ? "" : undefined} {...(isLarge ? {} : createSwipeListeners(onSwipe))}>
      {state.at === "failed" && <p>{state.text}</p>}
      {state.at === "ready" && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keyboard users zoom with the browser.
        <img src={state.href} alt={label} onClick={() => setLarge(!isLarge)} onLoad={onLoad} onError={onError} />
      )}
    </div>
  )
}

/** Minimum length of a swipe, in pixels. A swipe must also be more than twice as long in its direction as across it. */
const SWIPE_PX = 48

type SwipeHandlers = { readonly [direction in "left" | "right" | "down"]: (() => void) | null }

/**
 * Handles swipes with one finger. Touches with several fingers, and all touches while the page is zoomed in, are left
 * to the browser.
 */
function createSwipeListeners(onSwipe: SwipeHandlers) {
  let from: Touch | undefined
  return {
    onTouchStart({ touches }: TouchEvent) {
      from = touches.length === 1 && (visualViewport?.scale ?? 1) <= 1 ? touches[0] : undefined
    },
    onTouchEnd({ changedTouches: [to] }: TouchEvent) {
      if (from === undefined || to === undefined) return
      const [dx, dy] = [to.clientX - from.clientX, to.clientY - from.clientY]
      from = undefined
      if (Math.abs(dx) > Math.max(SWIPE_PX, 2 * Math.abs(dy))) onSwipe[dx < 0 ? "left" : "right"]?.()
      else if (dy > Math.max(SWIPE_PX, 2 * Math.abs(dx))) onSwipe.down?.()
    },
  }
}

interface IconButtonProps {
  readonly name: MediaIconName
  readonly label: string
  readonly hasInitialFocus?: boolean
  /** If null, the button is disabled. */
  readonly onActivate: (() => void) | null
}

function IconButton({ name, label, hasInitialFocus = false, onActivate }: IconButtonProps): VNode {
  return (
    <button
      type="button"
      data-focus-key={name}
      data-first={hasInitialFocus ? "" : undefined}
      aria-label={label}
      title={label}
      aria-disabled={onActivate === null}
      onClick={() => onActivate?.()}
    >
      <MediaIcon name={name} />
    </button>
  )
}
