/**
 * page-text.ts: the strings of the page's initial load: labels, notices, placeholders and messages, grouped by area.
 *
 * Functions are messages with parameters. Code that is loaded later has its own string modules, so that its strings
 * aren't part of the initial load. The English messages of faults come from the server (shared/fault.ts). Pure.
 */

import type { FaultFields } from "../../shared/fault.ts"
import { translate } from "./languages/language.ts"

export const appText = translate("app", {
  name: "Cuecard",
  newConversation: "New conversation",
  conversation: "Conversation",
  conversations: "Conversations",
  untitled: "Untitled",
  back: "Back",
  skip: "Skip to message box",
  dismiss: "Dismiss",
  cancel: "Cancel",
  done: "Done",
  codeMissing: "Couldn't open that. Check your connection and try again.",
  loading: "Loading…",
  loadingOlder: "Loading older messages…",
  printedPartly: "Only loaded messages are printed. To print all of them, export the conversation.",
  jumpToLatest: "Jump to latest",
  newMessages: "New messages",
  /** The heading of a conversation's messages, for screen readers. */
  messages: "Messages",
  /** The title of a conversation that one agent has with another. */
  askedBy: (agent: string) => `Asked by ${agent}`,
  /** The title of such a conversation while the asking agent isn't known. */
  agentConversation: "Agent conversation",
  temporaryChat: "Temporary chat",
  loadsLater: "This conversation will load when you're back online.",
})

/** Returns the title of the browser tab. */
export function formatDocumentTitle(title: string): string {
  return `${title} · ${appText.name}`
}

export const welcomeText = translate("welcome", {
  heading: "What can I help with?",
  hint: "Ask about the weather, draw a chart, or attach a file.",
  examples: [
    "What's the weather in London and in Tokyo?",
    "Do I need an umbrella in Bergen tomorrow?",
    "Draw a chart of tea 4, coffee 7, water 9",
    "What can you do?",
  ],
})

export const connectionText = translate("connection", {
  offline: "You're offline. We'll send your messages when you're back online.",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  outdated: "A new version is available.",
  codeMissing: "Part of the page couldn't be loaded.",
  reload: "Reload",
  deleted: "This conversation was deleted.",
  notFound: "We couldn't find that conversation.",
  startNew: "Start a new conversation",
})

export const errorText = translate("error", {
  unreachable: "We couldn't reach the server. Check your connection and try again.",
  signIn: "Please sign in.",
  badResponse: "The server sent a response that we couldn't read. Reload the page.",
  status: (status: number) => `Something went wrong (error ${status}).`,
})

/** The server's messages are in English. Every other language has its own message for each code. */
const faultText = translate("fault", { word: (_code: string, text: string, _fields: FaultFields) => text })

/**
 * Returns the message of a server error in the page's language. `code` is null if the message isn't from the server.
 */
export function wordFault(code: string | null, text: string, fields: FaultFields = {}): string {
  return code === null ? text : faultText.word(code, text, fields)
}

export const announcementText = translate("announcement", {
  stopped: "Response stopped.",
  unfinished: "The response didn't finish.",
})

export const composerText = translate("composer", {
  message: "Message",
  placeholder: "Ask anything",
  send: "Send",
  stop: "Stop",
  stopTitle: "Stop (Esc)",
  stopping: "Stopping…",
  size: (size: string, max: string) => `${size} of ${max}`,
})

export const attachmentText = translate("attachment", {
  attach: "Attach files",
  attachTitle: (max: number) => `Attach up to ${max} files (images, audio, video, PDF, text)`,
})

/**
 * The strings of the conversation list that the widget can also show. The list's other strings are in
 * parts/sidebar-text.ts.
 */
export const conversationText = translate("sidebar", {
  optionsFor: (title: string) => `Options for ${title}`,
  renameFailed: (title: string, reason: string) => `Couldn't rename “${title}”. ${reason}`,
})

export const timeText = translate("time", {
  now: "now",
  yesterday: "Yesterday",
  groups: { today: "Today", week: "Last 7 days", month: "Last 30 days", older: "Older" },
})

/** Units are powers of 1,024. */
export const sizeText = translate("size", {
  kilobytes: "KB",
  megabytes: "MB",
  gigabytes: "GB",
})
