/**
 * pi-stream.ts: the events of `pi --mode json` become records.
 *
 * session · agent_start · turn_start · message_start|update|end · tool_execution_start|update|end · turn_end · agent_end
 * A message's words come in deltas and once more at its end, block by block (`contentIndex`); a tool's output is told
 * whole each time, as far as it has come. Pure.
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
import type { Mapper, Outcome, Scribe } from "./record-writer.ts"

/** Events that say nothing to a reader. */
const SILENT: ReadonlySet<string> = new Set([
  ...["session", "agent_start", "agent_settled", "turn_end", "queue_update", "session_info_changed"],
  ...["compaction_start", "compaction_end", "auto_compaction_start", "auto_compaction_end", "auto_retry_start"],
  ...["thinking_level_changed"],
])

/**
 * Shapes  lines → records; see `Mapper`.
 * Errors  none: what is not known is passed over and counted.
 * Source  the documented format; SPEC PI1–PI3.
 */
export function createPiMapper(): Mapper {
  const scribe = createScribe()
  let messages = 0
  const keyOf = (index: unknown): string => `block ${messages} ${index}`
  return createMapper(scribe, (event) => {
    const type = textOf(event["type"])
    switch (type) {
      case "turn_start":
        return scribe.nextStep()
      case "message_start":
        messages += isAssistant(event) ? 1 : 0
        return
      case "message_update":
        return hearUpdate(scribe, keyOf, fieldsOf(event["assistantMessageEvent"]))
      case "message_end":
        return isAssistant(event) ? hearMessage(scribe, keyOf, fieldsOf(event["message"])) : undefined
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        return hearTool(scribe, type, event)
      case "agent_end":
        return event["willRetry"] === true ? undefined : scribe.settle(outcomeOf(event))
      case "auto_retry_end":
        if (event["success"] === false) scribe.settle(failed(textOf(event["finalError"])))
        return
      default:
        if (!SILENT.has(type)) scribe.pass(type)
    }
  })
}

function isAssistant(event: Fields): boolean {
  return fieldsOf(event["message"])["role"] === "assistant"
}

function hearUpdate(scribe: Scribe, keyOf: (index: unknown) => string, update: Fields): void {
  const type = textOf(update["type"])
  const key = keyOf(update["contentIndex"] ?? 0)
  switch (type) {
    case "text_delta":
    case "thinking_delta":
      return scribe.grow(key, type === "text_delta" ? "text" : "thinking", textOf(update["delta"]))
    case "text_end":
    case "thinking_end": {
      const kind: Kind = type === "text_end" ? "text" : "thinking"
      scribe.growTo(key, kind, textOf(update["content"]))
      return scribe.close(kind)
    }
    case "start":
    case "text_start":
    case "thinking_start":
    case "toolcall_start":
    case "toolcall_delta":
    case "toolcall_end":
    case "done":
    case "error":
      // The message's end says all of it, and says it whole.
      return
    default:
      scribe.pass(`message_update ${type}`)
  }
}

function hearMessage(scribe: Scribe, keyOf: (index: unknown) => string, message: Fields): void {
  listOf(message["content"]).forEach((block, at) => {
    const type = textOf(block["type"])
    if (type === "text" || type === "thinking") {
      const words = textOf(block[type])
      const isNew = words !== (scribe.known(keyOf(at)) ?? "")
      scribe.growTo(keyOf(at), type, words)
      if (isNew) scribe.close(type)
    } else if (type === "toolCall") scribe.call(textOf(block["id"]), textOf(block["name"]), block["arguments"])
    else scribe.pass(`message ${type}`)
  })
}

function hearTool(scribe: Scribe, type: string, event: Fields): void {
  const id = textOf(event["toolCallId"])
  scribe.call(id, textOf(event["toolName"]), event["args"])
  if (type === "tool_execution_update") {
    scribe.outputTo(id, contentText(fieldsOf(event["partialResult"])["content"]))
  }
  if (type === "tool_execution_end") {
    scribe.result(id, event["isError"] !== true, contentText(fieldsOf(event["result"])["content"]))
  }
}

/** How the last message of the run stopped. */
function outcomeOf(event: Fields): Outcome {
  const last = listOf(event["messages"]).findLast((message) => message["role"] === "assistant")
  switch (last?.["stopReason"]) {
    case "error":
      return failed(textOf(last["errorMessage"]))
    case "aborted":
      return { status: "interrupted", reason: "producer_gone" }
    default:
      return { status: "completed", reason: null }
  }
}

function failed(words: string): Outcome {
  return { status: "failed", reason: "producer_failed", words }
}
