/**
 * result-content.ts: reads the result of a tool call from any of the fields that other systems use. Pure.
 */

import { cutText } from "../../text/cut-text.ts"
import { isJsonObject, parseJson } from "../../json.ts"
import { MAX_RESULT_BYTES } from "../../limits.ts"
import { toFields, type Fields, toFieldsList, toText, type CallError } from "../record-writer.ts"
import { contentToParagraphs, getBlockType, isTextBlock } from "./block-text.ts"
import type { HistoryResult } from "./history-writer.ts"
import type { KindCounts } from "./kind-counts.ts"
import { getMediaKind } from "./media-label.ts"
import { valueToReadableJson } from "./value-to-json.ts"
import { readReportedSize } from "./reported-size.ts"

/** Maximum length of an error message, in UTF-16 code units. */
const MAX_MESSAGE_CHARS = 200

const CALL_ID_FIELDS = ["tool_call_id", "toolCallId", "tool_use_id", "call_id", "callId", "id"] as const

/** Returns the id of the call that a block or message refers to; an empty string if it names none. */
export function readCallId(fields: Fields): string {
  for (const name of CALL_ID_FIELDS) if (toText(fields[name]) !== "") return toText(fields[name])
  return ""
}

/**
 * Reads a result.
 *
 * Shapes: `{content | result | output | outputs, is_error?, error?, details?}` → HistoryResult. `details` is what the
 *         producer stores with the result, such as its full size.
 */
export function readResult(kinds: KindCounts, fields: Fields, details: unknown = fields["details"]): HistoryResult {
  const content = fields["content"] ?? fields["result"] ?? fields["output"] ?? fields["outputs"] ?? ""
  const { text, failure, size } = readContent(kinds, content)
  const toolName = toText(fields["toolName"]) || toText(fields["name"])
  const reported = readReportedSize(details) ?? size
  const error = readError(fields, text, failure)
  return { callId: readCallId(fields), toolName, text: text || (error?.message ?? ""), error, size: reported }
}

interface ResultContent {
  readonly text: string
  /** The reason for the call's failure, if the content itself states one; otherwise empty. */
  readonly failure: string
  readonly size: HistoryResult["size"]
}

function readContent(kinds: KindCounts, content: unknown): ResultContent {
  if (typeof content === "string") return unwrapShellOutput(content)
  if (Array.isArray(content)) {
    const failure = toFieldsList(content).map(readErrorBlock).join("")
    return { text: listToText(kinds, content), failure, size: null }
  }
  if (!isJsonObject(content)) return { text: content == null ? "" : String(content), failure: "", size: null }
  const isBlock = isTextBlock(content) || getMediaKind(getBlockType(content)) !== null
  const text = isBlock ? contentToParagraphs(kinds, content, "plain") : valueToReadableJson(content, MAX_RESULT_BYTES)
  return { text, failure: readErrorBlock(content), size: readReportedSize(content) }
}

/** Converts a list of blocks and strings to text, and any other list to JSON. */
function listToText(kinds: KindCounts, content: readonly unknown[]): string {
  const isBlocks = content.every(
    (entry) => typeof entry === "string" || (isJsonObject(entry) && getBlockType(entry) !== ""),
  )
  return isBlocks ? contentToParagraphs(kinds, content, "plain") : valueToReadableJson(content, MAX_RESULT_BYTES)
}

/** Unwraps the output of a command, which Codex stores as `{"output": "…", "metadata": {"exit_code": 0}}`. */
function unwrapShellOutput(text: string): ResultContent {
  const size = readReportedSize(text)
  if (!text.startsWith('{"output":')) return { text, failure: "", size }
  const shell = parseShell(text)
  if (shell === null) return { text, failure: "", size }
  const failure = shell.exitCode === 0 ? "" : `The command ended with exit code ${shell.exitCode}.`
  return { text: shell.output, failure, size: size ?? readReportedSize(shell.output) }
}

function parseShell(text: string): { readonly output: string; readonly exitCode: number } | null {
  const { output, metadata, ...rest } = toFields(parseJson(text))
  const exitCode = toFields(metadata)["exit_code"]
  const isShell = typeof output === "string" && typeof exitCode === "number" && Object.keys(rest).length === 0
  return isShell ? { output, exitCode } : null
}

/**
 * Returns the error code of a block such as `web_search_tool_result_error`; an empty string if the block reports no
 * error.
 */
function readErrorBlock(block: Fields): string {
  return getBlockType(block).endsWith("_error") ? toText(block["error_code"]) || "The tool failed." : ""
}

/** Returns the error of a call; null if the call succeeded. */
function readError(fields: Fields, text: string, failure: string): CallError | null {
  const { is_error, isError, ok, status, error } = fields
  const stated = toText(error) || toText(toFields(error)["message"]) || failure
  const hasFailed = is_error === true || isError === true || ok === false || status === "failed" || stated !== ""
  if (!hasFailed) return null
  const message = cutText(stated || text.trim().split("\n", 1)[0] || "The tool failed.", MAX_MESSAGE_CHARS)
  return { code: toText(toFields(error)["code"]) || "tool_failed", message }
}
