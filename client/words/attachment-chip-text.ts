/**
 * attachment-chip-text.ts: the strings for attachment and reply chips, and for dropping files. Loaded after the initial
 * render. Pure.
 */

import { translate } from "./languages/language.ts"

export const attachmentChipText = translate("attachmentChip", {
  list: "Attachments",
  uploading: (name: string) => `Uploading ${name}`,
  progress: (sent: string, size: string) => `${sent} of ${size}`,
  retry: (name: string) => `Try again: ${name}`,
  cancel: (name: string) => `Cancel: ${name}`,
  remove: (name: string) => `Remove: ${name}`,
  removeToSend: (name: string) => `To send your message, remove “${name}”.`,
  retryToSend: (name: string) => `To send your message, try “${name}” again or remove it.`,
  removeAllToSend: (count: number) => `To send your message, remove the ${count} files that weren't uploaded.`,
  replyTo: (author: string) => `Reply to ${author}`,
  cancelReply: "Cancel reply",
  dropFiles: "Drop files to attach",
})

/** The reasons why files aren't uploaded. */
export const refusedFileText = translate("attachment", {
  empty: "File is empty.",
  tooLarge: (max: string) => `File is larger than ${max}.`,
  tooMany: (max: number, skipped: number) => `You can attach up to ${max} files. Not added: ${skipped}.`,
})
