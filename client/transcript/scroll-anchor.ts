/**
 * scroll-anchor.ts: where the reader is, and staying there.
 *
 * The view follows the end only while the reader is at it. Going up lets go; coming back to the end, or sending,
 * takes hold again. Older pages come when the top is near. Source: SPEC PG15, PG16.
 */

import { type Signal, signal } from "@preact/signals"

/** So near to the end counts as at it, in CSS pixels. */
const END_THRESHOLD_PX = 24
/** So near to the top the next older page is asked for, in CSS pixels. */
const TOP_THRESHOLD_PX = 900

export class ScrollAnchor {
  readonly isFollowing: Signal<boolean> = signal(true)
  /** Something came while the reader was elsewhere. */
  readonly hasUnread: Signal<boolean> = signal(false)
  readonly #onNearTop: () => void
  #view: HTMLElement | null = null
  #lastTop = 0
  #lastHeight = 0

  constructor(onNearTop: () => void) {
    this.#onNearTop = onNearTop
  }

  /** Upper edge of what the reader sees, in pixels from the top of the window. */
  get top(): number {
    return this.#view?.getBoundingClientRect().top ?? 0
  }

  /** The message whose switch was used, or that the reader has before them; null at the end. */
  findReadingMessage(): string | null {
    const used = this.#view?.querySelector<HTMLElement>("article:has(.versions :focus)")
    if (used) return used.dataset["id"] ?? null
    if (this.#view === null || this.isFollowing.peek()) return null
    const articles = Array.from(this.#view.querySelectorAll<HTMLElement>("article"))
    return articles.find((one) => one.getBoundingClientRect().bottom > this.top)?.dataset["id"] ?? null
  }

  /** Watches a scrolling element and what is in it; returns what ends that. */
  attachTo(view: HTMLElement, content: HTMLElement): () => void {
    this.#view = view
    const onScroll = (): void => this.#handleScroll(view)
    const sizes = new ResizeObserver(() => this.updatePosition())
    view.addEventListener("scroll", onScroll, { passive: true })
    sizes.observe(content)
    sizes.observe(view)
    return () => {
      view.removeEventListener("scroll", onScroll)
      sizes.disconnect()
      this.#view = null
    }
  }

  /** The end, and from now on with it. */
  scrollToEnd(): void {
    this.isFollowing.value = true
    this.hasUnread.value = false
    this.updatePosition()
  }

  /** Content or window changed its size. */
  updatePosition(): void {
    const view = this.#view
    if (view === null) return
    if (this.isFollowing.peek()) view.scrollTop = view.scrollHeight
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    this.#checkNearTop(view)
  }

  /** New words came. */
  noteNewContent(): void {
    if (!this.isFollowing.peek()) this.hasUnread.value = true
  }

  /** The reader looks at something that is not the end. */
  stopFollowing(): void {
    this.isFollowing.value = false
  }

  /** Brings a message into view, and the keyboard to it; null where it is not drawn. */
  showMessage(id: string): HTMLElement | null {
    const article = this.#view?.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"]`) ?? null
    if (article === null) return null
    this.stopFollowing()
    // Of one that is higher than the view its beginning.
    const isTallerThanView = article.offsetHeight > (this.#view?.clientHeight ?? 0)
    article.scrollIntoView({ block: isTallerThanView ? "start" : "center" })
    article.tabIndex = -1
    article.focus({ preventScroll: true })
    return article
  }

  /** Something was put above: what stood at `before` pixels from the top of the view stands at `after` now. */
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
      // Up, and not because the content shrank: it was the reader.
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
