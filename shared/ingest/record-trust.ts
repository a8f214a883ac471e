/**
 * record-trust.ts: what a record says of files, and of what directives may name: it counts only where its file is vouched for.
 *
 * record → VOUCHED → assemble
 * Pure.
 */

import { MAX_ATTACHMENTS } from "../limits.ts"
import type { Grants, Message } from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"

/** To the text that was written last. */
export function withGrants(message: Message, grants: Grants): Message {
  const last = message.parts.at(-1)
  return last?.type === "text" ? { ...message, parts: message.parts.with(-1, { ...last, grants }) } : message
}

/** What was sent with a person's words. A message is not left without anything: of files that nobody vouches for the names stay. */
export function readAttachments(
  { text, attachments: files = [] }: Extract<StreamRecord, { type: "user_message" }>,
  isVerified: boolean,
): Pick<Message, "attachments"> & { readonly words?: string } {
  if (isVerified) return { attachments: files.slice(0, MAX_ATTACHMENTS) }
  const hasOnlyFiles = text.trim() === "" && files.length > 0
  return { attachments: [], ...(hasOnlyFiles ? { words: files.map(({ label }) => `[${label}]`).join("\n") } : {}) }
}
