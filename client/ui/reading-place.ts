/**
 * reading-place.ts: records where the user is reading in a conversation, and scrolls there when it is shown again.
 *
 * Source: SPEC PG81.
 */

import type { ReadonlySignal } from "@preact/signals"
import type { ReadingPlace, SessionController } from "../session/session-controller.ts"

/** The part of the scroll anchor that is used here. */
interface FollowingView {
  readonly isFollowing: ReadonlySignal<boolean>
  stopFollowing(): void
  findReadingMessage(): string | null
}

/**
 * How long the position is corrected, in milliseconds. Messages get their real heights only when they come into view.
 */
const SETTLE_MS = 1_500

/**
 * Lets the controller find the current reading position. Once the message is rendered, scrolls to where the user left
 * the conversation. Must be called after the scroll anchor has been attached to the same elements. Returns a function
 * that detaches everything.
 */
export function attachReadingPlace(
  controller: SessionController,
  scrollAnchor: FollowingView,
  view: HTMLElement,
  content: HTMLElement,
): () => void {
  const { store } = controller
  let pending = controller.findReadingPlace()
  let settleTimer: ReturnType<typeof setTimeout> | undefined
  const forgetPlace = (): void => {
    pending = null
  }
  const showPlace = (): void => {
    // Once the position has been shown, jumping to the end, for example by sending a message, ends the corrections.
    if (settleTimer !== undefined && scrollAnchor.isFollowing.peek()) forgetPlace()
    if (pending === null || !controller.isLoaded.peek()) return
    const article = findArticle(view, pending.messageId)
    if (article !== null) {
      scrollAnchor.stopFollowing()
      view.scrollTop += distanceToTop(article, view) - pending.offset
      settleTimer ??= setTimeout(forgetPlace, SETTLE_MS)
    }
    // If the message doesn't exist any more, the end is shown.
    else if (!store.has(pending.messageId)) forgetPlace()
  }
  controller.findReadingPlace = () => (settleTimer === undefined ? pending : null) ?? readPlace(view, scrollAnchor)
  const observer = new ResizeObserver(showPlace)
  observer.observe(content)
  for (const type of MOVING_EVENTS) view.addEventListener(type, forgetPlace, { passive: true })
  return () => {
    clearTimeout(settleTimer)
    observer.disconnect()
    for (const type of MOVING_EVENTS) view.removeEventListener(type, forgetPlace)
  }
}

/** Events that may mean that the user is moving elsewhere in the conversation. */
const MOVING_EVENTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const

/** Returns the reading position; null if the view is at the end. */
function readPlace(view: HTMLElement, scrollAnchor: FollowingView): ReadingPlace | null {
  const messageId = scrollAnchor.findReadingMessage()
  const article = messageId === null ? null : findArticle(view, messageId)
  return messageId === null || article === null ? null : { messageId, offset: distanceToTop(article, view) }
}

function distanceToTop(article: HTMLElement, view: HTMLElement): number {
  return article.getBoundingClientRect().top - view.getBoundingClientRect().top
}

function findArticle(view: HTMLElement, id: string): HTMLElement | null {
  return view.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"]`)
}
