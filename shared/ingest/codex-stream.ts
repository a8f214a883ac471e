/**
 * codex-stream.ts: converts the events of `codex exec --json` to records.
 *
 * thread.started · turn.started · item.started|updated|completed {item} · turn.completed · turn.failed · error
 * Each event contains the whole item so far. Only new text and output are written. Pure.
 */

import { createMapper, RecordWriter, type Fields, toFields, type Kind, toFieldsList, toText } from "./record-writer.ts"
import { blockToMarkdown, contentToText } from "./history/block-text.ts"
import { readReportedSize } from "./history/reported-size.ts"
import type { Mapper } from "./record-writer.ts"

/**
 * Shapes: lines → records; see `Mapper`.
 * Errors: none. Unknown events are skipped and counted.
 * Source: the documented format; SPEC PI1–PI3, PI7, PI8.
 */
export function createCodexMapper(): Mapper {
  const writer = new RecordWriter()
  return createMapper(writer, (event) => {
    const type = toText(event["type"])
    switch (type) {
      case "thread.started":
      case "turn.started":
        // Codex does not report its model calls, so the server counts the steps.
        return
      case "item.started":
      case "item.updated":
      case "item.completed":
        return mapItem(writer, toFields(event["item"]), type === "item.completed")
      case "item.plan.delta":
        return writer.appendDelta(toText(event["item_id"]), "text", toText(event["delta"]))
      case "turn.completed":
        return writer.setOutcome({ status: "completed", reason: null })
      case "turn.failed":
        return recordFailure(writer, toFields(event["error"]))
      case "error":
        // Codex may retry; in that case, a later `turn.completed` replaces this outcome.
        return recordFailure(writer, event)
      default:
        writer.countUnknown(type)
    }
  })
}

function recordFailure(writer: RecordWriter, { message }: Fields): void {
  writer.setOutcome({ status: "failed", reason: "producer_failed", text: toText(message) })
}

function mapItem(writer: RecordWriter, item: Fields, isOver: boolean): void {
  const id = toText(item["id"])
  // Older versions name the field `item_type`.
  const type = toText(item["type"]) || toText(item["item_type"])
  switch (type) {
    case "agent_message":
    case "assistant_message":
    case "plan":
      return mapText(writer, id, "text", item, isOver)
    case "reasoning":
      return mapText(writer, id, "thinking", item, isOver)
    case "command_execution":
      return mapCommand(writer, id, item, isOver)
    case "file_change":
      writer.writeCall(id, "file_change", { changes: item["changes"] ?? [] })
      return isOver ? writer.writeResult(id, item["status"] !== "failed", formatChanges(item)) : undefined
    case "mcp_tool_call":
      return mapMcpCall(writer, id, item, isOver)
    case "collab_tool_call":
      writer.writeCall(id, toText(item["tool"]), { prompt: item["prompt"] ?? null })
      return isOver
        ? writer.writeResult(id, item["status"] !== "failed", JSON.stringify(item["agents_states"] ?? {}))
        : undefined
    case "web_search":
      // The query may be missing when the search begins.
      if (isOver || toText(item["query"]) !== "") writer.writeCall(id, "web_search", { query: toText(item["query"]) })
      return isOver ? writer.writeResult(id, true, "") : undefined
    case "todo_list":
      writer.writeCall(id, "todo_list", {})
      // Any entry may change, so each update writes the whole list.
      return isOver
        ? writer.writeResult(id, true, formatTodos(item))
        : writer.writeOutput(id, `${formatTodos(item)}\n\n`)
    case "error":
      return mapText(writer, id, "text", { text: item["message"] }, isOver)
    default:
      writer.countUnknown(`item ${type}`, id === "" ? "" : `item ${id}`)
      if (isOver) mapText(writer, id, "text", { text: blockToMarkdown(item) }, true)
  }
}

function mapText(writer: RecordWriter, id: string, kind: Kind, item: Fields, isOver: boolean): void {
  writer.appendWhole(id, kind, toText(item["text"]))
  if (isOver) writer.closePart(kind)
}

function mapCommand(writer: RecordWriter, id: string, item: Fields, isOver: boolean): void {
  const output = toText(item["aggregated_output"])
  const exit = item["exit_code"]
  writer.writeCall(id, "shell", { command: item["command"] ?? "" })
  if (!isOver) return writer.writeWholeOutput(id, output)
  const ok = item["status"] === "completed" && (exit === 0 || exit == null)
  if (item["status"] === "declined") {
    return writer.writeResult(id, false, output, { code: "denied", message: "The call was not allowed." })
  }
  const error = { code: "tool_failed", message: `The command ended with exit code ${exit ?? "?"}.` }
  writer.writeResult(id, ok, output, error, readReportedSize(output))
}

function mapMcpCall(writer: RecordWriter, id: string, item: Fields, isOver: boolean): void {
  writer.writeCall(id, `${toText(item["server"])}.${toText(item["tool"])}`, item["arguments"])
  if (!isOver) return
  const result = toFields(item["result"])
  const message = toText(toFields(item["error"])["message"])
  const structured = result["structured_content"]
  const text = contentToText(result["content"]) || (structured == null ? "" : JSON.stringify(structured))
  const failure = { code: "tool_failed", message: message || "The tool failed." }
  writer.writeResult(id, item["status"] !== "failed" && message === "", text || message, failure)
}

function formatChanges(item: Fields): string {
  return toFieldsList(item["changes"])
    .map((change) => `${toText(change["kind"])} ${toText(change["path"])}`)
    .join("\n")
}

function formatTodos(item: Fields): string {
  return toFieldsList(item["items"])
    .map((todo) => `[${todo["completed"] === true ? "x" : " "}] ${toText(todo["text"])}`)
    .join("\n")
}
