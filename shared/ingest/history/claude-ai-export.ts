/**
 * claude-ai-export.ts: converts a conversation from Claude.ai's data export (`conversations.json`).
 *
 * `chat_messages` contains the messages in order, each with content blocks like those of the API. Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFieldsList, toText } from "../record-writer.ts"
import { canvasToText } from "./block-text.ts"
import { isResultBlock, writeBlocks } from "./answer-blocks.ts"
import type { Branch, HistoryWriter } from "./history-writer.ts"
import { readResult } from "./result-content.ts"
import { writeRoleMessage } from "./role-message.ts"

export function isClaudeAiConversation(value: unknown): value is Fields {
  return isJsonObject(value) && Array.isArray(value["chat_messages"])
}

/** Returns the messages of the current branch. An export without branches lacks the fields that describe branches. */
export function listChatMessages({ chat_messages, current_leaf_message_uuid }: Fields): Branch {
  const messages = toFieldsList(chat_messages)
  const leaf = toText(current_leaf_message_uuid)
  const byId = new Map(messages.map((message) => [toText(message["uuid"]), message]))
  if (leaf === "" || !byId.has(leaf)) return { messages, others: 0 }
  const branch: Fields[] = []
  for (let at = byId.get(leaf); at !== undefined; at = byId.get(toText(at["parent_message_uuid"]))) {
    branch.push(at)
    byId.delete(toText(at["uuid"]))
  }
  return { messages: branch.reverse(), others: messages.length - branch.length }
}

export function writeChatMessage(writer: HistoryWriter, message: Fields): void {
  const id = toText(message["uuid"])
  const role = toText(message["sender"])
  if (role !== "assistant") return writeRoleMessage(writer, { ...message, role }, { id })
  writer.beginStep(id, id)
  const blocks = toFieldsList(message["content"])
  if (blocks.length === 0) writer.writePart("text", toText(message["text"]))
  for (const [index, block] of blocks.entries()) writeBlock(writer, block, `${id}-${index}`)
}

/**
 * Writes a content block. In older exports, calls have no ids; a result then belongs to the first open call with the
 * same name.
 */
function writeBlock(writer: HistoryWriter, block: Fields, fallbackId: string): void {
  if (block["type"] === "tool_use") return writeCall(writer, block, toText(block["id"]) || fallbackId)
  if (isResultBlock(block)) {
    const callId = toText(block["tool_use_id"])
    return writer.writeResult({ ...readResult(writer.kinds, block, null), callId })
  }
  writeBlocks(writer, [block])
}

/** Writes a call. An artifact's content is shown as text and left out of the call. */
function writeCall(writer: HistoryWriter, block: Fields, callId: string): void {
  const { name, input } = block
  const text = isJsonObject(input) && name === "artifacts" ? toText(input["content"]) : ""
  if (!isJsonObject(input) || text === "") return writer.writeCall(callId, toText(name) || "tool", input)
  const { content: _, ...head } = input
  writer.writeCall(callId, "artifacts", head)
  writer.writePart("text", canvasToText(writer.kinds, input))
}
