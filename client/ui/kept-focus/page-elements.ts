/**
 * page-elements.ts: elements, events and the selection of the part of the document that the page occupies
 * (page-root.ts).
 */

import { shadow } from "../page-root.ts"

/** Returns the element with the attributes `lang`, `dir` and `data-theme`. */
export function getRootElement(): HTMLElement {
  return shadow?.element ?? document.documentElement
}

/** Returns the element that has focus; null if that element is outside the page, or if no element has focus. */
export function getActiveElement(): Element | null {
  const { activeElement } = shadow?.root ?? document
  return activeElement === document.body ? null : activeElement
}

/** Whether no element has focus in the page or, for a widget, in the site around it. */
export function isNothingFocused(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

/** Adds a temporary element at the end of the page. */
export function appendToPage(element: HTMLElement): void {
  ;(shadow?.element ?? document.body).append(element)
}

/** Returns the innermost element at which an event occurred. */
export function getEventTarget(event: Event): EventTarget | null {
  return shadow === null ? event.target : (event.composedPath()[0] ?? null)
}

type EventRoot = Pick<HTMLElement, "addEventListener" | "removeEventListener">

/**
 * Returns the target at which all events of the page arrive. For a widget, it excludes the events of the site around
 * it.
 */
export function getEventRoot(): EventRoot {
  return (shadow?.element ?? window) as EventRoot
}

/** Returns the page's text selection. */
export function getPageSelection(): Selection | null {
  // In Chromium, the document's selection ends at the shadow root. Other browsers have no such method.
  const { getSelection: select } = Object(shadow?.root) as { readonly getSelection?: () => Selection | null }
  return select === undefined ? getSelection() : select.call(shadow?.root)
}
