/**
 * canvas-frame.tsx: a document in a frame of its own, which reaches nothing of ours.
 *
 * canvas segment → CANVAS → iframe (scripts alone: never our origin, no forms, no popups, no navigation of the page)
 * The frame is made when it comes near to what the reader sees, with an address that holds then, and is not made again
 * while later words stream in. What it says is heard only from its own window and only in the words below; it is told the
 * theme, again where that changes, and nothing else. Source: SPEC PG41.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { hostOf } from "../words/link-policy.ts"
import { theme } from "../ui/theme.ts"
import { Icon } from "./media-icons.tsx"
import { useKeyboard } from "./focus-guard.ts"
import type { CanvasSegment } from "../words/media-descriptions.ts"
import type { Address } from "../files/signed-links.ts"
import { UNREACHED } from "../files/remote-media.ts"
import { useSeen } from "./use-in-view.ts"
import { useMedia } from "./use-media-source.ts"

/** As high as a frame is that does not say, in CSS pixels. */
const DEFAULT_HEIGHT_PX = 320

export function CanvasView({ segment }: { readonly segment: CanvasSegment }): VNode {
  const { url, title = "", preferredHeight = DEFAULT_HEIGHT_PX } = segment.preview
  const box = useRef<HTMLElement>(null)
  const name = title === "" ? "Document" : title
  const host = hostOf(url)
  const { href, fault, isBarred, again, onGone } = useFrame(url, box)
  const [isTaking, setTaking] = useState(false)
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
      ) : fault !== null ? (
        <p class="note" style={{ height: `${preferredHeight}px` }}>
          {fault}{" "}
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      ) : isTaking ? (
        <p class="note" style={{ height: `${preferredHeight}px` }}>
          It takes the keyboard while you write.{" "}
          <button type="button" onClick={() => setTaking(false)}>
            Show it again
          </button>
        </p>
      ) : (
        <div class="pane" style={{ height: `${preferredHeight}px` }}>
          {href !== null && <Frame {...{ href, name, onGone }} onTaken={() => setTaking(true)} />}
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
 * The address of a frame: one of ours is signed, another's is its own. Once it is shown, it stays, unless its document
 * turns out not to be there: then another is asked for, once. One of an origin that the tenant does not allow (any more)
 * is barred: the page's policy would leave a broken frame.
 */
function useFrame(url: string, box: RefObject<HTMLElement | null>) {
  const media = useMedia()
  const isSeen = useSeen(box)
  const isForeign = hostOf(url) !== ""
  const isBarred = isForeign && media?.settings.value.embed_origins.includes(new URL(url).origin) !== true
  const kept = useRef<string | null>(isForeign ? url : null)
  const tries = useRef(0)
  const [isGone, setGone] = useState(false)
  const address = isForeign || media === null ? null : media.signer.address(url).value
  if (isSeen && kept.current === null && address?.at === "ready") kept.current = address.href
  useEffect(() => {
    if (isSeen && !isForeign) media?.signer.want(url)
  }, [media, url, isSeen])

  const renew = (): void => {
    kept.current = null
    media?.signer.renew(url)
  }
  const again = (): void => {
    tries.current = 0
    setGone(false)
    renew()
  }
  const onGone = (): void => {
    if (isForeign) return
    if (++tries.current === 1) renew()
    else setGone(true)
  }
  const fault = isGone ? GONE : kept.current === null && !isForeign ? faultOf(address?.at) : null
  return { href: isSeen ? kept.current : null, fault, isBarred, again, onGone }
}

const GONE = "No longer available."

function faultOf(at: Address["at"] = "refused"): string | null {
  switch (at) {
    case "asking":
    case "ready":
      return null
    case "refused":
      return GONE
    case "failed":
      return UNREACHED
  }
}

interface FrameProps {
  readonly href: string
  readonly name: string
  /** What is there instead of the document says that it is not to be had. */
  readonly onGone: () => void
  /** It has taken the keyboard too often. */
  readonly onTaken: () => void
}

function Frame({ href, name, onGone, onTaken }: FrameProps): VNode {
  const frame = useRef<HTMLIFrameElement>(null)
  useKeyboard(frame, onTaken)
  const isReady = useRef(false)
  // Before it can say anything.
  useLayoutEffect(() => {
    const hear = (event: MessageEvent): void => {
      const { current } = frame
      if (current === null || event.source !== current.contentWindow) return
      const said: unknown = Reflect.get(Object(event.data), "type")
      if (said === "cuecard:gone") onGone()
      if (said !== "cuecard:ready") return
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
  return <iframe ref={frame} title={name} sandbox="allow-scripts" referrerpolicy="no-referrer" src={href} />
}

const DARK = "(prefers-color-scheme: dark)"

function tellTheme(frame: HTMLIFrameElement): void {
  const chosen = theme.peek()
  const isDark = chosen === "system" ? matchMedia(DARK).matches : chosen === "dark"
  // Its origin is none, so no other can be named.
  frame.contentWindow?.postMessage({ type: "cuecard:theme", theme: isDark ? "dark" : "light" }, "*")
}
