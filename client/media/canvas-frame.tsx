/**
 * canvas-frame.tsx: a document in a frame of its own, which reaches nothing of ours.
 *
 * canvas segment → CANVAS → iframe (scripts alone: never our origin, no forms, no popups, no navigation of the page)
 * The frame is made when it comes near to what the reader sees, with an address that holds then, and is not made again
 * while later words stream in. What it says is heard only from its own window and only in the words below; it is told the
 * theme, again where that changes, and nothing else. Source: SPEC PG41, PG64–PG66.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { parseHost } from "../words/link-policy.ts"
import { theme } from "../ui/theme.ts"
import { MediaIcon } from "./media-icons.tsx"
import { useFocusGuard } from "./focus-guard.ts"
import type { CanvasSegment } from "../words/media-descriptions.ts"
import type { SignedLink } from "../files/signed-links.ts"
import { UNREACHABLE_TEXT } from "./load-failure.ts"
import { useInView } from "./use-in-view.ts"
import { useMediaContext } from "./use-media-source.ts"

/** As high as a frame is that does not say, in CSS pixels. */
const DEFAULT_HEIGHT_PX = 320

export function CanvasView({ segment }: { readonly segment: CanvasSegment }): VNode {
  const { url, title = "", preferredHeight = DEFAULT_HEIGHT_PX } = segment.preview
  const sectionRef = useRef<HTMLElement>(null)
  const name = title === "" ? "Document" : title
  const host = parseHost(url)
  const { href, fault, isBarred, again, onGone } = useCanvasFrame(url, sectionRef)
  const [hasStolenFocus, setTaking] = useState(false)
  return (
    <section class="canvas" ref={sectionRef} aria-label={`Document: ${name}`}>
      <header>
        <MediaIcon name="canvas" />
        <b>{name}</b>
        {host !== "" && <small>{host}</small>}
        {document.fullscreenEnabled && (
          <button
            type="button"
            aria-label="Full screen"
            title="Full screen"
            onClick={() => toggleFullScreen(sectionRef.current)}
          >
            <MediaIcon name="grow" />
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
      ) : hasStolenFocus ? (
        <p class="note" style={{ height: `${preferredHeight}px` }}>
          It takes the keyboard while you write.{" "}
          <button type="button" onClick={() => setTaking(false)}>
            Show it again
          </button>
        </p>
      ) : (
        <div class="pane" style={{ height: `${preferredHeight}px` }}>
          {href !== null && (
            <CanvasFrame {...{ href, name, onMissing: onGone }} onFocusStolen={() => setTaking(true)} />
          )}
        </div>
      )}
    </section>
  )
}

function toggleFullScreen(box: HTMLElement | null): void {
  if (document.fullscreenElement === null) box?.requestFullscreen().catch(() => {})
  else void document.exitFullscreen()
}

/**
 * The address of a frame: one of ours is signed, another's is its own. Once it is shown, it stays, unless its document
 * turns out not to be there: then another is asked for, once. One of an origin that the tenant does not allow (any more)
 * is barred: the page's policy would leave a broken frame.
 */
function useCanvasFrame(url: string, sectionRef: RefObject<HTMLElement | null>) {
  const media = useMediaContext()
  const isInView = useInView(sectionRef)
  const isForeign = parseHost(url) !== ""
  const isBlocked = isForeign && media?.settings.value.embed_origins.includes(new URL(url).origin) !== true
  const shownHref = useRef<string | null>(isForeign ? url : null)
  const tries = useRef(0)
  const [isMissing, setMissing] = useState(false)
  const link = isForeign || media === null ? null : media.signer.getLink(url).value
  if (isInView && shownHref.current === null && link?.at === "ready") shownHref.current = link.href
  useEffect(() => {
    if (isInView && !isForeign) media?.signer.requestLink(url)
  }, [media, url, isInView])

  const requestLink = (): void => {
    shownHref.current = null
    media?.signer.renewLink(url)
  }
  const retry = (): void => {
    tries.current = 0
    setMissing(false)
    requestLink()
  }
  const onMissing = (): void => {
    if (isForeign) return
    if (++tries.current === 1) requestLink()
    else setMissing(true)
  }
  const fault = isMissing ? MISSING_TEXT : shownHref.current === null && !isForeign ? describeFault(link?.at) : null
  return { href: isInView ? shownHref.current : null, fault, isBarred: isBlocked, again: retry, onGone: onMissing }
}

const MISSING_TEXT = "No longer available."

function describeFault(at: SignedLink["at"] = "refused"): string | null {
  switch (at) {
    case "asking":
    case "ready":
      return null
    case "refused":
      return MISSING_TEXT
    case "failed":
      return UNREACHABLE_TEXT
  }
}

interface CanvasFrameProps {
  readonly href: string
  readonly name: string
  /** What is there instead of the document says that it is not to be had. */
  readonly onMissing: () => void
  /** It has taken the keyboard too often. */
  readonly onFocusStolen: () => void
}

function CanvasFrame({ href, name, onMissing: onGone, onFocusStolen: onTaken }: CanvasFrameProps): VNode {
  const frameRef = useRef<HTMLIFrameElement>(null)
  useFocusGuard(frameRef, onTaken)
  const isReady = useRef(false)
  // Before it can say anything.
  useLayoutEffect(() => {
    const onMessage = (event: MessageEvent): void => {
      const { current } = frameRef
      if (current === null || event.source !== current.contentWindow) return
      const messageType: unknown = Reflect.get(Object(event.data), "type")
      if (messageType === "cuecard:gone") onGone()
      if (messageType !== "cuecard:ready") return
      isReady.current = true
      postTheme(current)
    }
    const onThemeChange = (): void => {
      if (isReady.current && frameRef.current !== null) postTheme(frameRef.current)
    }
    const darkQuery = matchMedia(DARK_SCHEME_QUERY)
    addEventListener("message", onMessage)
    darkQuery.addEventListener("change", onThemeChange)
    const unsubscribe = theme.subscribe(onThemeChange)
    return () => {
      removeEventListener("message", onMessage)
      darkQuery.removeEventListener("change", onThemeChange)
      unsubscribe()
    }
  }, [])
  return <iframe ref={frameRef} title={name} sandbox="allow-scripts" referrerpolicy="no-referrer" src={href} />
}

const DARK_SCHEME_QUERY = "(prefers-color-scheme: dark)"

function postTheme(frame: HTMLIFrameElement): void {
  const chosen = theme.peek()
  const isDark = chosen === "system" ? matchMedia(DARK_SCHEME_QUERY).matches : chosen === "dark"
  // Its origin is none, so no other can be named.
  frame.contentWindow?.postMessage({ type: "cuecard:theme", theme: isDark ? "dark" : "light" }, "*")
}
