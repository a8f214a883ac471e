/**
 * answer-blocks.ts: writes the ordered content blocks of an assistant's message: thinking, text, calls and results.
 * Pure.
 */

import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { blockToText, getBlockType, isTextBlock } from "./block-text.ts"
import { hasCitations } from "./citation.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { readCallId, readResult } from "./result-content.ts"

const THINKING_TYPES: ReadonlySet<string> = new Set(["thinking", "reasoning", "reasoning_text"])
const CALL_TYPES: ReadonlySet<string> = new Set([
  "tool_call",
  "toolCall",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
  "function",
  "custom",
])

/** Returns whether a block is the result of a tool call, in any system's format. */
export function isResultBlock(block: Fields): boolean {
  const type = getBlockType(block)
  return type === "toolResult" || type.endsWith("tool_result") || type === "tool-result"
}

/**
 * Writes blocks in order. `resultsByCallId` contains results from elsewhere in the message. Each of these results is
 * written after its call; results without a call are written last.
 */
export function writeBlocks(
  writer: HistoryWriter,
  blocks: readonly Fields[],
  resultsByCallId: ReadonlyMap<string, Fields> = new Map(),
): void {
  const unplaced = new Map(resultsByCallId)
  let isJoined = false
  for (const [at, block] of blocks.entries()) {
    if (isTextBlock(block)) {
      isJoined = writeTextBlock(writer, block, blocks[at + 1], isJoined)
      continue
    }
    isJoined = false
    writeBlock(writer, block)
    const result = isCallBlock(block) ? unplaced.get(readCallId(block)) : undefined
    if (result === undefined) continue
    unplaced.delete(readCallId(block))
    writer.writeResult({ ...readResult(writer.kinds, result), callId: readCallId(block) })
  }
  for (const [callId, result] of unplaced) writer.writeResult({ ...readResult(writer.kinds, result), callId })
}

/**
 * Writes a text block. Text with citations arrives in several blocks, which become one part. Returns whether that part
 * is still open.
 */
function writeTextBlock(writer: HistoryWriter, block: Fields, next: Fields | undefined, isJoined: boolean): boolean {
  const isContinued = next !== undefined && isTextBlock(next) && (isJoined || hasCitations(block) || hasCitations(next))
  if (!isJoined) writer.endPart("text")
  writer.writeDelta("text", blockToText(writer.kinds, block))
  if (!isContinued) writer.endPart("text")
  return isContinued
}

function isCallBlock(block: Fields): boolean {
  return CALL_TYPES.has(getBlockType(block))
}

function writeBlock(writer: HistoryWriter, block: Fields): void {
  const type = getBlockType(block)
  if (THINKING_TYPES.has(type)) return writeThinkingBlock(writer, block)
  if (isCallBlock(block)) return writeCallBlock(writer, block)
  if (isResultBlock(block)) return writer.writeResult(readResult(writer.kinds, block))
  if (type === "redacted_thinking") return writer.kinds.addKnown("hidden_thinking")
  writer.writePart("text", blockToText(writer.kinds, block))
}

/** Writes a thinking block. Thinking that the provider removed has no text, or is marked as redacted. */
export function writeThinkingBlock(writer: HistoryWriter, block: Fields): void {
  const summary = toFieldsList(block["summary"]).concat(toFieldsList(block["content"]))
  const text =
    toText(block["thinking"]) ||
    toText(block["text"]) ||
    toText(block["reasoning"]) ||
    summary.map((entry) => toText(entry["text"])).join("\n\n")
  if (text === "" || block["redacted"] === true) writer.kinds.addKnown("hidden_thinking")
  if (text !== "" && block["redacted"] !== true) writer.writePart("thinking", text)
}

/** Writes a call. In chat completions, `function` or `custom` contains the name and the arguments. */
export function writeCallBlock(writer: HistoryWriter, block: Fields): void {
  const inner = { ...block, ...toFields(block["function"]), ...toFields(block["custom"]) }
  const args = inner["arguments"] ?? inner["input"] ?? inner["args"] ?? inner["argsJson"]
  writer.writeCall(readCallId(block), toText(inner["name"]) || toText(inner["toolName"]) || "tool", args)
}
