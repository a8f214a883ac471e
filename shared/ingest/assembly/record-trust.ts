/**
 * record-trust.ts: accepts a record's claims about assets and grants only if its file is verified.
 *
 * Pure.
 */

import { MAX_ATTACHMENTS } from "../../limits.ts"
import type { Grants, Message } from "../../protocol/message.ts"
import type { StreamRecord } from "../../protocol/record.ts"

/** Sets the grants of the last part if that part is text. */
export function withGrants(message: Message, grants: Grants): Message {
  const last = message.parts.at(-1)
  return last?.type === "text" ? { ...message, parts: message.parts.with(-1, { ...last, grants }) } : message
}

/**
 * Returns the attachments of a user's message. Attachments from an unverified file are dropped; a message that would be
 * empty without them gets their labels as text.
 */
export function readAttachments(
  { text = "", attachments: files = [] }: Extract<StreamRecord, { type: "user_message" }>,
  isVerified: boolean,
): Pick<Message, "attachments"> & { readonly words?: string } {
  if (isVerified) return { attachments: files.slice(0, MAX_ATTACHMENTS) }
  const hasOnlyFiles = text.trim() === "" && files.length > 0
  return { attachments: [], ...(hasOnlyFiles ? { words: files.map(({ label }) => `[${label}]`).join("\n") } : {}) }
}
