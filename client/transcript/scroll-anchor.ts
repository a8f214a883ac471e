/**
 * scroll-anchor.ts: controls the transcript's scroll position.
 *
 * While the user is at the end, the view follows it. Scrolling up stops this; scrolling back to the end or sending a
 * message resumes it. Older messages are requested near the top and newer ones near the end. SPEC PG15, PG16, LT2.
 */

import { type Signal, signal } from "@preact/signals"

/** Within this distance from the end, the view is considered to be at the end. */
const END_THRESHOLD_PX = 24
/** Within this distance from the first or last message that is shown, the next page is requested. */
const EDGE_THRESHOLD_PX = 900

/** The messages that follow the shown ones. */
export interface NewerMessages {
  readonly hasNewer: boolean
  loadNewer(): Promise<void>
  showNewest(): void
}

export class ScrollAnchor {
  readonly isFollowing: Signal<boolean> = signal(true)
  /** Whether a new message has arrived since the view was last at the end. */
  readonly hasUnread: Signal<boolean> = signal(false)
  /**
   * Whether loaded messages above the first rendered one aren't rendered yet. Until they are, no older ones are
   * requested.
   */
  isPartial = false
  readonly #onNearTop: () => void
  readonly #newer: NewerMessages | undefined
  #view: HTMLElement | null = null
  #lastTop = 0
  #lastHeight = 0
  /**
   * What the browser rounded off in the last shift, in pixels. It is added to the next shift. Otherwise, the rounding
   * errors of many shifts could add up to a visible shift.
   */
  #fraction = 0
  /** The id of the newest message when the view was last at the end. */
  #seenId: string | undefined

  /** If `newer` is absent, the last message is the newest one. */
  constructor(onNearTop: () => void, newer?: NewerMessages) {
    this.#onNearTop = onNearTop
    this.#newer = newer
  }

  /** The scrolling element; null while none is observed. */
  get view(): HTMLElement | null {
    return this.#view
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

  /** Scrolls to the newest message and follows the end from then on. */
  scrollToEnd(): void {
    this.#newer?.showNewest()
    this.#follow()
    this.updatePosition()
  }

  /** To be called when the content or the window has changed its size. */
  updatePosition(): void {
    const view = this.#view
    if (view === null) return
    if (this.isFollowing.peek()) view.scrollTop = view.scrollHeight
    this.#notePosition(view)
  }

  /**
   * To be called with the id of the newest message when content has arrived. An answer that grows isn't a new message.
   */
  noteNewContent(newestId: string | undefined): void {
    if (this.isFollowing.peek()) this.#seenId = newestId
    else if (newestId !== this.#seenId) this.hasUnread.value = true
  }

  stopFollowing(): void {
    this.isFollowing.value = false
  }

  /** Stops following, unless all content fits into the view, in which case the view is always at the end. */
  leaveEnd(): void {
    if (this.#view !== null && this.#view.scrollHeight > this.#view.clientHeight) this.stopFollowing()
  }

  /** Moves the focus from an element that disappeared to the view, so that keys still scroll the view. */
  focusView(): void {
    const view = this.#view
    if (view === null) return
    view.tabIndex = -1
    view.focus({ preventScroll: true })
  }

  /** Compensates for a shift of the content that moved an element from `before` to `after` pixels from the top. */
  shiftBy(before: number, after: number): void {
    const view = this.#view
    if (view === null || this.isFollowing.peek() || before === after) return
    const wanted = view.scrollTop + after - before + this.#fraction
    view.scrollTop = wanted
    this.#lastTop = view.scrollTop
    this.#fraction = (wanted - view.scrollTop) % 1
  }

  #follow(): void {
    this.isFollowing.value = true
    this.hasUnread.value = false
  }

  #handleScroll(view: HTMLElement): void {
    if (distanceToEnd(view) <= END_THRESHOLD_PX && this.#newer?.hasNewer !== true) {
      this.#follow()
    } else if (view.scrollTop < this.#lastTop - 1 && view.scrollHeight >= this.#lastHeight) {
      // The view moved up even though the content didn't shrink, so the user scrolled.
      this.stopFollowing()
    }
    this.#notePosition(view)
  }

  /** Records the position, and requests messages if the position is near an edge. */
  #notePosition(view: HTMLElement): void {
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    if (this.isPartial) return
    if (view.scrollTop < EDGE_THRESHOLD_PX) this.#onNearTop()
    if (distanceToEnd(view) < EDGE_THRESHOLD_PX) void this.#newer?.loadNewer()
  }
}

function distanceToEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight
}
