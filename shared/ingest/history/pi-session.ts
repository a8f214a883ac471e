/**
 * pi-session.ts: converts Pi's lines, from a session file or the output of `--mode json`, to records.
 *
 * A session file has a line per entry; an entry of type `message` contains a message. The output has a `message_end`
 * event per message, and other events that repeat the message. Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFields, toText } from "../record-writer.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { isRoleMessage, writeRoleMessage } from "./role-message.ts"

/** Fields that any line may have. */
const LINE_FIELDS: ReadonlySet<string> = new Set(["type", "id", "parentId", "timestamp"])

/**
 * Types of lines that repeat messages or are about the program. Other programs write lines of the same types, so each
 * type is listed with a field that only Pi's lines have. Null: Pi's lines of this type have only LINE_FIELDS.
 */
const PROGRAM_LINE_TYPES: Readonly<Record<string, string | null>> = {
  session: "cwd",
  thinking_level_change: "thinkingLevel",
  model_change: "modelId",
  label: "targetId",
  session_info: "name",
  custom: "customType",
  agent_start: null,
  agent_end: "messages",
  agent_settled: null,
  turn_start: null,
  turn_end: "message",
  message_start: "message",
  message_update: "message",
  tool_execution_start: "toolCallId",
  tool_execution_update: "toolCallId",
  tool_execution_end: "toolCallId",
  queue_update: "steering",
  session_info_changed: "name",
  thinking_level_changed: "level",
  compaction_start: "reason",
  compaction_end: "reason",
  auto_retry_start: "attempt",
  auto_retry_end: "attempt",
}

/** Types of lines that contain a summary for the model. */
const SUMMARY_LINE_TYPES: ReadonlySet<string> = new Set(["compaction", "branch_summary"])

export function isPiLine(value: unknown): value is Fields {
  if (!isJsonObject(value)) return false
  const type = toText(value["type"])
  if (type === "message" || type === "message_end") return isRoleMessage(value["message"])
  if (type === "custom_message") return typeof value["customType"] === "string"
  return Object.hasOwn(PROGRAM_LINE_TYPES, type) || SUMMARY_LINE_TYPES.has(type)
}

export function writePiLine(writer: HistoryWriter, line: Fields): void {
  const type = toText(line["type"])
  if (type === "message" || type === "message_end") {
    const id = toText(line["id"])
    return writeRoleMessage(writer, toFields(line["message"]), id === "" ? {} : { id })
  }
  if (type === "custom_message") {
    const { customType, content, display } = line
    return writeRoleMessage(writer, { role: "custom", customType, content, display })
  }
  if (SUMMARY_LINE_TYPES.has(type)) return writer.kinds.addKnown("system")
  if (!isProgramLine(line, type)) return writer.kinds.addUnknown("line", type)
  if (type === "session_info" && toText(line["name"]) !== "") writer.title = toText(line["name"])
}

/**
 * Returns whether Pi wrote a line of this type. A line with only LINE_FIELDS counts, because Pi omits an empty name.
 */
function isProgramLine(line: Fields, type: string): boolean {
  const field = PROGRAM_LINE_TYPES[type] ?? null
  if (field !== null && Object.hasOwn(line, field)) return true
  return Object.keys(line).every((key) => LINE_FIELDS.has(key))
}
