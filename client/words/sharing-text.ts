/** sharing-text.ts: the strings for sharing and for read-only conversations. Pure. */

import { translate } from "./languages/language.ts"

export const sharingText = translate("sharing", {
  shared: "Shared with me",
  by: (owner: string) => `by ${owner}`,
  more: "Show more",
  title: (title: string) => `Share “${title}”`,
  lead: "People you add can read this conversation and its files, including what is added later. They can't change it or see who else can read it.",
  user: "User ID",
  add: "Add",
  adding: "Adding…",
  people: "Can read",
  nobody: "Only you can read it.",
  remove: "Remove",
  removeUser: (user: string) => `Remove ${user}`,
  added: (user: string) => `${user} can read this conversation now.`,
  removed: (user: string) => `${user} can't read this conversation any more.`,
  loading: "Loading…",
  done: "Done",
})

export const readOnlyText = translate("readOnly", {
  shared: (owner: string) => `${owner} shared this conversation with you. You can read it and see new messages.`,
  unshared: (owner: string) => `${owner} doesn't share this conversation with you any more.`,
  viewer: "You can read your conversations, and what others share with you. Ask an admin if you need to write.",
  start: "Choose a conversation",
  startHint: "The sidebar lists your conversations and those that others share with you.",
  nothing: "Nothing to read yet",
  nothingHint: "When someone shares a conversation with you, it appears in the sidebar.",
  leaving: (when: string) =>
    `This organization will be deleted on ${when}. Until then you can read and export everything, but you can't change anything.`,
  owners: "An owner can still cancel the deletion.",
  keep: "Cancel the deletion in the admin settings",
  kept: "What you haven't sent yet stays in this browser. It will be sent if the deletion is cancelled.",
})
