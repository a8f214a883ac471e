/**
 * copy-selection.ts: changes the text that the browser copies when the user selects part of a transcript.
 *
 * By default, the copy would contain the URLs of images, audio and frames. These URLs are signed, so anyone could use
 * them until they expire. The changed copy names the media instead, as the copy button does. A formula is copied as its
 * TeX source. Loaded together with the media views. SPEC PG44, MD12.
 */

import { appendToPage, getPageSelection } from "../../ui/kept-focus/page-elements.ts"

/** Matches elements that render media. Their labels consist of the kind and the name. */
const MEDIA_SELECTOR = ".frame, .sound, video, .canvas"
const FORMULA_SELECTOR = ".math[data-tex]"

/** Matches collapsed content, controls, and anything else that would load a URL. */
const REMOVED_SELECTOR = "[src], button, [hidden], details:not([open]), .calls"

export function copySelection(event: ClipboardEvent): void {
  const selection = getPageSelection()
  if (event.clipboardData === null || selection === null || selection.rangeCount === 0) return
  const copied = document.createElement("div")
  copied.append(selection.getRangeAt(0).cloneContents())
  // For plain text, the browser's own copy is right, and only the browser can copy the content of a text field.
  if (copied.querySelector(`${MEDIA_SELECTOR}, ${FORMULA_SELECTOR}, [src]`) === null) return
  for (const media of copied.querySelectorAll(MEDIA_SELECTOR))
    media.replaceWith(`[${media.getAttribute("aria-label") ?? ""}]`)
  for (const formula of copied.querySelectorAll(FORMULA_SELECTOR))
    formula.replaceWith(formula.getAttribute("data-tex") ?? "")
  for (const element of copied.querySelectorAll(REMOVED_SELECTOR)) element.remove()
  for (const element of copied.querySelectorAll("*")) {
    for (const name of element.getAttributeNames()) if (name !== "href") element.removeAttribute(name)
  }
  event.clipboardData.setData("text/html", new XMLSerializer().serializeToString(copied))
  event.clipboardData.setData("text/plain", renderToText(copied))
  event.preventDefault()
}

/**
 * Returns the text with line breaks between blocks. Only rendered elements have such line breaks, so the copy is
 * rendered briefly.
 */
function renderToText(copied: HTMLElement): string {
  copied.className = "visually-hidden"
  appendToPage(copied)
  // biome-ignore lint/performance/useDomNodeTextContent: textContent has no line breaks between blocks.
  const text = copied.innerText
  copied.remove()
  return text.replace(/\n{3,}/g, "\n\n").trim()
}
