/**
 * claude-code-session.ts: converts Claude Code's lines to records: a session file, or the output of
 * `--output-format stream-json`.
 *
 * An API message is split into one line per block, and each line has the message's id. Results arrive in user messages;
 * details of a result are in the same line (`toolUseResult`, `tool_use_result`). Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { isRoleMessage, writeRoleMessage } from "./role-message.ts"

/** Types of lines that are about the program and not the conversation. */
const PROGRAM_LINE_TYPES: ReadonlySet<string> = new Set([
  "summary",
  "ai-title",
  "custom-title",
  "agent-name",
  "last-prompt",
  "mode",
  "permission-mode",
  "file-history-snapshot",
  "queue-operation",
  "progress",
  "pr-link",
  "tag",
  "tool_progress",
  "tool_use_summary",
  "rate_limit_event",
  "auth_status",
  "prompt_suggestion",
  // A message's deltas are skipped, because the whole message follows.
  "stream_event",
])

/**
 * Each line about the program has one of these fields. Lines of the same types without such a field come from other
 * programs.
 */
const PROGRAM_FIELDS = ["sessionId", "session_id", "leafUuid", "messageId"] as const

/** Types of lines that name the conversation. */
const TITLE_LINE_TYPES: ReadonlySet<string> = new Set(["summary", "ai-title", "custom-title"])

/** The text that Claude Code writes as the user's message when the user stops an answer. */
const INTERRUPTION = /^\[Request interrupted by user(?: for tool use)?\]\s*$/

export function isClaudeCodeLine(value: unknown): value is Fields {
  if (!isJsonObject(value)) return false
  const type = toText(value["type"])
  if (type === "user" || type === "assistant") return isJsonObject(value["message"])
  if (type === "attachment") return isJsonObject(value["attachment"])
  if (type === "result" || type === "system") return typeof value["subtype"] === "string"
  return PROGRAM_LINE_TYPES.has(type)
}

/** Converts the lines of one session. */
export class ClaudeCodeConverter {
  readonly #writer: HistoryWriter
  /** Whether the file contains messages of the main conversation. A subagent's own file contains none. */
  #hasMainMessages: boolean

  constructor(writer: HistoryWriter, isFirstPart: boolean) {
    this.#writer = writer
    this.#hasMainMessages = !isFirstPart
  }

  writeLine(line: Fields): void {
    const type = toText(line["type"])
    if (type === "user" || type === "assistant") return this.#writeMessage(line, type)
    if (type === "attachment") return this.#writeAttachment(toFields(line["attachment"]))
    if (type === "result") return this.#writeOutcome(line)
    if (type !== "system" && !PROGRAM_FIELDS.some((field) => typeof line[field] === "string")) {
      return this.#writer.kinds.addUnknown("line", type)
    }
    const title = toText(line["summary"]) || toText(line["customTitle"]) || toText(line["aiTitle"])
    if (TITLE_LINE_TYPES.has(type) && title !== "") this.#writer.title = title
    if (type === "system" && line["subtype"] !== "init") this.#writer.kinds.addKnown("system")
  }

  #writeMessage(line: Fields, type: string): void {
    const message = toFields(line["message"])
    const isSubagent = line["isSidechain"] === true || typeof line["parent_tool_use_id"] === "string"
    if (isSubagent && this.#hasMainMessages) return this.#writer.kinds.addKnown("subagent")
    this.#hasMainMessages ||= !isSubagent
    if (line["isMeta"] === true || line["isSynthetic"] === true || line["isCompactSummary"] === true) {
      return this.#writer.kinds.addKnown("system")
    }
    if (type === "user" && INTERRUPTION.test(readText(message))) return this.#writer.cancelAnswer()
    if (!isRoleMessage(message)) return this.#writer.kinds.addUnknown("line", type)
    const details = line["toolUseResult"] ?? line["tool_use_result"]
    const id = toText(message["id"]) || toText(line["uuid"])
    writeRoleMessage(this.#writer, message, details === undefined ? { id } : { id, details })
    if (line["isApiErrorMessage"] === true) {
      this.#writer.setOutcome({ status: "failed", reason: "producer_failed", text: readText(message) })
    }
  }

  /**
   * Writes a message that the user sent while the program was working. Other attachments are notes to the model and are
   * left out.
   */
  #writeAttachment(attachment: Fields): void {
    const { type, prompt } = attachment
    if (type !== "queued_command" || prompt === undefined) return this.#writer.kinds.addKnown("system")
    writeRoleMessage(this.#writer, { role: "user", content: prompt })
  }

  #writeOutcome(line: Fields): void {
    if (line["subtype"] === "success" && line["is_error"] !== true) return
    const errors = Array.isArray(line["errors"]) ? line["errors"].filter((error) => typeof error === "string") : []
    const reason = line["subtype"] === "error_max_turns" ? "step_limit" : "producer_failed"
    const text = [toText(line["result"]), ...errors].filter((part) => part !== "").join("\n")
    this.#writer.setOutcome({ status: "failed", reason, text })
  }
}

/** Returns the text of a message that contains only text. */
function readText({ content }: Fields): string {
  if (typeof content === "string") return content
  const blocks = toFieldsList(content)
  return blocks.every((block) => block["type"] === "text")
    ? blocks.map((block) => toText(block["text"])).join("\n")
    : ""
}
