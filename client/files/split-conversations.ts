/**
 * split-conversations.ts: splits a data export into one file for each conversation.
 *
 * ChatGPT and Claude.ai export all of a user's conversations as one JSON array. A session contains only one
 * conversation. SPEC IH10.
 */

import { isJsonObject, parseJson } from "../../shared/json.ts"
import { MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"

/** Maximum size of an export that is split, in bytes. The export is parsed as a whole. */
const MAX_EXPORT_BYTES = 256 * 1024 * 1024
/** How much of a file is read to recognise an export, in bytes. */
const HEAD_BYTES = 64 * 1024
/** Maximum number of conversations imported from one export. */
export const MAX_CONVERSATIONS = 1_000

const MARKS = /"(?:mapping|chat_messages)"\s*:/

export interface SplitExport {
  /** The first MAX_CONVERSATIONS conversations, in the order of the file. */
  readonly conversations: readonly Blob[]
  /** Number of further conversations in the file. */
  readonly leftOut: number
}

/**
 * Splits an export. Returns null unless the file contains several conversations, or one that is too long for a line.
 * Cost: keeps the whole parsed file in memory.
 */
export async function splitConversations(file: Blob): Promise<SplitExport | null> {
  if (file.size > MAX_EXPORT_BYTES) return null
  const head = await file.slice(0, HEAD_BYTES).text()
  if (!/^\s*[[{]/.test(head) || !MARKS.test(head)) return null
  const value = parseJson(await file.text())
  const list = isJsonObject(value) ? value["conversations"] : value
  if (!Array.isArray(list)) return null
  const conversations = list.filter(isConversation)
  // The server reads a one-line document only up to the maximum length of a line.
  const isOneLine = file.size > MAX_IMPORT_LINE_BYTES
  if (conversations.length === 0 || (conversations.length === 1 && !isOneLine)) return null
  // The JSON is indented, so that each conversation spans several lines: the server limits the length of a line.
  const files = conversations.slice(0, MAX_CONVERSATIONS).map((one) => new Blob([JSON.stringify(one, null, 1)]))
  return { conversations: files, leftOut: conversations.length - files.length }
}

function isConversation(value: unknown): boolean {
  return isJsonObject(value) && (isJsonObject(value["mapping"]) || Array.isArray(value["chat_messages"]))
}
