/**
 * use-media-source.ts: what an element that shows media is to fetch, and how that stands.
 *
 * url → law 11 → signature → SOURCE → img, audio, video
 * An element that has its address keeps it, whatever is signed later: it does not load again. One that fails gets another
 * address once; then its reader is told why, and what the net took is tried again when it is back. Source: SPEC PG38, PG55, PG56, PG40.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import {
  recordClick,
  GONE_TEXT,
  isLoadAllowed,
  isOwnMediaUrl,
  fetchFailureReason,
  UNREACHABLE_TEXT,
} from "../files/remote-media.ts"
import type { SignedLink, LinkSigner } from "../files/signed-links.ts"

/** A picture that can be looked at. */
export interface ViewableImage {
  readonly url: string
  readonly label: string
}

/** What the media of one session have in common. */
export interface MediaContextValue {
  readonly signer: LinkSigner
  readonly settings: ReadonlySignal<PageSettings>
  /** Grows when the server or the net is back. */
  readonly reconnectCount: Signal<number>
  /** Pictures of one message that are looked at, and which; null: none. */
  readonly lightbox: Signal<{ readonly images: readonly ViewableImage[]; readonly index: number } | null>
}

/** null: nothing can be fetched here. */
export const MediaContext = createContext<MediaContextValue | null>(null)

export function useMediaContext(): MediaContextValue | null {
  return useContext(MediaContext)
}

export type MediaSourceState =
  /** Elsewhere, and not asked for. */
  | { readonly at: "closed" }
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  | { readonly at: "failed"; readonly text: string }

export interface MediaSourceHandle {
  readonly state: MediaSourceState
  /** The reader wants it, or wants it tried again. */
  requestLoad(): void
  /** The element could show it, or not. */
  onLoad(): void
  onError(): void
}

const UNSUPPORTED_TEXT = "Your browser cannot show it."

export function useMediaSource(url: string): MediaSourceHandle {
  const media = useMediaContext()
  const isAllowed = media !== null && isLoadAllowed(url, media.settings)
  const link: SignedLink = isAllowed ? media.signer.getLink(url).value : { at: "refused" }
  const shownLink = useRef<SignedLink>({ at: "asking" })
  const failures = useRef(0)
  const [fault, setFault] = useState<string | null>(null)
  if (shownLink.current.at !== "ready") shownLink.current = link
  useEffect(() => {
    if (isAllowed) media.signer.requestLink(url)
  }, [isAllowed, media, url])

  const renewLink = (): void => {
    shownLink.current = { at: "asking" }
    media?.signer.renewLink(url)
  }
  const requestLoad = (): void => {
    failures.current = 0
    setFault(null)
    if (isAllowed) renewLink()
    else recordClick(url)
  }
  const revived = media?.reconnectCount.value
  useEffect(() => {
    if (fault === UNREACHABLE_TEXT) requestLoad()
  }, [revived])
  return {
    state:
      fault !== null ? { at: "failed", text: fault } : linkToState(shownLink.current, isAllowed || isOwnMediaUrl(url)),
    requestLoad,
    onLoad() {
      failures.current = 0
    },
    onError() {
      const { current } = shownLink
      if (current.at !== "ready") return
      if (++failures.current === 1) return renewLink()
      void fetchFailureReason(current.href).then((text) => setFault(text ?? UNSUPPORTED_TEXT))
    },
  }
}

function linkToState(link: SignedLink, isAllowed: boolean): MediaSourceState {
  if (!isAllowed) return { at: "closed" }
  switch (link.at) {
    case "asking":
    case "ready":
      return link
    case "refused":
      return { at: "failed", text: GONE_TEXT }
    case "failed":
      return { at: "failed", text: UNREACHABLE_TEXT }
  }
}
