/** jump-to-message.ts: scrolls to a message, which is loaded first if necessary, and highlights it. SPEC PG43, LT5. */

import { getActiveElement } from "../../ui/kept-focus/page-elements.ts"
import type { ScrollAnchor } from "../scroll-anchor.ts"
import type { TranscriptRequests } from "../transcript-requests.ts"

/** How long the target of a jump is highlighted, in milliseconds. */
const HIGHLIGHT_MS = 1600
/** Time for a newly loaded message to be rendered and for the scroll position to be restored, in milliseconds. */
const RENDER_DELAY_MS = 50

/** Scrolls to a message. Resolves with false, and changes nothing, if the message can't be found. */
export async function jumpToMessage(
  id: string,
  requests: Pick<TranscriptRequests, "loadUntilMessage">,
  scrollAnchor: ScrollAnchor,
): Promise<boolean> {
  const { isFollowing } = scrollAnchor
  const wasFollowing = isFollowing.peek()
  scrollAnchor.leaveEnd()
  const isLoaded = await requests.loadUntilMessage(id)
  if (isLoaded) await new Promise((resolve) => setTimeout(resolve, RENDER_DELAY_MS))
  const article = isLoaded ? showArticle(scrollAnchor.view, id) : null
  if (article === null) {
    if (wasFollowing) isFollowing.value = true
    return false
  }
  scrollAnchor.leaveEnd()
  article.dataset["marked"] = ""
  setTimeout(() => delete article.dataset["marked"], HIGHLIGHT_MS)
  return true
}

/** Scrolls to a message, focuses it and returns it; null if it isn't on the page. */
function showArticle(view: HTMLElement | null, id: string): HTMLElement | null {
  const article = view?.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"]`) ?? null
  if (view === null || article === null) return null
  // A message taller than the view is shown from its beginning.
  const isTallerThanView = article.offsetHeight > view.clientHeight
  article.scrollIntoView({ block: isTallerThanView ? "start" : "center" })
  article.tabIndex = -1
  // When the user steps through hits, the search field stays focused. SPEC LB8.
  if (getActiveElement()?.closest("search") == null) article.focus({ preventScroll: true })
  return article
}
