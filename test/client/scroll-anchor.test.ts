/** scroll-anchor.test.ts: following the end, stopping, and keeping the position, in a view whose sizes are fixed. */

import { beforeEach, describe, expect, test, vi } from "vitest"
import { ScrollAnchor } from "../../client/transcript/scroll-anchor.ts"

/** Creates a scrolling element 500 px tall, with content of the given height. */
function createView(height: number) {
  const view = document.createElement("div")
  const size = { height, top: 0 }
  Object.defineProperties(view, {
    clientHeight: { get: () => 500 },
    scrollHeight: { get: () => size.height },
    scrollTop: {
      get: () => size.top,
      set: (top: number) => {
        size.top = Math.max(0, Math.min(top, size.height - 500))
      },
    },
  })
  const scrollTo = (top: number): void => {
    view.scrollTop = top
    view.dispatchEvent(new Event("scroll"))
  }
  return { view, size, scrollTo }
}

function setUp(height = 3000) {
  const nearTop = vi.fn()
  const newer = { hasNewer: false, loadNewer: vi.fn(async () => {}), showNewest: vi.fn() }
  const scrollAnchor = new ScrollAnchor(nearTop, newer)
  const all = createView(height)
  scrollAnchor.attachTo(all.view, document.createElement("div"))
  scrollAnchor.updatePosition()
  const growContent = (by: number): void => {
    all.size.height += by
    scrollAnchor.updatePosition()
  }
  return { ...all, scrollAnchor, nearTop, newer, grow: growContent }
}

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  )
})

describe("scrolling", () => {
  test("[PG15] follows the end while the user is there", () => {
    const { view, grow } = setUp()
    expect(view.scrollTop).toBe(2500)
    grow(300)
    expect(view.scrollTop).toBe(2800)
  })

  test("[PG15] stops when the user scrolls up, and marks new content as unread", () => {
    const { view, scrollAnchor, grow, scrollTo } = setUp()
    scrollTo(2460)
    expect(scrollAnchor.isFollowing.value).toBe(false)
    scrollAnchor.noteNewContent("b")
    grow(300)
    expect(view.scrollTop).toBe(2460)
    expect(scrollAnchor.hasUnread.value).toBe(true)
    scrollTo(2800)
    expect(scrollAnchor.isFollowing.value).toBe(true)
    expect(scrollAnchor.hasUnread.value).toBe(false)
  })

  test("[PG15] an answer that grows is not a new message", () => {
    const { scrollAnchor, scrollTo } = setUp()
    scrollAnchor.noteNewContent("a")
    scrollTo(2460)
    scrollAnchor.noteNewContent("a")
    expect(scrollAnchor.hasUnread.value).toBe(false)
    scrollAnchor.noteNewContent("b")
    expect(scrollAnchor.hasUnread.value).toBe(true)
  })

  test("[PG15] content that shrinks doesn't count as scrolling up", () => {
    const { scrollAnchor, size, scrollTo } = setUp()
    size.height -= 40
    scrollTo(2460)
    expect(scrollAnchor.isFollowing.value).toBe(true)
    size.height -= 10
    scrollTo(2420)
    expect(scrollAnchor.isFollowing.value).toBe(true)
  })

  test("[PG15] scrollToEnd returns to the end, which is then followed again", () => {
    const { view, scrollAnchor, scrollTo } = setUp()
    scrollTo(1000)
    scrollAnchor.scrollToEnd()
    expect(view.scrollTop).toBe(2500)
    expect(scrollAnchor.isFollowing.value).toBe(true)
  })

  test("[PG16] requests older messages near the top, and keeps the position when they arrive", () => {
    const { view, scrollAnchor, size, nearTop, scrollTo } = setUp()
    expect(nearTop).not.toHaveBeenCalled()
    scrollTo(800)
    expect(nearTop).toHaveBeenCalledTimes(1)
    size.height += 1200
    scrollAnchor.shiftBy(-800, 400)
    expect(view.scrollTop).toBe(2000)
  })

  test("[PG23] finds the first message in view, but none if the view is at the end", () => {
    const { view, scrollAnchor, scrollTo } = setUp()
    for (const [id, bottom] of [
      ["a", -20],
      ["b", 30],
      ["c", 90],
    ] as const) {
      const article = view.appendChild(document.createElement("article"))
      article.dataset["id"] = id
      article.getBoundingClientRect = () => ({ bottom }) as DOMRect
    }
    expect(scrollAnchor.findReadingMessage()).toBe(null)
    scrollTo(1000)
    expect(scrollAnchor.findReadingMessage()).toBe("b")
  })

  test("[PG15] the view stays at the end while all messages fit into it", () => {
    const { scrollAnchor, grow } = setUp(400)
    scrollAnchor.leaveEnd()
    expect(scrollAnchor.isFollowing.value).toBe(true)
    grow(300)
    scrollAnchor.leaveEnd()
    expect(scrollAnchor.isFollowing.value).toBe(false)
  })

  test("[PG16] requests older messages at once if the first page doesn't fill the window", () => {
    expect(setUp(400).nearTop).toHaveBeenCalled()
  })

  test("[LT2] requests newer messages near the end, which isn't followed while they aren't shown", () => {
    const { scrollAnchor, newer, scrollTo } = setUp()
    newer.hasNewer = true
    scrollTo(1000)
    newer.loadNewer.mockClear()
    scrollTo(1500)
    expect(newer.loadNewer).not.toHaveBeenCalled()
    scrollTo(1700)
    expect(newer.loadNewer).toHaveBeenCalled()
    scrollTo(2500)
    expect(scrollAnchor.isFollowing.value).toBe(false)
    newer.hasNewer = false
    scrollTo(2500)
    expect(scrollAnchor.isFollowing.value).toBe(true)
  })

  test("[LT4] scrollToEnd shows the newest messages", () => {
    const { scrollAnchor, newer, scrollTo } = setUp()
    scrollTo(1000)
    scrollAnchor.scrollToEnd()
    expect(newer.showNewest).toHaveBeenCalledTimes(1)
    expect(scrollAnchor.isFollowing.value).toBe(true)
  })
})
