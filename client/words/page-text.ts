/**
 * page-text.ts: the strings of the page: labels, notices, placeholders and messages, grouped by area.
 *
 * Functions are messages with parameters. The texts of faults come from the server (shared/fault.ts). Pure.
 */

/** A count with its noun: 1 → "1 message", 2_000 → "2,000 messages". */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`
}

export const appText = {
  name: "Cuecard",
  newConversation: "New conversation",
  conversation: "Conversation",
  conversations: "Conversations",
  untitled: "Untitled",
  back: "Back",
  dismiss: "Dismiss",
  cancel: "Cancel",
  done: "Done",
  loading: "Loading…",
  loadingOlder: "Loading older messages…",
  jumpToLatest: "Jump to latest",
  newMessages: "New messages",
  /** The title of a conversation that one agent has with another. */
  askedBy: (agent: string) => `Asked by ${agent}`,
} as const

export const welcomeText = {
  heading: "What can I help with?",
  hint: "Ask about the weather, draw a chart, or attach a file.",
  examples: [
    "What's the weather in London and in Tokyo?",
    "Do I need an umbrella in Bergen tomorrow?",
    "Draw a chart of tea 4, coffee 7, water 9",
    "What can you do?",
  ],
} as const

export const connectionText = {
  offline: "You're offline. We'll send your messages when you're back online.",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  outdated: "A new version is available.",
  reload: "Reload",
  deleted: "This conversation was deleted.",
  notFound: "We couldn't find that conversation.",
  startNew: "Start a new conversation",
} as const

export const errorText = {
  unreachable: "We couldn't reach the server. Check your connection and try again.",
  signIn: "Please sign in.",
  noMarkdown: "Markdown export isn't available.",
  badResponse: "The server sent a response that we couldn't read. Reload the page.",
  status: (status: number) => `Something went wrong (error ${status}).`,
  loadFailed: "Couldn't load.",
  mediaGone: "No longer available.",
} as const

export const announcementText = {
  waiting: "Approval needed.",
  stopped: "Response stopped.",
  unfinished: "The response didn't finish.",
} as const

export const composerText = {
  message: "Message",
  placeholder: "Ask anything",
  send: "Send",
  stop: "Stop",
  stopTitle: "Stop (Esc)",
  stopping: "Stopping…",
  size: (size: string, max: string) => `${size} of ${max}`,
  replyTo: (author: string) => `Reply to ${author}`,
  cancelReply: "Cancel reply",
  dropFiles: "Drop files to attach",
} as const

export const attachmentText = {
  list: "Attachments",
  attach: "Attach files",
  attachTitle: (max: number) => `Attach up to ${max} files (images, audio, video, PDF, text)`,
  uploading: (name: string) => `Uploading ${name}`,
  progress: (sent: string, size: string) => `${sent} of ${size}`,
  retry: (name: string) => `Try again: ${name}`,
  cancel: (name: string) => `Cancel: ${name}`,
  remove: (name: string) => `Remove: ${name}`,
  empty: "File is empty.",
  tooLarge: (max: string) => `File is larger than ${max}.`,
  tooMany: (max: number, skipped: number) =>
    `You can attach up to ${max} files. ${skipped} ${skipped === 1 ? "wasn't" : "weren't"} added.`,
} as const

export const importText = {
  title: "Import a conversation",
  doneTitle: "Imported",
  hint: "Upload a Cuecard export (.jsonl or .gz). It opens as a new conversation.",
  chooseFile: "Choose a file",
  orDrop: " or drop it here",
  fileInput: "File to import",
  drop: "Drop to import",
  uploading: "Uploading",
  reading: "Reading",
  bytesOf: (sent: string, size: string) => `${sent} of ${size}`,
  recordsOf: (done: number, total: number) => `${done.toLocaleString("en")} of ${formatCount(total, "record")}`,
  skippedFile: (name: string) => `“${name}” was skipped. Import one file at a time.`,
  summary: (records: number, skipped: number) =>
    `Imported ${formatCount(records, "record")}. ${formatCount(skipped, "line")} ${skipped === 1 ? "was" : "were"} skipped:`,
  line: (line: number) => `Line ${line}`,
  moreLines: (count: number) => `… and ${count.toLocaleString("en")} more.`,
  imported: (title: string) => `Imported “${title}”.`,
  codeMissing: "Couldn't open the import. Try again in a moment.",
  interrupted: "The import was interrupted. Try again.",
  unreadable: "We couldn't read this file. Nothing was imported.",
  emptyFile: "This file is empty.",
  gzipTooLarge: "Compressed files can be up to 64 MB. Unzip it first.",
  arrayTooLarge: "JSON lists can be up to 64 MB. Put one message per line.",
  lineTooLong: "A line of this file is too long to import.",
  tooLarge: "Files can be up to 4 GB. Split the file and import each part.",
} as const

export const sidebarText = {
  empty: "Your conversations will appear here.",
  close: "Close sidebar",
  theme: "Theme",
  themes: { system: "System", dark: "Dark", light: "Light" },
  running: ", generating response",
  options: "Options",
  optionsFor: (title: string) => `Options for ${title}`,
  rename: "Rename",
  renameInput: "Conversation title",
  exportMarkdown: "Export as Markdown",
  exportJsonl: "Export as data file (.jsonl)",
  exportName: "conversation",
  delete: "Delete…",
  deleteTitle: "Delete this conversation?",
  deleteWarning: (title: string) => `“${title}” will be permanently deleted. You can't undo this.`,
  confirmDelete: "Delete",
  renameFailed: (title: string, reason: string) => `Couldn't rename “${title}”. ${reason}`,
  deleteFailed: (title: string, reason: string) => `Couldn't delete “${title}”. ${reason}`,
  exporting: (title: string) => `Exporting “${title}”…`,
  exported: (title: string) => `Exported “${title}”.`,
  exportFailed: (title: string, reason: string) => `Couldn't export “${title}”. ${reason}`,
} as const

export const timeText = {
  now: "now",
  minutes: (count: number) => `${count} min`,
  hours: (count: number) => `${count} h`,
  yesterday: "Yesterday",
  groups: { today: "Today", week: "Last 7 days", month: "Last 30 days", older: "Older" },
} as const

/** What kinds of media are called where they are named instead of shown. */
export const mediaKindText = {
  image: "Image",
  audio: "Audio",
  video: "Video",
  file: "File",
  voice: "Voice note",
  canvas: "Document",
} as const
