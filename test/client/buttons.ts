/** buttons.ts: finds buttons by their name, and presses keys. */

/** Returns the names of all buttons, in order. */
export const buttonsIn = (root: ParentNode) =>
  [...root.querySelectorAll("button")].map((one) => one.getAttribute("aria-label") ?? one.textContent)
export const findButton = (root: ParentNode, name: string) =>
  [...root.querySelectorAll("button")].find(
    (one) => (one.getAttribute("aria-label") ?? one.textContent) === name,
  ) as HTMLButtonElement
/** Presses a key, and returns the event, which says whether it was handled. */
export const pressKey = (target: Element, key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })
  target.dispatchEvent(event)
  return event
}
