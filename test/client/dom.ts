/** dom.ts: components drawn into a document, and read back as short HTML. */

import type { ComponentChild } from "preact"
import { render } from "preact"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { h } from "preact"

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

/** Effects, frames and promises settle. */
export function soon(ms = 20): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
