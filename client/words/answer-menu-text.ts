/** answer-menu-text.ts: the strings of an answer's menu. Loaded with the menu. */

export const answerMenuText = {
  more: "More",
  copyTrace: "Copy trace ID",
  copied: "Copied",
  copyFailed: "Couldn't copy",
} as const
