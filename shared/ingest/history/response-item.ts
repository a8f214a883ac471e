/**
 * response-item.ts: converts items of OpenAI's Responses API (messages, reasoning, calls and their outputs) to records.
 *
 * Codex stores the same items in its rollout files. An item that follows an output begins the next step. Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { writeBlocks, writeThinkingBlock } from "./answer-blocks.ts"
import { blockToText } from "./block-text.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { formatLabel } from "./media-label.ts"
import { isRoleMessage, writeRoleMessage } from "./role-message.ts"
import { readResult } from "./result-content.ts"

/** Types of items without a call, a result or text. */
const SYSTEM_ITEMS: ReadonlySet<string> = new Set([
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "context_compaction",
  "additional_tools",
  "item_reference",
  "ghost_snapshot",
])

/** Fields of a call that are not its arguments. */
const CALL_HEAD: ReadonlySet<string> = new Set(["type", "id", "call_id", "status", "name", "caller", "namespace"])
const RESULT_FIELDS: ReadonlySet<string> = new Set(["output", "outputs", "result", "results", "error"])

export function isResponseItem(value: unknown): value is Fields {
  if (!isJsonObject(value)) return false
  const type = toText(value["type"])
  if (type === "message") return isRoleMessage(value)
  return type === "reasoning" || SYSTEM_ITEMS.has(type) || isCall(type) || isOutput(type)
}

function isCall(type: string): boolean {
  return type.endsWith("_call") && type !== "tool_call" ? true : type === "program"
}

function isOutput(type: string): boolean {
  return type.endsWith("_call_output") || type === "program_output" || type === "tool_search_output"
}

/** Writes the items of one conversation. */
export class ResponseItemWriter {
  readonly #writer: HistoryWriter
  #step = 0
  #isAfterOutput = true

  constructor(writer: HistoryWriter) {
    this.#writer = writer
  }

  writeItem(item: Fields): void {
    const type = toText(item["type"])
    if (isRoleMessage(item)) return this.#writeMessage(item)
    if (SYSTEM_ITEMS.has(type)) return this.#writer.kinds.addKnown("system")
    if (isOutput(type)) return this.#writeOutput(item)
    this.#beginModelItem(item)
    if (type === "reasoning") writeThinkingBlock(this.#writer, item)
    else if (isCall(type)) this.#writeCall(item, type)
    else this.#writer.writePart("text", blockToText(this.#writer.kinds, item))
  }

  /** Writes a message. An assistant message belongs to the current step, like the calls next to it. */
  #writeMessage(item: Fields): void {
    if (item["role"] !== "assistant") {
      this.#isAfterOutput = true
      return writeRoleMessage(this.#writer, item)
    }
    this.#beginModelItem(item)
    const { content } = item
    writeBlocks(this.#writer, Array.isArray(content) ? toFieldsList(content) : [{ type: "text", text: content }])
  }

  #beginModelItem(item: Fields): void {
    if (this.#isAfterOutput) this.#step += 1
    this.#isAfterOutput = false
    this.#writer.beginStep(`items ${this.#step}`, toText(item["id"]))
  }

  #writeCall(item: Fields, type: string): void {
    const callId = toText(item["call_id"]) || toText(item["id"])
    const server = toText(item["server_label"])
    const name = toText(item["name"]) || type.replace(/_call$/, "")
    this.#writer.writeCall(callId, server === "" ? name : `${server}.${name}`, readArguments(item))
    const result = readInlineResult(item)
    if (result === null) return
    this.#isAfterOutput = true
    this.#writer.writeResult({ ...readResult(this.#writer.kinds, result), callId })
  }

  /** Writes the output of a call. The output of a local shell names its call in `id`. */
  #writeOutput(item: Fields): void {
    this.#isAfterOutput = true
    const { output, ...rest } = item
    const callId = toText(item["call_id"]) || toText(item["id"])
    this.#writer.writeResult({
      ...readResult(this.#writer.kinds, { ...rest, output: joinShellOutput(output) }),
      callId,
    })
  }
}

/**
 * Returns the arguments of a call: the field that contains them, or all fields except those in CALL_HEAD and
 * RESULT_FIELDS.
 */
function readArguments(item: Fields): unknown {
  const args = item["arguments"] ?? item["input"] ?? item["action"] ?? item["operation"]
  if (args !== undefined) return args
  return Object.fromEntries(Object.entries(item).filter(([key]) => !CALL_HEAD.has(key) && !RESULT_FIELDS.has(key)))
}

/** Returns the result of a call that the provider ran itself; null if the result arrives in a separate item. */
function readInlineResult(item: Fields): Fields | null {
  const { type, status, error, name } = item
  const content = item["output"] ?? item["outputs"] ?? item["results"]
  if (type === "image_generation_call") {
    return { content: item["result"] == null ? "" : [{ type: "output_image" }], status, name }
  }
  if (content != null) return { content: readCodeOutputs(content), status, error, name }
  if (error != null) return { content: "", error, name }
  const isHosted = type === "web_search_call" || type === "file_search_call" || type === "code_interpreter_call"
  return isHosted && (status === undefined || status === "completed" || status === "failed")
    ? { content: "", status }
    : null
}

/** Returns the outputs of the code interpreter. Its logs become text. */
function readCodeOutputs(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((entry: unknown) => {
    const logs = toFields(entry)["logs"]
    return typeof logs === "string" ? { type: "text", text: logs } : entry
  })
}

/** Joins the output of a hosted shell, which is a list of `{stdout, stderr, outcome}`. */
function joinShellOutput(output: unknown): unknown {
  const runs = toFieldsList(output)
  if (runs.length === 0 || !runs.every((run) => typeof run["stdout"] === "string")) return output
  return runs.map(formatShellRun).join("\n")
}

function formatShellRun({ stdout, stderr, outcome }: Fields): string {
  const { type, exit_code: exitCode } = toFields(outcome)
  const end = type === "timeout" ? formatLabel("timeout") : exitCode ? formatLabel("exit code", String(exitCode)) : ""
  return [toText(stdout), toText(stderr), end].filter((text) => text !== "").join("\n")
}
