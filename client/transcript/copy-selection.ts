/**
 * copy-selection.ts: what a reader selects and copies by hand.
 *
 * The browser would copy the addresses of pictures, sound and frames as they are in the page: signed for an hour, for
 * whoever has them. So what is copied names them instead, as the button does. Source: SPEC PG44.
 */

/** What draws media: each has its kind and name as its label. */
const MEDIA_SELECTOR = ".frame, .sound, video, .canvas"

/** What is folded away, what can be pressed, and what is left that would be fetched. */
const REMOVED_SELECTOR = "[src], button, [hidden], details:not([open]), .calls"

export function copySelection(event: ClipboardEvent): void {
  const selection = getSelection()
  if (event.clipboardData === null || selection === null || selection.rangeCount === 0) return
  const copied = document.createElement("div")
  copied.append(selection.getRangeAt(0).cloneContents())
  // Words alone the browser copies as well, and a field copies its own.
  if (copied.querySelector(`${MEDIA_SELECTOR}, [src]`) === null) return
  for (const media of copied.querySelectorAll(MEDIA_SELECTOR))
    media.replaceWith(`[${media.getAttribute("aria-label") ?? ""}]`)
  for (const rest of copied.querySelectorAll(REMOVED_SELECTOR)) rest.remove()
  for (const element of copied.querySelectorAll("*")) {
    for (const name of element.getAttributeNames()) if (name !== "href") element.removeAttribute(name)
  }
  event.clipboardData.setData("text/html", new XMLSerializer().serializeToString(copied))
  event.clipboardData.setData("text/plain", renderToText(copied))
  event.preventDefault()
}

/** Its lines, as the browser breaks them between blocks: only what is drawn has any. */
function renderToText(copied: HTMLElement): string {
  copied.className = "unseen"
  document.body.append(copied)
  // biome-ignore lint/performance/useDomNodeTextContent: its lines are what is wanted.
  const words = copied.innerText
  copied.remove()
  return words.replace(/\n{3,}/g, "\n\n").trim()
}
