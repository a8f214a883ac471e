/**
 * use-media-source.ts: what an element that shows media is to fetch, and how that stands.
 *
 * url → law 11 → signature → SOURCE → img, audio, video
 * An element that has its address keeps it, whatever is signed later: it does not load again. One that fails gets another
 * address once; then its reader is told why, and what the net took is tried again when it is back. Source: SPEC PG38, PG40.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { PageSettings } from "../../shared/protocol/asset.ts"
import { click, GONE, isAllowed, isOwn, reasonAt, UNREACHED } from "../files/remote-media.ts"
import type { Address, Signer } from "../files/signed-links.ts"

/** A picture that can be looked at. */
export interface Picture {
  readonly url: string
  readonly label: string
}

/** What the media of one session have in common. */
export interface Media {
  readonly signer: Signer
  readonly settings: ReadonlySignal<PageSettings>
  /** Grows when the server or the net is back. */
  readonly revived: Signal<number>
  /** Pictures of one message that are looked at, and which; null: none. */
  readonly shown: Signal<{ readonly pictures: readonly Picture[]; readonly at: number } | null>
}

/** null: nothing can be fetched here. */
export const MediaContext = createContext<Media | null>(null)

export function useMedia(): Media | null {
  return useContext(MediaContext)
}

export type SourceState =
  /** Elsewhere, and not asked for. */
  | { readonly at: "closed" }
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  | { readonly at: "failed"; readonly text: string }

export interface Source {
  readonly state: SourceState
  /** The reader wants it, or wants it tried again. */
  open(): void
  /** The element could show it, or not. */
  onLoad(): void
  onError(): void
}

const UNSHOWN = "Your browser cannot show it."

export function useSource(url: string): Source {
  const media = useMedia()
  const isOpen = media !== null && isAllowed(url, media.settings)
  const address: Address = isOpen ? media.signer.address(url).value : { at: "refused" }
  const kept = useRef<Address>({ at: "asking" })
  const tries = useRef(0)
  const [fault, setFault] = useState<string | null>(null)
  if (kept.current.at !== "ready") kept.current = address
  useEffect(() => {
    if (isOpen) media.signer.want(url)
  }, [isOpen, media, url])

  const again = (): void => {
    kept.current = { at: "asking" }
    media?.signer.renew(url)
  }
  const open = (): void => {
    tries.current = 0
    setFault(null)
    if (isOpen) again()
    else click(url)
  }
  const revived = media?.revived.value
  useEffect(() => {
    if (fault === UNREACHED) open()
  }, [revived])
  return {
    state: fault !== null ? { at: "failed", text: fault } : stateOf(kept.current, isOpen || isOwn(url)),
    open,
    onLoad() {
      tries.current = 0
    },
    onError() {
      const { current } = kept
      if (current.at !== "ready") return
      if (++tries.current === 1) return again()
      void reasonAt(current.href).then((text) => setFault(text ?? UNSHOWN))
    },
  }
}

function stateOf(address: Address, isOpen: boolean): SourceState {
  if (!isOpen) return { at: "closed" }
  switch (address.at) {
    case "asking":
    case "ready":
      return address
    case "refused":
      return { at: "failed", text: GONE }
    case "failed":
      return { at: "failed", text: UNREACHED }
  }
}
