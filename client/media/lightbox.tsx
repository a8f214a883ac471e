/**
 * lightbox.tsx: pictures of one message, looked at closely.
 *
 * Escape and a click beside the picture close it, and the focus is back on the picture it came from. Arrow keys lead through the others.
 * A finger goes sideways for the next, and down to close. A picture fits the window; a click shows it as large as it is.
 * Source: SPEC PG57.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { downloadMedia } from "./file-link.tsx"
import { MediaIcon, type MediaIconName } from "./media-icons.tsx"
import { type MediaContextValue, type ViewableImage, useMediaContext, useMediaSource } from "./use-media-source.ts"
import { useModalDialog } from "../ui/use-modal-dialog.ts"

export function Lightbox(): VNode | null {
  const media = useMediaContext()
  const lightbox = media?.lightbox.value ?? null
  const image = lightbox?.images[lightbox.index]
  if (media === null || lightbox === null || image === undefined) return null
  const { images: pictures, index: at } = lightbox
  const showImage = (to: number): void => {
    if (to >= 0 && to < pictures.length) media.lightbox.value = { images: pictures, index: to }
  }
  return (
    <LightboxDialog
      {...{ media, image }}
      position={pictures.length > 1 ? `${at + 1} of ${pictures.length}` : ""}
      onPrevious={at > 0 ? () => showImage(at - 1) : null}
      onNext={at < pictures.length - 1 ? () => showImage(at + 1) : null}
      onClose={() => {
        media.lightbox.value = null
      }}
    />
  )
}

interface LightboxDialogProps {
  readonly media: MediaContextValue
  readonly image: ViewableImage
  readonly position: string
  readonly onPrevious: (() => void) | null
  readonly onNext: (() => void) | null
  readonly onClose: () => void
}

function LightboxDialog({
  media,
  image: picture,
  position: place,
  onPrevious: onBack,
  onNext,
  onClose,
}: LightboxDialogProps): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  useModalDialog(dialogRef)
  useLayoutEffect(() => setFault(null), [picture])
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = { Escape: onClose, ArrowLeft: onBack, ArrowRight: onNext }[event.key]
    if (action === undefined || action === null || event.isComposing) return
    // The page's own Escape would stop an answer behind it.
    event.preventDefault()
    action()
  }
  return (
    <dialog
      class="lightbox"
      ref={dialogRef}
      aria-label={`Picture: ${picture.label}`}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest("img, button") === null) onClose()
      }}
    >
      <header>
        <p aria-live="polite">
          <b>{picture.label}</b> <small>{fault ?? place}</small>
        </p>
        <IconButton
          name="download"
          label="Download"
          onActivate={() => void downloadMedia(media, picture.url, picture.label).then(setFault)}
        />
        <IconButton name="close" label="Close" hasInitialFocus onActivate={onClose} />
      </header>
      <LightboxImage key={picture.url} {...picture} swipeHandlers={{ left: onNext, right: onBack, down: onClose }} />
      {place !== "" && <IconButton name="back" label="Previous picture" onActivate={onBack} />}
      {place !== "" && <IconButton name="on" label="Next picture" onActivate={onNext} />}
    </dialog>
  )
}

interface LightboxImageProps extends ViewableImage {
  readonly swipeHandlers: SwipeHandlers
}

/** Its address may have run out since it was drawn, or have been waiting for its reader to come that far. */
function LightboxImage({ url, label, swipeHandlers: ways }: LightboxImageProps): VNode {
  const { state, onLoad, onError } = useMediaSource(url)
  const [isLarge, setLarge] = useState(false)
  return (
    <div class="stage" data-large={isLarge ? "" : undefined} {...(isLarge ? {} : createSwipeListeners(ways))}>
      {state.at === "failed" && <p>{state.text}</p>}
      {state.at === "ready" && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the browser's own zoom is the keyboard's.
        <img src={state.href} alt={label} onClick={() => setLarge(!isLarge)} {...{ onLoad, onError }} />
      )}
    </div>
  )
}

/** So far a finger has to go, in CSS pixels, and twice as far as across. */
const SWIPE_PX = 48

type SwipeHandlers = { readonly [way in "left" | "right" | "down"]: (() => void) | null }

/** What hears one finger. With more of them, or in a page that was drawn larger, it is the browser's. */
function createSwipeListeners(swipeHandlers: SwipeHandlers) {
  let from: Touch | undefined
  return {
    onTouchStart({ touches }: TouchEvent) {
      from = touches.length === 1 && (visualViewport?.scale ?? 1) <= 1 ? touches[0] : undefined
    },
    onTouchEnd({ changedTouches: [to] }: TouchEvent) {
      if (from === undefined || to === undefined) return
      const [dx, dy] = [to.clientX - from.clientX, to.clientY - from.clientY]
      from = undefined
      if (Math.abs(dx) > Math.max(SWIPE_PX, 2 * Math.abs(dy))) swipeHandlers[dx < 0 ? "left" : "right"]?.()
      else if (dy > Math.max(SWIPE_PX, 2 * Math.abs(dx))) swipeHandlers.down?.()
    },
  }
}

interface IconButtonProps {
  readonly name: MediaIconName
  readonly label: string
  /** The keyboard begins there. */
  readonly hasInitialFocus?: boolean
  readonly onActivate: (() => void) | null
}

function IconButton({ name, label, hasInitialFocus: isFirst = false, onActivate: onAct }: IconButtonProps): VNode {
  return (
    <button
      type="button"
      data-way={name}
      data-first={isFirst ? "" : undefined}
      aria-label={label}
      title={label}
      aria-disabled={onAct === null}
      onClick={() => onAct?.()}
    >
      <MediaIcon name={name} />
    </button>
  )
}
