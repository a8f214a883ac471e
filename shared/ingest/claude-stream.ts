/**
 * claude-stream.ts: converts the events of `claude -p --output-format stream-json --verbose`, with or without
 * `--include-partial-messages`, to records.
 *
 * system · assistant {message.content[]} · user {tool_result[]} · stream_event {event} · result {subtype, is_error}
 * A message arrives as one line per block, and each line has the message's id. With partial messages, its text has
 * already arrived in deltas. The text of a subagent (`parent_tool_use_id`) becomes output of the call that started it.
 * Pure.
 */

import { createMapper, RecordWriter, type Fields, toFields, type Kind, toFieldsList, toText } from "./record-writer.ts"
import { blockToMarkdown, contentToText } from "./history/block-text.ts"
import { readReportedSize } from "./history/reported-size.ts"
import type { Mapper, Outcome } from "./record-writer.ts"

/** The current message, and which of its blocks were streamed. */
interface StreamState {
  message: string
  /** The streamed blocks, in order. A whole block is matched with the first streamed block of its kind. */
  streamed: { readonly kind: Kind; readonly key: string }[]
  /**
   * Whether the streamed blocks belong to a message that was cut off. If so, a whole block may differ from its streamed
   * block.
   */
  isStale: boolean
  blockCount: number
  openBlock: { readonly kind: Kind; readonly key: string } | null
  /** Maps each subagent call, at any depth, to the main agent's call under which the subagent runs. */
  readonly rootCallIds: Map<string, string>
}

/**
 * Shapes: lines → records; see `Mapper`.
 * Errors: none. Unknown events are skipped and counted.
 * Source: the documented format; SPEC PI1–PI3, PI7, PI8.
 */
export function createClaudeMapper(): Mapper {
  const writer = new RecordWriter()
  const state: StreamState = {
    message: "",
    streamed: [],
    isStale: false,
    blockCount: 0,
    openBlock: null,
    rootCallIds: new Map(),
  }
  return createMapper(writer, (event) => {
    const type = toText(event["type"])
    switch (type) {
      case "system":
        return event["subtype"] === "init" ? undefined : writer.countUnknown(`system ${toText(event["subtype"])}`)
      case "stream_event":
        return event["parent_tool_use_id"] == null ? mapDelta(writer, state, toFields(event["event"])) : undefined
      case "assistant":
        return mapAssistant(writer, state, event)
      case "user":
        return mapUser(writer, state, event)
      case "result":
        return writer.setOutcome(readOutcome(event))
      default:
        writer.countUnknown(type)
    }
  })
}

/** Enters the message that a line belongs to. All lines of a message have its id; a new id begins the next step. */
function enterMessage(writer: RecordWriter, state: StreamState, id: string): void {
  if (id !== "" && id === state.message) return
  state.message = id
  state.streamed = []
  state.isStale = false
  state.openBlock = null
  writer.nextStep()
}

/**
 * Enters a message that arrives whole. If it interrupts a streamed message, it counts as the same message, because the
 * program has fallen back to not streaming.
 */
function enterWholeMessage(writer: RecordWriter, state: StreamState, id: string): void {
  if (id === state.message || state.streamed.length === 0) return enterMessage(writer, state, id)
  state.message = id
  state.isStale = true
  state.openBlock = null
}

function mapDelta(writer: RecordWriter, state: StreamState, event: Fields): void {
  const type = toText(event["type"])
  switch (type) {
    case "message_start":
      return enterMessage(writer, state, toText(toFields(event["message"])["id"]))
    case "content_block_start": {
      const kind = toText(toFields(event["content_block"])["type"])
      if (kind !== "text" && kind !== "thinking") return
      state.blockCount += 1
      state.openBlock = { kind, key: `block ${state.blockCount}` }
      state.streamed.push(state.openBlock)
      return
    }
    case "content_block_delta": {
      const delta = toFields(event["delta"])
      const text = toText(delta["text"]) + toText(delta["thinking"])
      // Deltas of arguments are skipped, because the message contains the complete arguments.
      if (text !== "" && state.openBlock !== null) writer.appendDelta(state.openBlock.key, state.openBlock.kind, text)
      return
    }
    case "content_block_stop":
      if (state.openBlock !== null) writer.closePart(state.openBlock.kind)
      state.openBlock = null
      return
    case "message_delta":
    case "message_stop":
    case "ping":
      return
    default:
      writer.countUnknown(`stream_event ${type}`)
  }
}

function mapAssistant(writer: RecordWriter, state: StreamState, event: Fields): void {
  const message = toFields(event["message"])
  const parent = event["parent_tool_use_id"]
  if (typeof parent === "string") return mapSubagent(writer, state, parent, toFieldsList(message["content"]))
  enterWholeMessage(writer, state, toText(message["id"]))
  for (const block of toFieldsList(message["content"])) mapBlock(writer, state, block)
}

/**
 * Maps the blocks of a subagent. Whatever its depth, its text becomes output of the main agent's call, and its own
 * calls are shown by name only.
 */
function mapSubagent(writer: RecordWriter, state: StreamState, parent: string, blocks: readonly Fields[]): void {
  const rootCallId = state.rootCallIds.get(parent) ?? parent
  for (const block of blocks) {
    const type = toText(block["type"])
    if (type === "text") writer.writeOutput(rootCallId, `${toText(block["text"])}\n`)
    else if (type === "tool_use") {
      state.rootCallIds.set(toText(block["id"]), rootCallId)
      writer.writeOutput(rootCallId, `[${toText(block["name"])}]\n`)
    } else writer.countUnknown(`subagent ${type}`)
  }
}

function mapBlock(writer: RecordWriter, state: StreamState, block: Fields): void {
  const type = toText(block["type"])
  switch (type) {
    case "text":
    case "thinking":
      return mapWholeBlock(writer, state, type, toText(block[type]))
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return writer.writeCall(toText(block["id"]), toText(block["name"]), block["input"])
    case "redacted_thinking":
      return
    default:
      if (type.endsWith("tool_result")) return mapResult(writer, block, null)
      writer.countUnknown(`assistant ${type}`)
      writer.closePart("text")
      writer.writeText("text", blockToMarkdown(block))
      writer.closePart("text")
  }
}

/** Writes what a whole block adds to its streamed text. If the two differ, the streamed text is kept. */
function mapWholeBlock(writer: RecordWriter, state: StreamState, kind: Kind, text: string): void {
  const isContinued = (key: string): boolean => text.startsWith(writer.getKnownText(key) ?? "")
  const at = state.streamed.findIndex((part) => part.kind === kind && (!state.isStale || isContinued(part.key)))
  const [known] = at < 0 ? [] : state.streamed.splice(at, 1)
  if (known !== undefined) writer.appendWhole(known.key, kind, text)
  else writer.writeText(kind, text)
  if (text !== "") writer.closePart(kind)
}

/** Maps a user message. It may contain tool results; its other content is not part of the answer. */
function mapUser(writer: RecordWriter, state: StreamState, event: Fields): void {
  const isSubagent = typeof event["parent_tool_use_id"] === "string"
  for (const block of toFieldsList(toFields(event["message"])["content"])) {
    if (block["type"] !== "tool_result") continue
    if (isSubagent || state.rootCallIds.has(toText(block["tool_use_id"]))) writer.countUnknown("subagent tool_result")
    else mapResult(writer, block, event["tool_use_result"])
  }
}

/** Writes a tool result. `details` is what the program stores with the result, such as its full size. */
function mapResult(writer: RecordWriter, block: Fields, details: unknown): void {
  const text = contentToText(block["content"])
  const size = readReportedSize(details) ?? readReportedSize(text)
  writer.writeResult(toText(block["tool_use_id"]), block["is_error"] !== true, text, undefined, size)
}

function readOutcome(event: Fields): Outcome {
  const subtype = toText(event["subtype"])
  const errors = Array.isArray(event["errors"]) ? event["errors"].filter((message) => typeof message === "string") : []
  const text = [toText(event["result"]), ...errors].filter((line) => line !== "").join("\n")
  if (subtype === "success" && event["is_error"] !== true) return { status: "completed", reason: null, text }
  return { status: "failed", reason: subtype === "error_max_turns" ? "step_limit" : "producer_failed", text }
}
