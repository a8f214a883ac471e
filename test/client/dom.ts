/** dom.ts: renders components into the document, and waits for changes. */

import { type ComponentChild, h, render } from "preact"
import { vi } from "vitest"
import { Markdown } from "../../client/markdown/markdown.tsx"

/** Renders a component into a new element of the page. */
export function draw(
  node: ComponentChild,
  root: HTMLElement = document.body.appendChild(document.createElement("div")),
): HTMLElement {
  render(node, root)
  return root
}

/** Renders Markdown and returns the HTML inside `.prose`, without `dir` attributes. */
export function markdown(text: string): string {
  const root = document.createElement("div")
  draw(h(Markdown, { text }), root)
  const html = root.querySelector(".prose")?.innerHTML ?? ""
  render(null, root)
  return html.replace(/ dir="\w+"/g, "")
}

/** A timeout long enough for a busy machine, in milliseconds. */
const WAIT_OPTIONS = { timeout: 20_000 }

/** Waits until `check` no longer throws. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(check, WAIT_OPTIONS)
}

/** Waits until an element exists. */
export function waitForElement<E extends Element = HTMLElement>(root: Element, selector: string): Promise<E> {
  return vi.waitFor(() => {
    const element = root.querySelector<E>(selector)
    if (element === null) throw new Error(`no ${selector}`)
    return element
  }, WAIT_OPTIONS)
}

/** Waits for effects, animation frames and promises. */
export function delay(ms = 20): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
