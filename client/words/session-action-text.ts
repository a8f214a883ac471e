/** session-action-text.ts: the strings of a session's menu and its actions. Pure. */

import { translate } from "./languages/language.ts"

export const sessionActionText = translate("sessionAction", {
  importFile: "Import a conversation",
  dropFile: "Drop to import",
  options: "Options",
  rename: "Rename",
  share: "Share…",
  renameInput: "Conversation title",
  exportMarkdown: "Export as Markdown",
  exportJsonl: "Export as data file (.jsonl)",
  exportName: "conversation",
  noMarkdown: "Markdown export isn't available.",
  delete: "Delete…",
  deleteTitle: "Delete this conversation?",
  deleteFailed: (title: string, reason: string) => `Couldn't delete “${title}”. ${reason}`,
  deleteWarning: (title: string) => `“${title}” will be permanently deleted. You can't undo this.`,
  confirmDelete: "Delete",
  more: "Show more",
  loadingMore: "Loading…",
  moreFailed: "Couldn't load. Try again",
  exporting: (title: string) => `Exporting “${title}”…`,
  exported: (title: string) => `Exported “${title}”.`,
  exportFailed: (title: string, reason: string) => `Couldn't export “${title}”. ${reason}`,
})
