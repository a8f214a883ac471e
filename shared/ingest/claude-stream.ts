/**
 * claude-stream.ts: the events of `claude -p --output-format stream-json --verbose`, with or without
 * `--include-partial-messages`, become records.
 *
 * system · assistant {message.content[]} · user {tool_result[]} · stream_event {event} · result {subtype, is_error}
 * A message comes in lines, one a block, each with the same id; with partial messages its words came before in deltas.
 * What a subagent says (`parent_tool_use_id`) is the output of the call that began it. Pure.
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

/** Which message it is in, and what of its words came in deltas. */
interface State {
  message: string
  /** Blocks that began in deltas, by kind, in order; a block that comes whole takes the first of its kind. */
  streamed: { readonly kind: Kind; readonly key: string }[]
  /** They are those of a message that broke off: what came whole after it may be something else. */
  isLeftOver: boolean
  blocks: number
  open: { readonly kind: Kind; readonly key: string } | null
  /** The call of the turn itself that each call of a subagent, or of one that it began, stands in. */
  readonly within: Map<string, string>
}

/**
 * Shapes  lines → records; see `Mapper`.
 * Errors  none: what is not known is passed over and counted.
 * Source  the documented format; SPEC PI1–PI3.
 */
export function createClaudeMapper(): Mapper {
  const scribe = createScribe()
  const state: State = { message: "", streamed: [], isLeftOver: false, blocks: 0, open: null, within: new Map() }
  return createMapper(scribe, (event) => {
    const type = textOf(event["type"])
    switch (type) {
      case "system":
        return event["subtype"] === "init" ? undefined : scribe.pass(`system ${textOf(event["subtype"])}`)
      case "stream_event":
        return event["parent_tool_use_id"] == null ? hearDelta(scribe, state, fieldsOf(event["event"])) : undefined
      case "assistant":
        return hearAssistant(scribe, state, event)
      case "user":
        return hearUser(scribe, state, event)
      case "result":
        return scribe.settle(outcomeOf(event))
      default:
        scribe.pass(type)
    }
  })
}

/** Lines of one message have one id; another begins the next step. */
function enter(scribe: Scribe, state: State, id: string): void {
  if (id !== "" && id === state.message) return
  state.message = id
  state.streamed = []
  state.isLeftOver = false
  state.open = null
  scribe.nextStep()
}

/** A message that comes whole, though another was streaming, is that one again: the program fell back. */
function enterWhole(scribe: Scribe, state: State, id: string): void {
  if (id === state.message || state.streamed.length === 0) return enter(scribe, state, id)
  state.message = id
  state.isLeftOver = true
  state.open = null
}

function hearDelta(scribe: Scribe, state: State, event: Fields): void {
  const type = textOf(event["type"])
  switch (type) {
    case "message_start":
      return enter(scribe, state, textOf(fieldsOf(event["message"])["id"]))
    case "content_block_start": {
      const kind = textOf(fieldsOf(event["content_block"])["type"])
      if (kind !== "text" && kind !== "thinking") return
      state.blocks += 1
      state.open = { kind, key: `block ${state.blocks}` }
      state.streamed.push(state.open)
      return
    }
    case "content_block_delta": {
      const delta = fieldsOf(event["delta"])
      const words = textOf(delta["text"]) + textOf(delta["thinking"])
      // Of arguments the whole comes with the message.
      if (words !== "" && state.open !== null) scribe.grow(state.open.key, state.open.kind, words)
      return
    }
    case "content_block_stop":
      if (state.open !== null) scribe.close(state.open.kind)
      state.open = null
      return
    case "message_delta":
    case "message_stop":
    case "ping":
      return
    default:
      scribe.pass(`stream_event ${type}`)
  }
}

function hearAssistant(scribe: Scribe, state: State, event: Fields): void {
  const message = fieldsOf(event["message"])
  const parent = event["parent_tool_use_id"]
  if (typeof parent === "string") return hearSubagent(scribe, state, parent, listOf(message["content"]))
  enterWhole(scribe, state, textOf(message["id"]))
  for (const block of listOf(message["content"])) hearBlock(scribe, state, block)
}

/** Its words are output of the call of the turn itself, however deep it stands; its calls are known by their names. */
function hearSubagent(scribe: Scribe, state: State, parent: string, blocks: readonly Fields[]): void {
  const call = state.within.get(parent) ?? parent
  for (const block of blocks) {
    const type = textOf(block["type"])
    if (type === "text") scribe.output(call, `${textOf(block["text"])}\n`)
    else if (type === "tool_use") {
      state.within.set(textOf(block["id"]), call)
      scribe.output(call, `[${textOf(block["name"])}]\n`)
    } else scribe.pass(`subagent ${type}`)
  }
}

function hearBlock(scribe: Scribe, state: State, block: Fields): void {
  const type = textOf(block["type"])
  switch (type) {
    case "text":
    case "thinking":
      return hearWhole(scribe, state, type, textOf(block[type]))
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return scribe.call(textOf(block["id"]), textOf(block["name"]), block["input"])
    case "redacted_thinking":
      return
    default:
      if (type.endsWith("tool_result")) return hearResult(scribe, block)
      scribe.pass(`assistant ${type}`)
  }
}

/** Words that came in deltas are known; what the whole has more is said, and where it differs what was said stands. */
function hearWhole(scribe: Scribe, state: State, kind: Kind, words: string): void {
  const isSame = (key: string): boolean => words.startsWith(scribe.known(key) ?? "")
  const at = state.streamed.findIndex((one) => one.kind === kind && (!state.isLeftOver || isSame(one.key)))
  const [known] = at < 0 ? [] : state.streamed.splice(at, 1)
  if (known !== undefined) scribe.growTo(known.key, kind, words)
  else scribe.say(kind, words)
  if (words !== "") scribe.close(kind)
}

/** Results come as a user's message; other words of the user are not this program's to tell. */
function hearUser(scribe: Scribe, state: State, event: Fields): void {
  const isSubagent = typeof event["parent_tool_use_id"] === "string"
  for (const block of listOf(fieldsOf(event["message"])["content"])) {
    if (block["type"] !== "tool_result") continue
    if (isSubagent || state.within.has(textOf(block["tool_use_id"]))) scribe.pass("subagent tool_result")
    else hearResult(scribe, block)
  }
}

function hearResult(scribe: Scribe, block: Fields): void {
  const text = contentText(block["content"])
  scribe.result(textOf(block["tool_use_id"]), block["is_error"] !== true, text)
}

function outcomeOf(event: Fields): Outcome {
  const subtype = textOf(event["subtype"])
  const errors = Array.isArray(event["errors"]) ? event["errors"].filter((one) => typeof one === "string") : []
  const words = [textOf(event["result"]), ...errors].filter((text) => text !== "").join("\n")
  if (subtype === "success" && event["is_error"] !== true) return { status: "completed", reason: null, words }
  return { status: "failed", reason: subtype === "error_max_turns" ? "step_limit" : "producer_failed", words }
}
