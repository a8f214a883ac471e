/** follow-link.ts: opens a conversation by its URL. Source: SPEC WG8. */

import { appendToPage } from "../../ui/kept-focus/page-elements.ts"

/** Opens the conversation in the same way as a click on a link to it. In the widget, the site's URL doesn't change. */
export function followLink(hash: string): void {
  const link = document.createElement("a")
  link.href = hash
  appendToPage(link)
  link.click()
  link.remove()
}
