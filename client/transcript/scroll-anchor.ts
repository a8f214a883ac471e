/**
 * scroll-anchor.ts: controls the transcript's scroll position.
 *
 * The view follows the end while the user is there. Scrolling up stops this; scrolling back to the end, or sending a
 * message, starts it again. Older pages are requested near the top. SPEC PG15, PG16.
 */

import { type Signal, signal } from "@preact/signals"

/** Within this distance from the end, the view counts as being at the end. */
const END_THRESHOLD_PX = 24
/** Within this distance from the top, the next older page is requested. */
const TOP_THRESHOLD_PX = 900

export class ScrollAnchor {
  readonly isFollowing: Signal<boolean> = signal(true)
  /** Whether a new message has arrived since the view was last at the end. */
  readonly hasUnread: Signal<boolean> = signal(false)
  readonly #onNearTop: () => void
  #view: HTMLElement | null = null
  #lastTop = 0
  #lastHeight = 0
  /** The newest message when the view was last at the end. */
  #seenId: string | undefined

  constructor(onNearTop: () => void) {
    this.#onNearTop = onNearTop
  }

  /** The upper edge of the view, in pixels from the top of the window. */
  get top(): number {
    return this.#view?.getBoundingClientRect().top ?? 0
  }

  /** Returns the message whose version switch has the focus, or the first in view; null if the view is at the end. */
  findReadingMessage(): string | null {
    const focused = this.#view?.querySelector<HTMLElement>("article:has(.versions :focus)")
    if (focused) return focused.dataset["id"] ?? null
    if (this.#view === null || this.isFollowing.peek()) return null
    const articles = Array.from(this.#view.querySelectorAll<HTMLElement>("article"))
    return articles.find((article) => article.getBoundingClientRect().bottom > this.top)?.dataset["id"] ?? null
  }

  /** Observes a scrolling element and its content. Returns a function that stops observing. */
  attachTo(view: HTMLElement, content: HTMLElement): () => void {
    this.#view = view
    const onScroll = (): void => this.#handleScroll(view)
    const observer = new ResizeObserver(() => this.updatePosition())
    view.addEventListener("scroll", onScroll, { passive: true })
    observer.observe(content)
    observer.observe(view)
    return () => {
      view.removeEventListener("scroll", onScroll)
      observer.disconnect()
      this.#view = null
    }
  }

  /** Scrolls to the end and follows it from now on. */
  scrollToEnd(): void {
    this.isFollowing.value = true
    this.hasUnread.value = false
    this.updatePosition()
  }

  /** To be called when the content or the window has changed its size. */
  updatePosition(): void {
    const view = this.#view
    if (view === null) return
    if (this.isFollowing.peek()) view.scrollTop = view.scrollHeight
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    this.#checkNearTop(view)
  }

  /** To be called with the id of the newest message when content has arrived. An answer that grows isn't a new message. */
  noteNewContent(newestId: string | undefined): void {
    if (this.isFollowing.peek()) this.#seenId = newestId
    else if (newestId !== this.#seenId) this.hasUnread.value = true
  }

  stopFollowing(): void {
    this.isFollowing.value = false
  }

  /** Scrolls to a message, focuses it and returns it; null if it isn't on the page. */
  showMessage(id: string): HTMLElement | null {
    const article = this.#view?.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"]`) ?? null
    if (article === null) return null
    this.stopFollowing()
    // A message taller than the view is shown from its beginning.
    const isTallerThanView = article.offsetHeight > (this.#view?.clientHeight ?? 0)
    article.scrollIntoView({ block: isTallerThanView ? "start" : "center" })
    article.tabIndex = -1
    article.focus({ preventScroll: true })
    return article
  }

  /** Compensates for a shift of the content that moved an element from `before` to `after` pixels from the top. */
  shiftBy(before: number, after: number): void {
    const view = this.#view
    if (view === null || this.isFollowing.peek() || before === after) return
    view.scrollTop += after - before
    this.#lastTop = view.scrollTop
  }

  #handleScroll(view: HTMLElement): void {
    const distanceToEnd = view.scrollHeight - view.scrollTop - view.clientHeight
    if (distanceToEnd <= END_THRESHOLD_PX) {
      this.isFollowing.value = true
      this.hasUnread.value = false
    } else if (view.scrollTop < this.#lastTop - 1 && view.scrollHeight >= this.#lastHeight) {
      // The view moved up although the content didn't shrink, so the user scrolled.
      this.isFollowing.value = false
    }
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    this.#checkNearTop(view)
  }

  #checkNearTop(view: HTMLElement): void {
    if (view.scrollTop < TOP_THRESHOLD_PX) this.#onNearTop()
  }
}
