/** media-context.ts: the state and requests that all media in a session share. */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { PageSettings, SignResponse } from "../../../shared/protocol/http-body.ts"
import type { LinkSigner } from "../../files/signed-links.ts"
import type { LinkState } from "../../net/socket-link.ts"
import type { CanvasSegment } from "../../words/media-descriptions.ts"

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
  /** The document in the panel beside the conversation; null while the panel is closed. */
  readonly panel: Signal<CanvasSegment | null>
  readonly settings: ReadonlySignal<PageSettings>
  /** Incremented when the server can be reached again. */
  readonly reconnectCount: Signal<number>
  /** The images of the message that is open in the lightbox; null while the lightbox is closed. */
  readonly lightbox: Signal<{ readonly images: readonly ViewableImage[]; readonly index: number } | null>
}

/** Null where nothing can be fetched, as in a preview without a session, and until the media code is loaded. */
export const MediaContext = createContext<MediaContextValue | null>(null)

export function useMediaContext(): MediaContextValue | null {
  return useContext(MediaContext)
}
