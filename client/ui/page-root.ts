/**
 * page-root.ts: the part of the document that the page occupies: the whole document, or the shadow root of the widget.
 *
 * For an element inside a shadow root, the document and the window report only the host element: as the active element,
 * and as the target of every event. Components therefore use the functions in kept-focus/page-elements.ts instead of
 * `document`. Source: SPEC WG8.
 */

/** The root of the widget, and the element that contains everything in it. */
export interface PageShadow {
  readonly root: ShadowRoot
  readonly element: HTMLElement
}

/** Set by the widget before it renders. */
export let shadow: PageShadow | null = null
let wasFocused = false

/**
 * Makes the shadow root of a widget the page's root. `element` contains everything that is rendered, and has the
 * attributes `lang`, `dir` and `data-theme`.
 */
export function setPageRoot(root: ShadowRoot, element: HTMLElement): void {
  shadow = { root, element }
  wasFocused = false
  element.addEventListener("focusin", () => (wasFocused = true), { once: true })
}

/**
 * Whether the page may move the focus to itself. A widget may do so only after the user has focused something in it.
 */
export function mayTakeFocus(): boolean {
  return shadow === null || wasFocused
}

/** Returns the name of the element around the conversation. A site with a widget has its own `<main>`. SPEC WG8. */
export function getMainTag(): "main" | "section" {
  return shadow === null ? "main" : "section"
}
