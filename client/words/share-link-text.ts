/** share-link-text.ts: the strings for sharing a copy of a conversation by link. Pure. */

import { translate } from "./languages/language.ts"

export const shareLinkText = translate("shareLink", {
  heading: "Public link",
  lead: "Anyone with the link can read a copy of this conversation as it is now, with its files, thinking and tool calls. Later messages aren't added.",
  leadUpTo:
    "Anyone with the link can read a copy of this conversation up to the selected message, with its files, thinking and tool calls.",
  expires: "Expires",
  never: "Never",
  inDay: "In 1 day",
  inWeek: "In 7 days",
  inMonth: "In 30 days",
  name: "Show my name",
  create: "Copy link",
  creating: "Creating link…",
  copied: "Link copied",
  created: "The link was created.",
  address: "Link address",
  links: "Links",
  madeOn: (day: string) => `Created ${day}`,
  until: (day: string) => `expires ${day}`,
  withName: "with your name",
  delete: "Delete",
  deleteLink: (day: string) => `Delete the link created ${day}`,
  deleted: "The link was deleted. It no longer works.",
  shareUpTo: "Share up to here",
  all: "All shared links",
  none: "You haven't shared any links.",
})
