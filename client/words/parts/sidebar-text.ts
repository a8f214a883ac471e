/** sidebar-text.ts: the strings of the sidebar, which the widget doesn't have. Pure. */

import { translate } from "../languages/language.ts"

export const sidebarText = translate("sidebar", {
  search: "Search",
  settings: "Settings",
  empty: "Your conversations will appear here.",
  emptyForViewer: "Conversations shared with you will appear here.",
  unreachable: "Couldn't load your conversations.",
  close: "Close sidebar",
  running: ", generating response",
  pinned: "Pinned",
  unread: ", unread",
})
