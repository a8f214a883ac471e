/**
 * codex-stream.ts: the events of `codex exec --json` become records.
 *
 * thread.started · turn.started · item.started|updated|completed {item} · turn.completed · turn.failed · error
 * An item is told whole each time, as far as it has come; of its text and output only what is new counts. Pure.
 */

import {
  contentText,
  createMapper,
  createScribe,
  type Fields,
  fieldsOf,
  type Kind,
  listOf,
  textOf,
} from "./record-writer.ts"
import type { Mapper, Scribe } from "./record-writer.ts"

/**
 * Shapes  lines → records; see `Mapper`.
 * Errors  none: what is not known is passed over and counted.
 * Source  the documented format; SPEC PI1–PI3.
 */
export function createCodexMapper(): Mapper {
  const scribe = createScribe()
  return createMapper(scribe, (event) => {
    const type = textOf(event["type"])
    switch (type) {
      case "thread.started":
      case "turn.started":
        // It does not tell its model calls: steps are counted where its records go.
        return
      case "item.started":
      case "item.updated":
      case "item.completed":
        return hearItem(scribe, fieldsOf(event["item"]), type === "item.completed")
      case "item.plan.delta":
        return scribe.grow(textOf(event["item_id"]), "text", textOf(event["delta"]))
      case "turn.completed":
        return scribe.settle({ status: "completed", reason: null })
      case "turn.failed":
        return fail(scribe, fieldsOf(event["error"]))
      case "error":
        // It may try again: a turn that is completed later went well.
        return fail(scribe, event)
      default:
        scribe.pass(type)
    }
  })
}

function fail(scribe: Scribe, { message }: Fields): void {
  scribe.settle({ status: "failed", reason: "producer_failed", words: textOf(message) })
}

function hearItem(scribe: Scribe, item: Fields, isOver: boolean): void {
  const id = textOf(item["id"])
  // Older versions have another name for it.
  const type = textOf(item["type"]) || textOf(item["item_type"])
  switch (type) {
    case "agent_message":
    case "assistant_message":
    case "plan":
      return hearWords(scribe, id, "text", item, isOver)
    case "reasoning":
      return hearWords(scribe, id, "thinking", item, isOver)
    case "command_execution":
      return hearCommand(scribe, id, item, isOver)
    case "file_change":
      scribe.call(id, "file_change", { changes: item["changes"] ?? [] })
      return isOver ? scribe.result(id, item["status"] !== "failed", changesText(item)) : undefined
    case "mcp_tool_call":
      return hearMcp(scribe, id, item, isOver)
    case "collab_tool_call":
      scribe.call(id, textOf(item["tool"]), { prompt: item["prompt"] ?? null })
      return isOver
        ? scribe.result(id, item["status"] !== "failed", JSON.stringify(item["agents_states"] ?? {}))
        : undefined
    case "web_search":
      // What is searched for may not be known when it begins.
      if (isOver || textOf(item["query"]) !== "") scribe.call(id, "web_search", { query: textOf(item["query"]) })
      return isOver ? scribe.result(id, true, "") : undefined
    case "todo_list":
      scribe.call(id, "todo_list", {})
      // It changes anywhere: as it goes it is told whole each time.
      return isOver ? scribe.result(id, true, todoText(item)) : scribe.output(id, `${todoText(item)}\n\n`)
    case "error":
      return hearWords(scribe, id, "text", { text: item["message"] }, isOver)
    default:
      scribe.pass(`item ${type}`, id === "" ? "" : `item ${id}`)
  }
}

function hearWords(scribe: Scribe, id: string, kind: Kind, item: Fields, isOver: boolean): void {
  scribe.growTo(id, kind, textOf(item["text"]))
  if (isOver) scribe.close(kind)
}

function hearCommand(scribe: Scribe, id: string, item: Fields, isOver: boolean): void {
  const output = textOf(item["aggregated_output"])
  const exit = item["exit_code"]
  scribe.call(id, "shell", { command: item["command"] ?? "" })
  if (!isOver) return scribe.outputTo(id, output)
  const ok = item["status"] === "completed" && (exit === 0 || exit == null)
  if (item["status"] === "declined") {
    return scribe.result(id, false, output, { code: "denied", message: "The call was not allowed." })
  }
  scribe.result(id, ok, output, { code: "tool_failed", message: `The command ended with exit code ${exit ?? "?"}.` })
}

function hearMcp(scribe: Scribe, id: string, item: Fields, isOver: boolean): void {
  scribe.call(id, `${textOf(item["server"])}.${textOf(item["tool"])}`, item["arguments"])
  if (!isOver) return
  const result = fieldsOf(item["result"])
  const message = textOf(fieldsOf(item["error"])["message"])
  const structured = result["structured_content"]
  const text = contentText(result["content"]) || (structured == null ? "" : JSON.stringify(structured))
  const failure = { code: "tool_failed", message: message || "The tool failed." }
  scribe.result(id, item["status"] !== "failed" && message === "", text || message, failure)
}

function changesText(item: Fields): string {
  return listOf(item["changes"])
    .map((change) => `${textOf(change["kind"])} ${textOf(change["path"])}`)
    .join("\n")
}

function todoText(item: Fields): string {
  return listOf(item["items"])
    .map((todo) => `[${todo["completed"] === true ? "x" : " "}] ${textOf(todo["text"])}`)
    .join("\n")
}
