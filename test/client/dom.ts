/** dom.ts: renders components into a document and reads them back as short HTML. */

import type { ComponentChild } from "preact"
import { render } from "preact"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { h } from "preact"
import { vi } from "vitest"

/** Draws into a fresh element of the page. */
export function draw(
  node: ComponentChild,
  root = document.body.appendChild(document.createElement("div")),
): HTMLElement {
  render(node, root)
  return root
}

/** A text as Markdown; what comes back is the HTML inside `.prose`. */
export function markdown(text: string): string {
  const root = document.createElement("div")
  draw(h(Markdown, { text }), root)
  const html = root.querySelector(".prose")?.innerHTML ?? ""
  render(null, root)
  return html
}

/** A busy machine takes its time, in milliseconds. */
const LONG = { timeout: 3_000 }

/** Waits until that does not throw any more. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(check, LONG)
}

/** Waits until it is drawn. */
export function found<E extends Element = HTMLElement>(root: Element, selector: string): Promise<E> {
  return vi.waitFor(() => {
    const element = root.querySelector<E>(selector)
    if (element === null) throw new Error(`no ${selector}`)
    return element
  }, LONG)
}

/** Effects, frames and promises settle. */
export function soon(ms = 20): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
