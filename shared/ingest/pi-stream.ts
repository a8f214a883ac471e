/**
 * pi-stream.ts: converts the events of `pi --mode json` to records.
 *
 * session · agent_start · turn_start · message_start|update|end · tool_execution_start|update|end · turn_end
 * · agent_end
 * Each block of a message (`contentIndex`) arrives in deltas and, at its end, as a whole. Each update of a tool's
 * output contains the whole output so far. Pure.
 */

import { createMapper, RecordWriter, type Fields, toFields, type Kind, toFieldsList, toText } from "./record-writer.ts"
import { blockToMarkdown, contentToText } from "./history/block-text.ts"
import { readReportedSize } from "./history/reported-size.ts"
import type { Mapper, Outcome } from "./record-writer.ts"

/** Events without visible content. */
const IGNORED_EVENTS: ReadonlySet<string> = new Set([
  "session",
  "agent_start",
  "agent_settled",
  "turn_end",
  "queue_update",
  "session_info_changed",
  "compaction_start",
  "compaction_end",
  "auto_compaction_start",
  "auto_compaction_end",
  "auto_retry_start",
  "thinking_level_changed",
])

/**
 * Shapes: lines → records; see `Mapper`.
 * Errors: none. Unknown events are skipped and counted.
 * Source: the documented format; SPEC PI1–PI3, PI7, PI8.
 */
export function createPiMapper(): Mapper {
  const writer = new RecordWriter()
  let messageCount = 0
  const toBlockKey = (index: unknown): string => `block ${messageCount} ${index}`
  return createMapper(writer, (event) => {
    const type = toText(event["type"])
    switch (type) {
      case "turn_start":
        return writer.nextStep()
      case "message_start":
        messageCount += isAssistant(event) ? 1 : 0
        return
      case "message_update":
        return mapUpdate(writer, toBlockKey, toFields(event["assistantMessageEvent"]))
      case "message_end":
        return isAssistant(event) ? mapMessage(writer, toBlockKey, toFields(event["message"])) : undefined
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        return mapToolEvent(writer, type, event)
      case "agent_end":
        return event["willRetry"] === true ? undefined : writer.setOutcome(readOutcome(event))
      case "auto_retry_end":
        if (event["success"] === false) writer.setOutcome(createFailure(toText(event["finalError"])))
        return
      default:
        if (!IGNORED_EVENTS.has(type)) writer.countUnknown(type)
    }
  })
}

function isAssistant(event: Fields): boolean {
  return toFields(event["message"])["role"] === "assistant"
}

function mapUpdate(writer: RecordWriter, toBlockKey: (index: unknown) => string, update: Fields): void {
  const type = toText(update["type"])
  const key = toBlockKey(update["contentIndex"] ?? 0)
  switch (type) {
    case "text_delta":
    case "thinking_delta":
      return writer.appendDelta(key, type === "text_delta" ? "text" : "thinking", toText(update["delta"]))
    case "text_end":
    case "thinking_end": {
      const kind: Kind = type === "text_end" ? "text" : "thinking"
      writer.appendWhole(key, kind, toText(update["content"]))
      return writer.closePart(kind)
    }
    case "start":
    case "text_start":
    case "thinking_start":
    case "toolcall_start":
    case "toolcall_delta":
    case "toolcall_end":
    case "done":
    case "error":
      // `message_end` repeats the whole content of these events.
      return
    default:
      writer.countUnknown(`message_update ${type}`)
  }
}

function mapMessage(writer: RecordWriter, toBlockKey: (index: unknown) => string, message: Fields): void {
  toFieldsList(message["content"]).forEach((block, at) => {
    const type = toText(block["type"])
    if (type === "text" || type === "thinking") {
      const text = toText(block[type])
      const isNew = text !== (writer.getKnownText(toBlockKey(at)) ?? "")
      writer.appendWhole(toBlockKey(at), type, text)
      if (isNew) writer.closePart(type)
    } else if (type === "toolCall") writer.writeCall(toText(block["id"]), toText(block["name"]), block["arguments"])
    else writeUnknownBlock(writer, block, type)
  })
}

/** Writes a block of an unknown type as text, labelled with its type. */
function writeUnknownBlock(writer: RecordWriter, block: Fields, type: string): void {
  writer.countUnknown(`message ${type}`)
  writer.closePart("text")
  writer.writeText("text", blockToMarkdown(block))
  writer.closePart("text")
}

function mapToolEvent(writer: RecordWriter, type: string, event: Fields): void {
  const id = toText(event["toolCallId"])
  writer.writeCall(id, toText(event["toolName"]), event["args"])
  if (type === "tool_execution_update") {
    writer.writeWholeOutput(id, contentToText(toFields(event["partialResult"])["content"]))
  }
  if (type === "tool_execution_end") {
    const { content, details } = toFields(event["result"])
    const text = contentToText(content)
    const size = readReportedSize(details) ?? readReportedSize(text)
    writer.writeResult(id, event["isError"] !== true, text, undefined, size)
  }
}

/** Returns the outcome according to the stop reason of the run's last message. */
function readOutcome(event: Fields): Outcome {
  const lastMessage = toFieldsList(event["messages"]).findLast((message) => message["role"] === "assistant")
  switch (lastMessage?.["stopReason"]) {
    case "error":
      return createFailure(toText(lastMessage["errorMessage"]))
    case "aborted":
      return { status: "interrupted", reason: "producer_gone" }
    default:
      return { status: "completed", reason: null }
  }
}

function createFailure(errorText: string): Outcome {
  return { status: "failed", reason: "producer_failed", text: errorText }
}
