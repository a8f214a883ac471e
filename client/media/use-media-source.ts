/**
 * use-media-source.ts: the URL that an image, audio or video element loads, and the state of that load.
 *
 * An element keeps its URL even if a newer one is signed, so it doesn't load again. If an element fails to load, it
 * gets a new URL once; if that also fails, the user sees the reason. Loads that failed because of the network are
 * retried when the network is back. SPEC PG38, PG40, PG55, PG56.
 */

import { useEffect, useRef, useState } from "preact/hooks"
import { isAssetUrl } from "../files/remote-media.ts"
import { recordClick, isLoadAllowed } from "./loading/allowed-media.ts"
import { describeLoadFault, fetchLoadFault, type LoadFault } from "./load-failure.ts"
import type { SignedLink } from "../files/signed-links.ts"
import { useMediaContext } from "./loading/media-context.ts"
import { mediaText } from "../words/parts/media-text.ts"

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
  /** Handle the element's own load and error events. */
  onLoad(): void
  onError(): void
}

export function useMediaSource(url: string): MediaSourceHandle {
  const media = useMediaContext()
  const isAllowed = media !== null && isLoadAllowed(url, media.settings)
  const link: SignedLink = isAllowed ? media.signer.getLink(url).value : { at: "refused" }
  const shownLink = useRef<SignedLink>({ at: "asking" })
  const failures = useRef(0)
  const [fault, setFault] = useState<LoadFault | null>(null)
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
    void fetchLoadFault(current.href).then((reason) => setFault(reason ?? "unsupported"))
  }
  const reconnectCount = media?.reconnectCount.value
  useEffect(() => {
    if (fault === "unreachable") requestLoad()
  }, [reconnectCount])
  const linkState = linkToState(shownLink.current, isAllowed || isAssetUrl(url))
  const state = fault === null ? linkState : ({ at: "failed", text: describeLoadFault(fault) } as const)
  return { state, requestLoad, onLoad, onError }
}

function linkToState(link: SignedLink, isAllowed: boolean): MediaSourceState {
  if (!isAllowed) return { at: "closed" }
  switch (link.at) {
    case "asking":
    case "ready":
      return link
    case "refused":
      return { at: "failed", text: mediaText.gone }
    case "failed":
      return { at: "failed", text: mediaText.loadFailed }
  }
}
