/**
 * page-root.ts: the part of the document that the page occupies: the whole document, or the shadow root of the widget.
 *
 * Inside a shadow root, the document and the window see only the element around it: as the active element, and as the target
 * of every event. Components therefore use these functions instead of `document`. Source: SPEC WG8.
 */

/** Set by the widget before it renders. */
let shadow: { readonly root: ShadowRoot; readonly element: HTMLElement } | null = null
let wasFocused = false

/** `element` contains everything that is rendered, and has the attributes `lang`, `dir` and `data-theme`. */
export function setPageRoot(root: ShadowRoot, element: HTMLElement): void {
  shadow = { root, element }
  wasFocused = false
  element.addEventListener("focusin", () => (wasFocused = true), { once: true })
}

/** Whether the page may take the focus without being asked. A widget may not, until the user has focused something in it. */
export function mayTakeFocus(): boolean {
  return shadow === null || wasFocused
}

/** The name of the element around the conversation. A site with a widget has a `<main>` of its own. SPEC WG8. */
export function getMainTag(): "main" | "section" {
  return shadow === null ? "main" : "section"
}

/** The element with the attributes `lang`, `dir` and `data-theme`. */
export function getRootElement(): HTMLElement {
  return shadow?.element ?? document.documentElement
}

/** The element that has the focus; null if it is outside the page, or nothing has it. */
export function getActiveElement(): Element | null {
  const { activeElement } = shadow?.root ?? document
  return activeElement === document.body ? null : activeElement
}

/** Whether nothing has the focus, neither in the page nor, for a widget, in the site around it. */
export function isNothingFocused(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

/** Adds an element for a moment, at the end of the page. */
export function appendToPage(element: HTMLElement): void {
  ;(shadow?.element ?? document.body).append(element)
}

/** The innermost element that an event happened at. */
export function getEventTarget(event: Event): EventTarget | null {
  return shadow === null ? event.target : (event.composedPath()[0] ?? null)
}

type EventRoot = Pick<HTMLElement, "addEventListener" | "removeEventListener">

/** Where to listen to what happens anywhere on the page, and not in the document around it. */
export function getEventRoot(): EventRoot {
  return (shadow?.element ?? window) as EventRoot
}

/** The selection of text in the page. */
export function getPageSelection(): Selection | null {
  // In Chromium the document's selection ends at the shadow root. Other browsers have no such method.
  const { getSelection: select } = Object(shadow?.root) as { readonly getSelection?: () => Selection | null }
  return select === undefined ? getSelection() : select.call(shadow?.root)
}
