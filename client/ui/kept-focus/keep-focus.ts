/**
 * keep-focus.ts: when the element that has keyboard focus disappears, moves the focus to the control nearest to its
 * position or, if none is near, to the composer.
 *
 * Without this, the browser moves the focus to the document, and the next Tab may begin at its top. Source: SPEC AX14.
 */

import { focusRequests } from "../focus.ts"
import { getEventRoot, getEventTarget, getRootElement, isNothingFocused } from "./page-elements.ts"

/**
 * An element that had focus, and its position: its ancestors, starting with the innermost, each with the index of the
 * child that is or contains the element.
 */
interface Place {
  readonly element: Element
  readonly around: readonly { readonly parent: Element; readonly index: number }[]
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]"

/**
 * If the position is directly inside one of these elements, the remaining controls are far away, so the focus doesn't
 * move to any of them.
 */
const TOO_LARGE = ".page, .behind-drawer, .sidebar, .view, .transcript"

/** Begins to watch the page. Returns a function that stops watching. */
export function keepFocus(): () => void {
  let place: Place | null = null
  let isPointerUsed = false
  const restore = (): void => {
    const lost = place
    if (lost === null || lost.element.isConnected) return
    place = null
    if (!isNothingFocused()) return
    const target = findNearest(lost)
    if (target === null) focusRequests.value++
    else target.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(() => {
    if (place === null || place.element.isConnected) return
    // Cleared at once, because the next key would otherwise move the focus to a position that the user has left.
    if (isPointerUsed) place = null
    // Deferred, so that code that removes an element can move the focus itself.
    else setTimeout(restore)
  })
  observer.observe(getRootElement(), { childList: true, subtree: true })
  const listeners = {
    keydown: () => (isPointerUsed = false),
    // The user isn't using the keyboard. On a touch screen, moving the focus could open the on-screen keyboard.
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

/** Returns the first control at or after the position, otherwise the last one before it; null if none is near. */
function findNearest({ around }: Place): HTMLElement | null {
  for (const { parent, index } of around) {
    if (!parent.isConnected) continue
    if (parent.matches(TOO_LARGE)) return null
    const controls = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(canFocus)
    const next = parent.children[index]
    const behind = next === undefined ? undefined : controls.find((control) => isAtOrBehind(control, next))
    const found = behind ?? controls.at(-1)
    if (found !== undefined) return found
  }
  return null
}

function isAtOrBehind(control: Element, next: Element): boolean {
  return next.contains(control) || (next.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}

function canFocus(element: HTMLElement): boolean {
  return !element.matches(":disabled, [inert] *") && element.checkVisibility({ visibilityProperty: true })
}
