/** shared-view-text.ts: the strings of the page that shows a shared copy. Pure. */

import { translate } from "./languages/language.ts"

export const sharedViewText = translate("sharedView", {
  untitled: "Shared conversation",
  by: (author: string, day: string) => `Shared by ${author} on ${day}`,
  on: (day: string) => `Shared on ${day}`,
  note: "This is a copy. It doesn't change when the conversation continues.",
  more: "Show more messages",
  loading: "Loading…",
  gone: "This conversation isn't available",
  goneHint: "The link may have expired or been deleted, or part of the address may be missing.",
  failed: "The conversation couldn't be loaded.",
  retry: "Try again",
})
