/**
 * organizing-text.ts: the strings for organising conversations: pins, the archive, folders, bulk changes and temporary
 * conversations.
 */

import { formatCount } from "../format/number-format.ts"
import { formatPlural } from "../format/plural.ts"
import { translate } from "../languages/language.ts"

export const organizingText = translate("organizing", {
  pin: "Pin",
  unpin: "Unpin",
  archive: "Archive",
  unarchive: "Unarchive",
  move: "Move to folder…",
  select: "Select several",
  markRead: "Mark as read",
  markUnread: "Mark as unread",
  delete: "Delete",
  undo: "Undo",
  deleted: (title: string) => `Deleted “${title}”.`,
  deletedMany: (count: number) =>
    formatPlural<"en">(count, { one: "Deleted # conversation.", other: "Deleted # conversations." }),
  archived: (title: string) => `Archived “${title}”.`,
  archivedMany: (count: number) =>
    formatPlural<"en">(count, { one: "Archived # conversation.", other: "Archived # conversations." }),
  changeFailed: (reason: string) => `Couldn't save the change. ${reason}`,
  someFailed: (count: number, reason: string) =>
    `Couldn't change ${formatCount(count)} of the conversations. ${reason}`,
  moveTitle: "Move to a folder",
  noFolder: "No folder",
  newFolder: "New folder",
  folderName: "Folder name",
  create: "Create",
  folderOptions: (name: string) => `Options for folder ${name}`,
  deleteFolder: "Delete folder",
  folderDeleted: (name: string) => `Deleted the folder “${name}”. Its conversations are kept.`,
  emptyFolder: "No conversations.",
  archiveList: "Archived",
  emptyArchive: "No archived conversations.",
  archiveUnreachable: "Couldn't load the archive.",
  selected: (count: number) => `${formatCount(count)} selected`,
  selectSession: (title: string) => `Select ${title}`,
  hideSidebar: "Hide the sidebar",
  temporaryHint: "Doesn't appear in your list or in search. Erased 24 hours after you close it.",
})
