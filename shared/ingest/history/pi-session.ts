/**
 * pi-session.ts: writes the lines of Pi: a session file, or the output of `--mode json`.
 *
 * A session file has a line per entry; those of type `message` hold a message. The output has a `message_end` event per
 * message, and other events that repeat it. Pure.
 */

import { type Fields, isFields, toFields, toText } from "../record-writer.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { isRoleMessage, writeRoleMessage } from "./role-message.ts"

/** Lines that repeat messages, or that are about the program. */
const PROGRAM_LINES: ReadonlySet<string> = new Set([
  "session",
  "thinking_level_change",
  "model_change",
  "label",
  "session_info",
  "custom",
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "turn_end",
  "message_start",
  "message_update",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "compaction_start",
  "compaction_end",
  "auto_retry_start",
  "auto_retry_end",
])

/** Lines that hold a summary for the model. */
const SUMMARY_LINES: ReadonlySet<string> = new Set(["compaction", "branch_summary"])

export function isPiLine(value: unknown): value is Fields {
  if (!isFields(value)) return false
  const type = toText(value["type"])
  if (type === "message" || type === "message_end") return isRoleMessage(value["message"])
  if (type === "custom_message") return typeof value["customType"] === "string"
  return PROGRAM_LINES.has(type) || SUMMARY_LINES.has(type)
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
  if (type === "session_info" && toText(line["name"]) !== "") writer.title = toText(line["name"])
  if (SUMMARY_LINES.has(type)) writer.kinds.addKnown("system")
}
