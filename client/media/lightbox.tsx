/**
 * lightbox.tsx: pictures of one message, looked at closely.
 *
 * Escape and a click beside the picture close it, and the focus is back on the picture it came from. Arrow keys lead through the others.
 * A finger goes sideways for the next, and down to close. A picture fits the window; a click shows it as large as it is.
 * Source: SPEC PG39.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { download } from "./file-link.tsx"
import { Icon, type IconName } from "./media-icons.tsx"
import { type Media, type Picture, useMedia, useSource } from "./use-media-source.ts"

export function Lightbox(): VNode | null {
  const media = useMedia()
  const shown = media?.shown.value ?? null
  const picture = shown?.pictures[shown.at]
  if (media === null || shown === null || picture === undefined) return null
  const { pictures, at } = shown
  const go = (to: number): void => {
    if (to >= 0 && to < pictures.length) media.shown.value = { pictures, at: to }
  }
  return (
    <Box
      {...{ media, picture }}
      place={pictures.length > 1 ? `${at + 1} of ${pictures.length}` : ""}
      onBack={at > 0 ? () => go(at - 1) : null}
      onNext={at < pictures.length - 1 ? () => go(at + 1) : null}
      onClose={() => {
        media.shown.value = null
      }}
    />
  )
}

interface BoxProps {
  readonly media: Media
  readonly picture: Picture
  readonly place: string
  readonly onBack: (() => void) | null
  readonly onNext: (() => void) | null
  readonly onClose: () => void
}

function Box({ media, picture, place, onBack, onNext, onClose }: BoxProps): VNode {
  const box = useRef<HTMLDialogElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    const { current } = box
    current?.showModal()
    current?.querySelector<HTMLElement>("[data-first]")?.focus()
    return () => {
      current?.close()
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  useLayoutEffect(() => setFault(null), [picture])
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = { Escape: onClose, ArrowLeft: onBack, ArrowRight: onNext }[event.key]
    if (act === undefined || act === null || event.isComposing) return
    // The page's own Escape would stop an answer behind it.
    event.preventDefault()
    act()
  }
  return (
    <dialog
      class="lightbox"
      ref={box}
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
          onAct={() => void download(media, picture.url, picture.label).then(setFault)}
        />
        <IconButton name="close" label="Close" isFirst onAct={onClose} />
      </header>
      <Stage key={picture.url} {...picture} ways={{ left: onNext, right: onBack, down: onClose }} />
      {place !== "" && <IconButton name="back" label="Previous picture" onAct={onBack} />}
      {place !== "" && <IconButton name="on" label="Next picture" onAct={onNext} />}
    </dialog>
  )
}

interface StageProps extends Picture {
  readonly ways: Ways
}

/** Its address may have run out since it was drawn, or have been waiting for its reader to come that far. */
function Stage({ url, label, ways }: StageProps): VNode {
  const { state, onLoad, onError } = useSource(url)
  const [isLarge, setLarge] = useState(false)
  return (
    <div class="stage" data-large={isLarge ? "" : undefined} {...(isLarge ? {} : swiping(ways))}>
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

type Ways = { readonly [way in "left" | "right" | "down"]: (() => void) | null }

/** What hears one finger. With more of them, or in a page that was drawn larger, it is the browser's. */
function swiping(ways: Ways) {
  let from: Touch | undefined
  return {
    onTouchStart({ touches }: TouchEvent) {
      from = touches.length === 1 && (visualViewport?.scale ?? 1) <= 1 ? touches[0] : undefined
    },
    onTouchEnd({ changedTouches: [to] }: TouchEvent) {
      if (from === undefined || to === undefined) return
      const [along, down] = [to.clientX - from.clientX, to.clientY - from.clientY]
      from = undefined
      if (Math.abs(along) > Math.max(SWIPE_PX, 2 * Math.abs(down))) ways[along < 0 ? "left" : "right"]?.()
      else if (down > Math.max(SWIPE_PX, 2 * Math.abs(along))) ways.down?.()
    },
  }
}

interface IconButtonProps {
  readonly name: IconName
  readonly label: string
  /** The keyboard begins there. */
  readonly isFirst?: boolean
  readonly onAct: (() => void) | null
}

function IconButton({ name, label, isFirst = false, onAct }: IconButtonProps): VNode {
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
      <Icon name={name} />
    </button>
  )
}
