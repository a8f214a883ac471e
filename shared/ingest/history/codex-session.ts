/**
 * codex-session.ts: converts Codex's lines to records: a rollout file, or the output of `codex exec --json`.
 *
 * Each line of a rollout is `{timestamp, type, payload}`. The `response_item` lines are items of the Responses API and
 * contain the whole conversation; the `event_msg` lines repeat it for the terminal. Pure.
 */

import { isJsonObject } from "../../json.ts"
import { createCodexMapper } from "../codex-stream.ts"
import { type Fields, type Mapper, toFields, toText } from "../record-writer.ts"
import { toBlock } from "./block-text.ts"
import type { HistoryWriter } from "./history-writer.ts"
import { isResponseItem, type ResponseItemWriter } from "./response-item.ts"

const ROLLOUT_LINES: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
])

const EXEC_EVENT = /^(?:thread|turn|item)\.[a-z.]+$/

/**
 * Matches the start of text that Codex sends to the model in the user's name. Such text ends with the matching closing
 * tag.
 */
const INJECTED =
  /^(?:# AGENTS\.md instructions[^\n]*\s+)?<(environment_context|user_instructions|INSTRUCTIONS|permissions instructions|collaboration_mode|skills?_instructions|skill|turn_aborted|subagent_notification|user_shell_command|personality_spec|model_switch|apps_instructions|plugins_instructions)\b/

export function isRolloutLine(value: unknown): value is Fields {
  return isJsonObject(value) && ROLLOUT_LINES.has(toText(value["type"])) && isJsonObject(value["payload"])
}

export function isExecEvent(value: unknown): value is Fields {
  return isJsonObject(value) && EXEC_EVENT.test(toText(value["type"]))
}

/** Writes a line of a rollout. */
export function writeRolloutLine(writer: HistoryWriter, items: ResponseItemWriter, line: Fields): void {
  const payload = toFields(line["payload"])
  switch (line["type"]) {
    case "response_item":
      if (!isResponseItem(payload)) return writer.kinds.addUnknown("line", toText(payload["type"]))
      return payload["role"] === "user" ? writeUserItem(writer, items, payload) : items.writeItem(payload)
    case "event_msg":
      if (payload["type"] === "turn_aborted") writer.cancelAnswer()
      if (payload["type"] === "error" && writer.hasOpenAnswer()) {
        writer.setOutcome({ status: "failed", reason: "producer_failed", text: toText(payload["message"]) })
      }
      return
    case "compacted":
      return writer.kinds.addKnown("system")
  }
}

/** Writes only the blocks of a user message that the user actually wrote. */
function writeUserItem(writer: HistoryWriter, items: ResponseItemWriter, item: Fields): void {
  const blocks = contentToBlocks(item["content"])
  const own = blocks.filter((block) => !isInjected(toText(block["text"])))
  if (own.length < blocks.length) writer.kinds.addKnown("system", blocks.length - own.length)
  if (own.length > 0 || blocks.length === 0) items.writeItem({ ...item, content: own })
}

function contentToBlocks(content: unknown): Fields[] {
  return Array.isArray(content) ? content.map(toBlock) : [toBlock(content)]
}

function isInjected(text: string): boolean {
  const [, tag] = INJECTED.exec(text.trimStart()) ?? []
  return tag !== undefined && text.trimEnd().endsWith(`</${tag}>`)
}

/** Writes the events of `codex exec --json`, which are one answer without its question. */
export class ExecWriter {
  readonly #writer: HistoryWriter
  #mapper: Mapper | null = null

  constructor(writer: HistoryWriter) {
    this.#writer = writer
  }

  /** Returns whether events have been written. If so, an `error` line is also such an event. */
  isActive(): boolean {
    return this.#mapper !== null
  }

  writeEvent(event: Fields): void {
    this.#mapper ??= createCodexMapper()
    this.#writer.appendRecords(this.#mapper.mapEvent(event))
  }

  end(): void {
    if (this.#mapper === null) return
    this.#writer.appendRecords(this.#mapper.end(null))
    for (const [type, count] of this.#mapper.unknown) {
      for (let i = 0; i < count; i++) this.#writer.kinds.addUnknown("line", type)
    }
  }
}
