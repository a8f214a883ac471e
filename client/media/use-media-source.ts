/**
 * use-media-source.ts: the URL that an image, audio or video element loads, and the state of that load.
 *
 * An element keeps its URL even if a newer one is signed, so it doesn't load again. When it fails to load, it gets a new
 * URL once; if that fails too, the user sees the reason. Loads that failed because of the network are retried when the
 * network is back. SPEC PG38, PG40, PG55, PG56.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { PageSettings, SignResponse } from "../../shared/protocol/http-body.ts"
import { recordClick, isLoadAllowed, isAssetUrl } from "../files/remote-media.ts"
import type { LinkState } from "../net/socket-link.ts"
import { fetchFailureReason, GONE_TEXT, UNREACHABLE_TEXT } from "./load-failure.ts"
import type { SignedLink, LinkSigner } from "../files/signed-links.ts"
import { mediaText } from "../words/parts/media-text.ts"

/** An image that the lightbox can show. */
export interface ViewableImage {
  readonly url: string
  readonly label: string
}

/** What media need from the session. */
export interface MediaRequests {
  readonly settings: ReadonlySignal<PageSettings>
  readonly link: ReadonlySignal<LinkState>
  /** Returns signed URLs for stored media and for proxied remote media. */
  signUrls(urls: readonly string[]): Promise<SignResponse>
}

/** Shared by all media of one session. */
export interface MediaContextValue {
  readonly signer: LinkSigner
  readonly settings: ReadonlySignal<PageSettings>
  /** Incremented when the server can be reached again. */
  readonly reconnectCount: Signal<number>
  /** The images of the message that is open in the lightbox; null while it is closed. */
  readonly lightbox: Signal<{ readonly images: readonly ViewableImage[]; readonly index: number } | null>
}

/** Null where nothing can be fetched, as in a preview without a session, and until the code of media is loaded. */
export const MediaContext = createContext<MediaContextValue | null>(null)

export function useMediaContext(): MediaContextValue | null {
  return useContext(MediaContext)
}

export type MediaSourceState =
  /** Remote media that the user hasn't asked for. */
  | { readonly at: "closed" }
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  | { readonly at: "failed"; readonly text: string }

export interface MediaSourceHandle {
  readonly state: MediaSourceState
  /** Loads the media at the user's request, or tries again. */
  requestLoad(): void
  /** The element's own load and error events. */
  onLoad(): void
  onError(): void
}

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
  const onLoad = (): void => {
    failures.current = 0
  }
  const onError = (): void => {
    const { current } = shownLink
    if (current.at !== "ready") return
    if (++failures.current === 1) return renewLink()
    void fetchFailureReason(current.href).then((text) => setFault(text ?? mediaText.unsupported))
  }
  const reconnectCount = media?.reconnectCount.value
  useEffect(() => {
    if (fault === UNREACHABLE_TEXT) requestLoad()
  }, [reconnectCount])
  const linkState = linkToState(shownLink.current, isAllowed || isAssetUrl(url))
  return { state: fault === null ? linkState : { at: "failed", text: fault }, requestLoad, onLoad, onError }
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
