/** message-parts.ts: the code that deferred-parts.ts loads. */

export { segmentsToSpokenText } from "../../markdown/markdown-to-text.ts"
export { AnswerActions, CopyTraceButton, QuestionActions } from "../message-actions.tsx"
export { QueuedNote, StatusNote } from "./message-notes.tsx"
export { createQuote, QuotedMessage } from "./quoted-message.tsx"
export { findLeavingSwitch } from "./version-focus.ts"
