/**
 * canvas-view.tsx: a canvas document with its title, its host if it is on another site, and a full-screen button.
 *
 * The frame is created when its placeholder comes near the viewport, with a URL that is valid at that time, and is not
 * created again while the answer streams in. SPEC PG41, PG64, PG66, CD6.
 */

import type { ComponentChildren, RefObject, VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { SignedLink } from "../files/signed-links.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { parseHost } from "../words/format/link-policy.ts"
import type { CanvasSegment } from "../words/media-descriptions.ts"
import { canvasPanelText } from "../words/parts/canvas-panel-text.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { describeLoadFault, type LoadFault } from "./load-failure.ts"
import { MediaIcon } from "./media-icons.tsx"
import { useInView } from "./use-in-view.ts"
import { useMediaContext } from "./loading/media-context.ts"

/** Loaded when the first frame is about to be created. */
export const canvasFrame = deferModule(() => import("./canvas-frame.tsx"))

/** The height of a document that declares none. */
const DEFAULT_HEIGHT_PX = 320

export function CanvasView({ segment }: { readonly segment: CanvasSegment }): VNode {
  const { url, title = "", preferredHeight = DEFAULT_HEIGHT_PX } = segment.preview
  const sectionRef = useRef<HTMLDivElement>(null)
  const name = title === "" ? mediaText.document : title
  const host = parseHost(url)
  const link = useCanvasLink(url, sectionRef)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be shown in full screen, and a section would be one of many landmarks.
    <div class="canvas" role="group" ref={sectionRef} aria-label={mediaText.named(mediaText.document, name)}>
      <header>
        <MediaIcon name="canvas" />
        <b dir="auto">{name}</b>
        {host !== "" && <small>{host}</small>}
        <PanelButton segment={segment} />
        {document.fullscreenEnabled && <FullScreenButton sectionRef={sectionRef} />}
      </header>
      <CanvasBody url={url} name={name} link={link} height={preferredHeight} />
    </div>
  )
}

/** Opens the document beside the conversation (SPEC CP1). */
function PanelButton({ segment }: { readonly segment: CanvasSegment }): VNode | null {
  const media = useMediaContext()
  if (media === null) return null
  const openPanel = (): void => {
    media.panel.value = segment
  }
  return (
    <button type="button" aria-label={canvasPanelText.open} title={canvasPanelText.open} onClick={openPanel}>
      <MediaIcon name="panel" />
    </button>
  )
}

/** The document alone, as tall as the panel around it. */
export function CanvasDocument({ segment: { preview } }: { readonly segment: CanvasSegment }): VNode {
  const { url, title = "" } = preview
  const paneRef = useRef<HTMLDivElement>(null)
  const link = useCanvasLink(url, paneRef)
  return (
    <div class="pane" ref={paneRef}>
      <CanvasBody url={url} name={title === "" ? mediaText.document : title} link={link} height={null} />
    </div>
  )
}

export function FullScreenButton({ sectionRef }: { readonly sectionRef: RefObject<HTMLElement | null> }): VNode {
  const toggleFullScreen = (): void => {
    if (document.fullscreenElement === null) sectionRef.current?.requestFullscreen().catch(() => {})
    else void document.exitFullscreen()
  }
  return (
    <button type="button" aria-label={mediaText.fullScreen} title={mediaText.fullScreen} onClick={toggleFullScreen}>
      <MediaIcon name="grow" />
    </button>
  )
}

/** Documents that flooded the page with messages. They remain paused when their session is opened again. */
const floodedUrls = new Set<string>()

interface CanvasBodyProps {
  readonly url: string
  readonly name: string
  readonly link: CanvasLink
  /** In pixels. Null if the element around it has a height. */
  readonly height: number | null
}

/** The frame, or a note of the same height that says why it is missing. */
function CanvasBody({ url, name, link, height }: CanvasBodyProps): VNode {
  const [pause, setPause] = useState<"capturedTyping" | "floodedPage" | null>(() =>
    floodedUrls.has(url) ? "floodedPage" : null,
  )
  const [isCodeMissing, setCodeMissing] = useState(false)
  const isNeeded = link.href !== null && !isCodeMissing
  useEffect(() => {
    if (isNeeded) void canvasFrame.load().then((isLoaded) => setCodeMissing(!isLoaded))
  }, [isNeeded])
  const CanvasFrame = canvasFrame.module.value?.CanvasFrame
  if (link.isBlocked) {
    return (
      <CanvasNote text={mediaText.onAnotherSite} height={height}>
        <a href={url} target="_blank" rel="noopener noreferrer">
          {mediaText.openInNewTab}
        </a>
      </CanvasNote>
    )
  }
  const fault = isCodeMissing ? "unreachable" : link.fault
  if (fault !== null) {
    return (
      <CanvasNote text={describeLoadFault(fault)} height={height}>
        <button type="button" onClick={isCodeMissing ? () => setCodeMissing(false) : link.retry}>
          {mediaText.tryAgain}
        </button>
      </CanvasNote>
    )
  }
  if (pause !== null) {
    return (
      <CanvasNote text={mediaText[pause]} height={height}>
        <button type="button" onClick={() => setPause(null)}>
          {mediaText.resume}
        </button>
      </CanvasNote>
    )
  }
  return (
    <div class="pane" style={createHeightStyle(height)}>
      {link.href !== null && CanvasFrame !== undefined && (
        <CanvasFrame
          href={link.href}
          name={name}
          onMissing={link.onMissing}
          onFocusStolen={() => setPause("capturedTyping")}
          onFlood={() => {
            floodedUrls.add(url)
            setPause("floodedPage")
          }}
        />
      )}
    </div>
  )
}

export function createHeightStyle(height: number | null): { readonly height: string } {
  return { height: height === null ? "100%" : `${height}px` }
}

interface CanvasNoteProps {
  readonly text: string
  readonly height: number | null
  readonly children: ComponentChildren
}

export function CanvasNote({ text, height, children }: CanvasNoteProps): VNode {
  return (
    <p class="note" style={createHeightStyle(height)}>
      {text} {children}
    </p>
  )
}

export interface CanvasLink {
  /** The URL for the frame. Null until the frame's placeholder is in view and the URL is signed. */
  readonly href: string | null
  readonly fault: LoadFault | null
  /**
   * True if the tenant doesn't allow the document's origin. The page's security policy would leave the frame broken.
   */
  readonly isBlocked: boolean
  retry(): void
  /** To be called when the frame reports that its document doesn't exist. */
  onMissing(): void
}

/**
 * Stored documents get a signed URL; other documents are framed at their own URL. Once in use, the URL doesn't change
 * unless the frame reports that the document is missing. In that case, a new URL is requested once.
 */
export function useCanvasLink(url: string, sectionRef: RefObject<HTMLElement | null>): CanvasLink {
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

  const renewLink = (): void => {
    shownHref.current = null
    media?.signer.renewLink(url)
  }
  const retryLoading = (): void => {
    tries.current = 0
    setMissing(false)
    renewLink()
  }
  const onMissing = (): void => {
    if (isForeign) return
    if (++tries.current === 1) renewLink()
    else setMissing(true)
  }
  const linkFault = shownHref.current === null && !isForeign ? linkToFault(link?.at) : null
  const href = isInView ? shownHref.current : null
  return { href, fault: isMissing ? "gone" : linkFault, isBlocked, retry: retryLoading, onMissing }
}

function linkToFault(at: SignedLink["at"] = "refused"): LoadFault | null {
  switch (at) {
    case "asking":
    case "ready":
      return null
    case "refused":
      return "gone"
    case "failed":
      return "unreachable"
  }
}
