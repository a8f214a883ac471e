/** search-text.ts: the strings of the command palette, the search and the list of shortcuts. Loaded with them. */

import { formatPlural } from "../format/plural.ts"
import { translate } from "../languages/language.ts"

export const searchText = translate("search", {
  palette: "Search conversations and commands",
  placeholder: "Search conversations, messages and commands",
  results: "Results",
  sections: {
    recent: "Recent conversations",
    sessions: "Conversations",
    commands: "Commands",
    messages: "Messages",
  },
  searching: "Searching…",
  nothing: "Nothing found.",
  count: (count: number) => formatPlural<"en">(count, { one: "# result", other: "# results" }),
  indexing: "Older conversations are still being indexed.",
  failed: (reason: string) => `The search failed: ${reason}`,
  more: "More results",
  retry: "Try again",
  find: "Search in this conversation",
  older: "Older match",
  newer: "Newer match",
  /** `count` ends with "+" if there may be more. */
  position: (index: number, count: string) => `${index} of ${count}`,
  shortcuts: "Keyboard shortcuts",
  or: "or",
  singleKeys: "Use single-key shortcuts",
  commands: {
    newConversation: "New conversation",
    openPalette: "Search and commands",
    findInConversation: "Search in this conversation",
    focusList: "Go to the list of conversations",
    toggleSidebar: "Hide or show the sidebar",
    previousConversation: "Previous conversation",
    nextConversation: "Next conversation",
    previousMessage: "Previous message",
    nextMessage: "Next message",
    focusComposer: "Go to the message box",
    attachFile: "Attach a file",
    exportMarkdown: "Export as Markdown",
    exportJsonl: "Export as records (JSONL)",
    openSettings: "Settings",
    changeTheme: "Change theme",
    showShortcuts: "Keyboard shortcuts",
  },
  otherKeys: {
    send: "Send the message",
    newLine: "New line",
    stop: "Stop the response, or close what is open",
  },
})
