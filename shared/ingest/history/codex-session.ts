/**
 * codex-session.ts: writes the lines of Codex: a rollout file, or the output of `codex exec --json`.
 *
 * A rollout has `{timestamp, type, payload}`. Its `response_item` lines are items of the Responses API and hold the whole
 * conversation; its `event_msg` lines repeat it for the terminal. Pure.
 */

import { createCodexMapper } from "../codex-stream.ts"
import { type Fields, isFields, type Mapper, toFields, toFieldsList, toText } from "../record-writer.ts"
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

/** Messages that Codex writes to the model in the user's name. */
const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|INSTRUCTIONS|permissions instructions|collaboration_mode|skills?_instructions|skill|turn_aborted|subagent_notification|user_shell_command|personality_spec|model_switch|apps_instructions|plugins_instructions)\b|# AGENTS\.md instructions)/

export function isRolloutLine(value: unknown): value is Fields {
  return isFields(value) && ROLLOUT_LINES.has(toText(value["type"])) && isFields(value["payload"])
}

export function isExecEvent(value: unknown): value is Fields {
  return isFields(value) && EXEC_EVENT.test(toText(value["type"]))
}

/** Writes a line of a rollout. */
export function writeRolloutLine(writer: HistoryWriter, items: ResponseItemWriter, line: Fields): void {
  const payload = toFields(line["payload"])
  switch (line["type"]) {
    case "response_item":
      if (!isResponseItem(payload)) return writer.kinds.addUnknown("line", toText(payload["type"]))
      if (payload["role"] === "user" && INJECTED.test(readFirstText(payload))) return writer.kinds.addKnown("system")
      return items.writeItem(payload)
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

function readFirstText({ content }: Fields): string {
  return toText(toFieldsList(content)[0]?.["text"])
}

/** Writes the events of `codex exec --json`, which are one answer without its question. */
export class ExecWriter {
  readonly #writer: HistoryWriter
  #mapper: Mapper | null = null

  constructor(writer: HistoryWriter) {
    this.#writer = writer
  }

  /** Whether events have been written. Then `error` is one of them, too. */
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
