/**
 * canvas.tsx: a document in a frame of its own, which reaches nothing of ours.
 *
 * canvas segment → CANVAS → iframe (scripts alone: never our origin, no forms, no popups, no navigation of the page)
 * The frame is made once: it is not made again while later words stream in. What it says is heard only from its own
 * window and only in the words below; it is told the theme, again where that changes, and nothing else. Source: SPEC PG41.
 */

import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { hostOf } from "../markdown/links.ts"
import { theme } from "../theme.ts"
import { Icon } from "./icons.tsx"
import type { CanvasSegment } from "./media-words.ts"
import { useMedia } from "./source.ts"

/** As high as a frame is that does not say, in CSS pixels. */
const DEFAULT_HEIGHT_PX = 320

export function CanvasView({ segment }: { readonly segment: CanvasSegment }): VNode {
  const { url, title = "", preferredHeight = DEFAULT_HEIGHT_PX } = segment.preview
  const box = useRef<HTMLElement>(null)
  const name = title === "" ? "Document" : title
  const host = hostOf(url)
  const { href, isGone, isBarred, again } = useFrame(url)
  return (
    <section class="canvas" ref={box} aria-label={`Document: ${name}`}>
      <header>
        <Icon name="canvas" />
        <b>{name}</b>
        {host !== "" && <small>{host}</small>}
        {document.fullscreenEnabled && (
          <button type="button" aria-label="Full screen" title="Full screen" onClick={() => toggleFull(box.current)}>
            <Icon name="grow" />
          </button>
        )}
      </header>
      {isBarred ? (
        <p class="note" style={{ height: `${preferredHeight}px` }}>
          It lies elsewhere.{" "}
          <a href={url} target="_blank" rel="noopener noreferrer">
            Open it
          </a>
        </p>
      ) : isGone ? (
        <p class="note" style={{ height: `${preferredHeight}px` }}>
          No longer available.{" "}
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      ) : (
        <div class="pane" style={{ height: `${preferredHeight}px` }}>
          {href !== null && <Frame href={href} name={name} />}
        </div>
      )}
    </section>
  )
}

function toggleFull(box: HTMLElement | null): void {
  if (document.fullscreenElement === null) box?.requestFullscreen().catch(() => {})
  else void document.exitFullscreen()
}

/**
 * The address of a frame: one of ours is signed, another's is its own. Once it is shown, it stays. One of an origin that
 * the tenant does not allow (any more) is barred: the page's policy would leave a broken frame.
 */
function useFrame(url: string) {
  const media = useMedia()
  const isForeign = hostOf(url) !== ""
  const isBarred = isForeign && media?.settings.value.embed_origins.includes(new URL(url).origin) !== true
  const kept = useRef<string | null>(isForeign ? url : null)
  const address = isForeign || media === null ? null : media.signer.address(url).value
  if (kept.current === null && address?.at === "ready") kept.current = address.href
  useEffect(() => {
    if (!isForeign) media?.signer.want(url)
  }, [media, url])
  const isGone = kept.current === null && (address === null || address.at === "refused" || address.at === "failed")
  return { href: kept.current, isGone, isBarred, again: () => media?.signer.renew(url) }
}

interface FrameProps {
  readonly href: string
  readonly name: string
}

function Frame({ href, name }: FrameProps): VNode {
  const frame = useRef<HTMLIFrameElement>(null)
  const isReady = useRef(false)
  useEffect(() => {
    const hear = (event: MessageEvent): void => {
      const { current } = frame
      if (current === null || event.source !== current.contentWindow || !isReadiness(event.data)) return
      isReady.current = true
      tellTheme(current)
    }
    const turn = (): void => {
      if (isReady.current && frame.current !== null) tellTheme(frame.current)
    }
    const machine = matchMedia(DARK)
    addEventListener("message", hear)
    machine.addEventListener("change", turn)
    const stop = theme.subscribe(turn)
    return () => {
      removeEventListener("message", hear)
      machine.removeEventListener("change", turn)
      stop()
    }
  }, [])
  return (
    <iframe ref={frame} title={name} sandbox="allow-scripts" referrerpolicy="no-referrer" loading="lazy" src={href} />
  )
}

/** All that a document may say: that it is there. Anything else is not heard. */
function isReadiness(said: unknown): boolean {
  return Reflect.get(Object(said), "type") === "cuecard:ready"
}

const DARK = "(prefers-color-scheme: dark)"

function tellTheme(frame: HTMLIFrameElement): void {
  const chosen = theme.peek()
  const isDark = chosen === "system" ? matchMedia(DARK).matches : chosen === "dark"
  // Its origin is none, so no other can be named.
  frame.contentWindow?.postMessage({ type: "cuecard:theme", theme: isDark ? "dark" : "light" }, "*")
}
