/**
 * unsent-text.ts: the strings of messages that aren't sent yet. Part of the first view, so apart from transcript-text.ts.
 */

export const unsentText = {
  user: "You",
  retry: "Retry",
  discard: "Discard",
  generating: "Generating response",
} as const
