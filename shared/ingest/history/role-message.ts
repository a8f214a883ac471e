/**
 * role-message.ts: converts a message with a role, from Anthropic's and OpenAI's APIs, Pi and similar stores, to
 * records.
 *
 * Tool results in a user's message belong to the open answer; the rest of the message is the question (SPEC IH1, IH2).
 * Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { isResultBlock, writeBlocks, writeCallBlock } from "./answer-blocks.ts"
import { contentToParagraphs, getBlockType, isTextBlock, toBlock } from "./block-text.ts"
import { formatCitations } from "./citation.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { formatLabel } from "./media-label.ts"
import { readCallId, readResult } from "./result-content.ts"
import { readReportedSize } from "./reported-size.ts"

/** What the line or object that contains a message states about it. */
export interface MessageFrame {
  /** The id of the message. */
  readonly id?: string
  /** Data that the producer stores with the results in a user message, such as the results' full size. */
  readonly details?: unknown
}

export function isRoleMessage(value: unknown): value is Fields {
  if (!isJsonObject(value) || typeof value["role"] !== "string") return false
  return value["type"] === undefined || value["type"] === "message"
}

/** Writes a message. The caller must have called `HistoryWriter.beginMessage`. */
export function writeRoleMessage(writer: HistoryWriter, message: Fields, frame: MessageFrame = {}): void {
  const role = toText(message["role"])
  switch (role) {
    case "user":
    case "human":
      return writeUserMessage(writer, message, frame)
    case "assistant":
    case "model":
    case "ai":
      return writeAssistantMessage(writer, message, frame)
    case "tool":
    case "function":
    case "toolResult":
      return writeToolMessage(writer, message)
    case "system":
    case "developer":
    case "branchSummary":
    case "compactionSummary":
      return writer.kinds.addKnown("system")
    case "bashExecution":
      return writeShellMessage(writer, message)
    default:
      return writeOtherMessage(writer, role, message)
  }
}

function writeUserMessage(writer: HistoryWriter, message: Fields, { id, details }: MessageFrame): void {
  const blocks = findBlocks(message)
  const results = blocks?.filter(isResultBlock) ?? []
  for (const result of results) writer.writeResult(readResult(writer.kinds, result, details ?? result["details"]))
  if (blocks === null)
    return writer.writeQuestion(readQuestionText(writer, message, message["content"]), id ?? readId(message))
  const others = blocks.filter((block) => !isResultBlock(block))
  if (results.length > 0 && others.length === 0) return
  writer.writeQuestion(readQuestionText(writer, message, readContentEntries(message, others)), id ?? readId(message))
}

/** Returns the blocks of a message, including any plain strings between the blocks. */
function readContentEntries(message: Fields, blocks: readonly Fields[]): readonly unknown[] {
  const { content } = message
  if (!Array.isArray(content) || content.every(isJsonObject)) return blocks
  return content.filter((entry) => !isResultBlock(toFields(entry)))
}

/** Returns the text of a question, with a label for each attached file. */
function readQuestionText(writer: HistoryWriter, message: Fields, content: unknown): string {
  const texts = [contentToParagraphs(writer.kinds, content ?? message["text"] ?? "", "plain")]
  for (const file of [...toFieldsList(message["attachments"]), ...toFieldsList(message["files"])]) {
    texts.push(contentToParagraphs(writer.kinds, [{ type: "attachment", ...file }], "plain"))
  }
  return texts.filter((text) => text !== "").join("\n\n")
}

function writeAssistantMessage(writer: HistoryWriter, message: Fields, { id }: MessageFrame): void {
  const messageId = id ?? readId(message)
  writer.beginStep(messageId, messageId)
  const blocks = findBlocks(message) ?? []
  const hasThinking = blocks.some((block) => getBlockType(block) === "thinking" || getBlockType(block) === "reasoning")
  if (!hasThinking) writer.writePart("thinking", readThinking(message))
  if (!blocks.some(isTextBlock)) writer.writePart("text", readPlainText(message))
  writeBlocks(writer, blocks, listResults(message))
  writeMessageFields(writer, message)
  readStopReason(writer, message)
}

/**
 * Writes the parts of a message that are outside its `content` field: a refusal, spoken words, and tool calls in the
 * Chat Completions format.
 */
function writeMessageFields(writer: HistoryWriter, message: Fields): void {
  writer.writePart("text", toText(message["refusal"]))
  const { audio, function_call: functionCall } = message
  if (isJsonObject(audio)) {
    writer.kinds.addKnown("audio")
    writer.writePart(
      "text",
      [formatLabel("audio"), toText(audio["transcript"])].filter((text) => text !== "").join("\n\n"),
    )
  }
  const calls = toFieldsList(message["tool_calls"]).concat(toFieldsList(message["toolCalls"]))
  for (const call of calls) writeCallBlock(writer, call)
  if (isJsonObject(functionCall)) writeCallBlock(writer, functionCall)
}

/** Returns the text of a message without ordered blocks, followed by the sources that the message names. */
function readPlainText(message: Fields): string {
  const { content } = message
  const text = (isJsonObject(content) ? "" : toText(toBlock(content)["text"])) || toText(message["text"])
  return text === "" ? "" : text + formatCitations({ text, annotations: message["annotations"] })
}

function readThinking(message: Fields): string {
  for (const field of ["thinking", "reasoning", "reasoning_content"]) {
    if (toText(message[field]) !== "") return toText(message[field])
  }
  return ""
}

/** Records how a message from Pi ended. An answer ends the way its last message did. */
function readStopReason(writer: HistoryWriter, { stopReason, errorMessage }: Fields): void {
  if (stopReason === "error") {
    writer.setOutcome({ status: "failed", reason: "producer_failed", text: toText(errorMessage) })
  }
  if (stopReason === "aborted") writer.cancelAnswer()
}

/** Writes a message that is the result of one call. */
function writeToolMessage(writer: HistoryWriter, message: Fields): void {
  const callId = readCallId({ ...message, id: undefined })
  writer.writeResult({ ...readResult(writer.kinds, message), callId })
}

/** Writes a command that the user ran in Pi. */
function writeShellMessage(writer: HistoryWriter, message: Fields): void {
  const { command, output, exitCode, cancelled } = message
  const callId = `shell-${toText(message["id"]) || String(message["timestamp"] ?? "")}`
  writer.beginStep("")
  writer.writeCall(callId, "bash", { command: command ?? "" })
  const hasFailed = cancelled === true || (typeof exitCode === "number" && exitCode !== 0)
  const error = { code: "tool_failed", message: cancelled === true ? "Cancelled." : `Exit code ${exitCode}.` }
  const size = readReportedSize(message)
  writer.writeResult({ callId, toolName: "bash", text: toText(output), error: hasFailed ? error : null, size })
}

/** Writes a message with an unknown role into the answer, labelled with its role. */
function writeOtherMessage(writer: HistoryWriter, role: string, message: Fields): void {
  if (message["display"] === false) return writer.kinds.addKnown("system")
  if (role !== "custom") writer.kinds.addUnknown("message", role)
  const text = contentToParagraphs(writer.kinds, message["content"] ?? message["text"] ?? message["summary"])
  const label = formatLabel(toText(message["customType"]) || role)
  writer.beginStep("")
  writer.writePart("text", text === "" ? label : `${label}\n\n${text}`)
}

/** Returns the ordered blocks of a message, from any of the fields that other systems use; null if there are none. */
function findBlocks(message: Fields): readonly Fields[] | null {
  const metadata = toFields(message["metadata"])
  for (const blocks of [message["parts"], message["contentBlocks"], metadata["contentBlocks"], message["content"]]) {
    if (isJsonObject(blocks)) return [blocks]
    if (Array.isArray(blocks) && blocks.some(isJsonObject)) return blocks.map(toBlock)
  }
  const { content } = message
  return Array.isArray(content) && content.length > 0 ? content.map(toBlock) : null
}

/**
 * Returns the results in a message by the ids of their calls. The message may contain them as a list, or as an object
 * with these ids as keys.
 */
function listResults(message: Fields): Map<string, Fields> {
  const results = message["toolResults"] ?? toFields(message["metadata"])["toolResults"]
  if (Array.isArray(results)) return new Map(toFieldsList(results).map((result) => [readCallId(result), result]))
  const entries = Object.entries(toFields(results))
  return new Map(entries.map(([id, result]) => [id, isJsonObject(result) ? result : { content: result }] as const))
}

function readId(message: Fields): string {
  return toText(message["id"]) || toText(message["uuid"])
}
