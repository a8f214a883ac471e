/**
 * keep-focus.ts: moves the keyboard focus when the element that has it disappears, to what is nearest to its place.
 *
 * Without this the browser gives the focus to the document, and the next Tab may begin at its top. Source: SPEC AX14.
 */

import { focusRequests } from "../focus.ts"
import { getActiveElement, getEventRoot, getEventTarget, getRootElement } from "../page-root.ts"

/** An element that had the focus, and where it was: each element around it, from the innermost, and the index within. */
interface Place {
  readonly element: Element
  readonly around: readonly { readonly parent: Element; readonly index: number }[]
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]"

/** The focus doesn't move within these, because what is left in them is far away. */
const TOO_LARGE = ".page, .behind-drawer, .sidebar, .view, .transcript"

/** Begins to watch the page. Returns a function that ends this. */
export function keepFocus(): () => void {
  let place: Place | null = null
  let isPointerUsed = false
  const restore = (): void => {
    const lost = place
    if (lost === null || isPointerUsed || lost.element.isConnected || getActiveElement() !== null) return
    place = null
    const target = findNearest(lost)
    if (target === null) focusRequests.value++
    else target.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(() => {
    // Deferred, so that code that removes an element can move the focus itself.
    if (place !== null && !place.element.isConnected) setTimeout(restore)
  })
  observer.observe(getRootElement(), { childList: true, subtree: true })
  const listeners = {
    keydown: () => (isPointerUsed = false),
    // Then the focus isn't the keyboard's, and on a touch screen, moving it could open the keyboard.
    pointerdown: () => (isPointerUsed = true),
    focusin: (event: Event) => (place = describePlace(getEventTarget(event))),
  }
  const events = getEventRoot()
  const listened = Object.entries(listeners)
  for (const [type, listener] of listened) events.addEventListener(type, listener, true)
  return () => {
    observer.disconnect()
    for (const [type, listener] of listened) events.removeEventListener(type, listener, true)
  }
}

function describePlace(target: EventTarget | null): Place | null {
  if (!(target instanceof Element)) return null
  const around = []
  for (let element: Element = target; element.parentElement !== null; element = element.parentElement)
    around.push({ parent: element.parentElement, index: [...element.parentElement.children].indexOf(element) })
  return { element: target, around }
}

/** Returns the first control at or behind the place, otherwise the last one before it; null if none is near. */
function findNearest({ around }: Place): HTMLElement | null {
  for (const { parent, index } of around) {
    if (!parent.isConnected) continue
    if (parent.matches(TOO_LARGE)) return null
    const controls = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(canFocus)
    const next = parent.children[index]
    const behind = next === undefined ? undefined : controls.find((one) => isAtOrBehind(one, next))
    const found = behind ?? controls.at(-1)
    if (found !== undefined) return found
  }
  return null
}

function isAtOrBehind(one: Element, next: Element): boolean {
  return next.contains(one) || (next.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}

function canFocus(element: HTMLElement): boolean {
  return !element.matches(":disabled, [inert] *") && element.checkVisibility({ visibilityProperty: true })
}
