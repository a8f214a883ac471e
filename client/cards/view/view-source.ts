/**
 * view-source.ts: loads the templates of tenants' cards. A version never changes, so each version is loaded once and
 * cached by the browser. The page gets a version's URL from the same route as the signed URLs of media.
 */

import { type Signal, signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { CardView } from "../../../shared/card/view/card-template.ts"
import { isJsonObject } from "../../../shared/json.ts"
import { cardViewUrl, parseViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import { mediaViews } from "../../media/loading/deferred-media.ts"
import { useMediaContext } from "../../media/loading/media-context.ts"

/** `gone`: the server doesn't have this version. */
export type ViewState = CardView | "loading" | "gone"

/** Maximum number of templates kept: more than the number of different cards on one page. */
const MAX_KEPT_VIEWS = 200

const views = new Map<string, Signal<ViewState>>()

function getView(reference: string): Signal<ViewState> {
  const known = views.get(reference)
  if (known !== undefined) return known
  if (views.size >= MAX_KEPT_VIEWS) views.clear()
  const view = signal<ViewState>("loading")
  views.set(reference, view)
  return view
}

/** Stores a template as if the page had loaded it. For tests and previews. */
export function keepView(reference: string, view: CardView): void {
  getView(reference).value = view
}

export function useCardView(reference: string): ViewState {
  const view = getView(reference)
  const media = useMediaContext()
  const parsed = parseViewReference(reference)
  const url = parsed === null ? "" : cardViewUrl(parsed)
  const link = media?.signer.getLink(url).value ?? null
  const href = link?.at === "ready" ? link.href : null
  const isGone = parsed === null || link?.at === "refused"
  const isLoading = view.value === "loading"
  useEffect(() => {
    if (!isLoading) return
    if (isGone) view.value = "gone"
    else if (media === null) void mediaViews.load()
    else if (href === null) media.signer.requestLink(url)
    else void loadView(href, view)
  }, [isLoading, isGone, media, href])
  return view.value
}

/** Loads a template. If that fails, the template is requested again when another card needs it, or after a reload. */
async function loadView(href: string, view: Signal<ViewState>): Promise<void> {
  try {
    const response = await fetch(href, { credentials: "omit" })
    if (response.status === 404) view.value = "gone"
    if (!response.ok) return
    const body: unknown = await response.json()
    // The server checked the template before storing it, and the code that fills it doesn't rely on that check.
    view.value = isJsonObject(body) && Array.isArray(body["view"]) ? (body as unknown as CardView) : "gone"
  } catch {
    // The state remains `loading`, so the card shows its text.
  }
}
