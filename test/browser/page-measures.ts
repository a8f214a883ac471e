/**
 * page-measures.ts: measures what is drawn, including open shadow roots: small targets, covered controls, and elements
 * that overflow sideways.
 */

import type { Page } from "playwright-core"

/** Minimum width and height of a target, in CSS pixels: SPEC AX5, and AX9 on touch screens. */
export const MIN_TARGET_PX = 24
export const MIN_TOUCH_PX = 44

/**
 * Returns the controls whose width or height is less than `least`, except for links and buttons within a line of text.
 */
export function findSmallTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate((min) => {
    const controls =
      'button, a[href], summary, select, textarea, input:not([type=file]), [role="option"], [role="slider"]'
    const isShown = (element: Element): boolean =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      element.closest("[inert]") === null
    /**
     * Returns the box that counts as the control's target. A check box is as large as its label, and a field that is
     * only for screen readers has no size.
     */
    const boxOf = (element: Element): DOMRect =>
      (element.matches("[type=checkbox], [type=radio]") && element instanceof HTMLInputElement
        ? (element.labels?.[0] ?? element)
        : element
      ).getBoundingClientRect()
    const isInText = (element: Element): boolean =>
      getComputedStyle(element).display === "inline" || element.closest(".footnote-ref, .footnotes") !== null
    const describe = (element: Element, { width, height }: DOMRect): string =>
      `${element.localName}.${element.className} "${(element.getAttribute("aria-label") ?? element.textContent ?? "").slice(0, 30)}" ${Math.round(width * 10) / 10} × ${Math.round(height * 10) / 10}`
    const findIn = (root: Document | ShadowRoot): string[] =>
      [...root.querySelectorAll("*")].flatMap((element) => {
        const inside = element.shadowRoot === null ? [] : findIn(element.shadowRoot)
        // The check boxes of a task list aren't interactive.
        if (!element.matches(controls) || element.matches(":disabled") || !isShown(element) || isInText(element))
          return inside
        const box = boxOf(element)
        const isForReadersOnly = box.width <= 1 || box.right <= 0 || box.bottom <= 0
        return isForReadersOnly || (box.width >= min - 0.1 && box.height >= min - 0.1)
          ? inside
          : [...inside, describe(element, box)]
      })
    return findIn(document)
  }, least)
}

/**
 * Returns the controls whose centre is still covered after they have been scrolled into view, as keyboard focus does.
 */
export function findCoveredControls(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const controls = 'button, a[href], summary, select, textarea, input, [tabindex="0"]'
    const isShown = (element: Element): boolean =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      element.closest("[inert]") === null
    const findCover = (element: Element, root: Document | ShadowRoot): string | null => {
      element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" })
      // A wrapped link has several boxes. This is the first one.
      const box = element.getClientRects()[0]
      if (box === undefined || box.width <= 1 || box.height <= 1) return null
      const [x, y] = [(box.left + box.right) / 2, (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2]
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return "the edge of the window"
      const top = root.elementFromPoint(x, y)
      const isOwn = top === null || element.contains(top) || top.closest("label")?.contains(element) === true
      return isOwn ? null : top.outerHTML.slice(0, 80)
    }
    const nextFrame = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    /**
     * Returns what still covers the control after a frame. The button that leads to the end disappears one frame after
     * the end has been reached.
     */
    const findLastingCover = async (element: Element, root: Document | ShadowRoot): Promise<string | null> => {
      for (let frame = 0; frame < 3; frame++) {
        if (findCover(element, root) === null) return null
        await nextFrame()
      }
      return findCover(element, root)
    }
    /**
     * Finds the open dialog or menu. Behind a modal dialog, nothing can be reached, and a menu closes before anything
     * outside it is reached.
     */
    const findModal = (root: Document | ShadowRoot): Element | null =>
      root.querySelector(".menu, .completions, .account-panel") ??
      root.querySelector("dialog:modal") ??
      root.querySelector(".sidebar[data-open]")
    const found: string[] = []
    const findIn = async (root: Document | ShadowRoot): Promise<void> => {
      for (const element of (findModal(root) ?? root).querySelectorAll("*")) {
        if (element.shadowRoot !== null) await findIn(element.shadowRoot)
        if (!element.matches(controls) || element.matches(":disabled, .visually-hidden, .skip") || !isShown(element))
          continue
        const by = await findLastingCover(element, root)
        if (by !== null && element.isConnected) found.push(`${element.outerHTML.slice(0, 140)} is covered by ${by}`)
      }
    }
    await findIn(document)
    return found
  })
}

/**
 * Returns the elements that extend beyond the window sideways, except those that are in a box that scrolls or clips
 * them.
 */
export function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isHeld = (element: Element): boolean => {
      for (let at = element.parentElement; at !== null; at = at.parentElement)
        if (getComputedStyle(at).overflowX !== "visible" && at !== document.body && at !== document.documentElement) {
          const box = at.getBoundingClientRect()
          if (box.left >= -1 && box.right <= innerWidth + 1) return true
        }
      return false
    }
    const isOut = (element: Element): boolean => {
      const box = element.getBoundingClientRect()
      return box.width > 1 && box.height > 1 && (box.right > innerWidth + 1 || box.left < -1)
    }
    const findIn = (root: Document | ShadowRoot): string[] =>
      [...root.querySelectorAll("*")].flatMap((element) => {
        const inside = element.shadowRoot === null ? [] : findIn(element.shadowRoot)
        const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        if (!isSeen || element.closest(".visually-hidden, .skip, svg *") !== null || !isOut(element) || isHeld(element))
          return inside
        return [...inside, element.outerHTML.slice(0, 120)]
      })
    const excess = document.documentElement.scrollWidth - innerWidth
    return [...(excess > 0 ? [`the page is ${excess} pixels too wide`] : []), ...findIn(document).slice(0, 5)]
  })
}
