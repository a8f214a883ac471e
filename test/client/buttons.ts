/** buttons.ts: finds buttons by name, and presses keys. */

/** Returns the names of all buttons, in order. */
export const buttonsIn = (root: ParentNode) =>
  [...root.querySelectorAll("button")].map((element) => element.getAttribute("aria-label") ?? element.textContent)
export const findButton = (root: ParentNode, name: string) =>
  [...root.querySelectorAll("button")].find(
    (element) => (element.getAttribute("aria-label") ?? element.textContent) === name,
  ) as HTMLButtonElement
/** Presses a key. Returns the event, which shows whether the key was handled. */
export const pressKey = (target: Element, key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })
  target.dispatchEvent(event)
  return event
}
