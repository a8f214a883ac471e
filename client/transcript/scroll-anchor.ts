/**
 * scroll-anchor.ts: where the reader is, and staying there.
 *
 * The view follows the end only while the reader is at it. Going up lets go; coming back to the end, or sending,
 * takes hold again. Older pages come when the top is near. Source: SPEC PG15, PG16.
 */

import { type Signal, signal } from "@preact/signals"

/** So near to the end counts as at it, in CSS pixels. */
const END_PX = 24
/** So near to the top the next older page is asked for, in CSS pixels. */
const TOP_PX = 900

export class ScrollKeeper {
  readonly following: Signal<boolean> = signal(true)
  /** Something came while the reader was elsewhere. */
  readonly unread: Signal<boolean> = signal(false)
  readonly #nearTop: () => void
  #view: HTMLElement | null = null
  #lastTop = 0
  #lastHeight = 0

  constructor(nearTop: () => void) {
    this.#nearTop = nearTop
  }

  /** Upper edge of what the reader sees, in pixels from the top of the window. */
  get top(): number {
    return this.#view?.getBoundingClientRect().top ?? 0
  }

  /** The message whose switch was used, or that the reader has before them; null at the end. */
  reading(): string | null {
    const used = this.#view?.querySelector<HTMLElement>("article:has(.versions :focus)")
    if (used) return used.dataset["id"] ?? null
    if (this.#view === null || this.following.peek()) return null
    const articles = Array.from(this.#view.querySelectorAll<HTMLElement>("article"))
    return articles.find((one) => one.getBoundingClientRect().bottom > this.top)?.dataset["id"] ?? null
  }

  /** Watches a scrolling element and what is in it; returns what ends that. */
  attach(view: HTMLElement, content: HTMLElement): () => void {
    this.#view = view
    const onScroll = (): void => this.#scrolled(view)
    const sizes = new ResizeObserver(() => this.settle())
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
  toEnd(): void {
    this.following.value = true
    this.unread.value = false
    this.settle()
  }

  /** Content or window changed its size. */
  settle(): void {
    const view = this.#view
    if (view === null) return
    if (this.following.peek()) view.scrollTop = view.scrollHeight
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    this.#askOlder(view)
  }

  /** New words came. */
  noteNews(): void {
    if (!this.following.peek()) this.unread.value = true
  }

  /** The reader looks at something that is not the end. */
  letGo(): void {
    this.following.value = false
  }

  /** Brings a message into view, and the keyboard to it; null where it is not drawn. */
  show(id: string): HTMLElement | null {
    const article = this.#view?.querySelector<HTMLElement>(`article[data-id="${CSS.escape(id)}"]`) ?? null
    if (article === null) return null
    this.letGo()
    // Of one that is higher than the view its beginning.
    const isHigh = article.offsetHeight > (this.#view?.clientHeight ?? 0)
    article.scrollIntoView({ block: isHigh ? "start" : "center" })
    article.tabIndex = -1
    article.focus({ preventScroll: true })
    return article
  }

  /** Something was put above: what stood at `before` pixels from the top of the view stands at `after` now. */
  keepPlace(before: number, after: number): void {
    const view = this.#view
    if (view === null || this.following.peek() || before === after) return
    view.scrollTop += after - before
    this.#lastTop = view.scrollTop
  }

  #scrolled(view: HTMLElement): void {
    const toEnd = view.scrollHeight - view.scrollTop - view.clientHeight
    if (toEnd <= END_PX) {
      this.following.value = true
      this.unread.value = false
    } else if (view.scrollTop < this.#lastTop - 1 && view.scrollHeight >= this.#lastHeight) {
      // Up, and not because the content shrank: it was the reader.
      this.following.value = false
    }
    this.#lastTop = view.scrollTop
    this.#lastHeight = view.scrollHeight
    this.#askOlder(view)
  }

  #askOlder(view: HTMLElement): void {
    if (view.scrollTop < TOP_PX) this.#nearTop()
  }
}
