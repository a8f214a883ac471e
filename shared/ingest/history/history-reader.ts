/**
 * history-reader.ts: recognises values from other systems' conversation files and converts them to records.
 *
 * value of a line, or of a whole JSON document → READER → records → staging
 * The systems and their fields are listed in docs/import.md. A reader keeps the open answer, so each file, or each part
 * of a file, needs its own reader. Pure.
 */

import { cutText } from "../../text/cut-text.ts"
import { isJsonObject } from "../../json.ts"
import { MAX_TITLE_CHARS } from "../../limits.ts"
import { replaceLoneSurrogates } from "../../text/characters.ts"
import type { StreamRecord } from "../../protocol/record.ts"
import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { blockToText } from "./block-text.ts"
import { isChatGptConversation, listBranch, writeChatGptMessage } from "./chatgpt-export.ts"
import { isClaudeAiConversation, listChatMessages, writeChatMessage } from "./claude-ai-export.ts"
import { ClaudeCodeConverter, isClaudeCodeLine } from "./claude-code-session.ts"
import { ExecWriter, isExecEvent, isRolloutLine, writeRolloutLine } from "./codex-session.ts"
import { type Branch, HistoryWriter } from "./history-writer.ts"
import type { KindTotals } from "./kind-counts.ts"
import { isPiLine, writePiLine } from "./pi-session.ts"
import { isResponseItem, ResponseItemWriter } from "./response-item.ts"
import { isRoleMessage, writeRoleMessage } from "./role-message.ts"

export interface HistoryReader {
  /**
   * Returns the records of a value; null if the value is not part of another system's history. `name` names the value's
   * line in the file; a message without an id gets an id with this name.
   */
  readValue(value: unknown, name: string): readonly StreamRecord[] | null
  /** Returns the records that end the file. */
  end(): readonly StreamRecord[]
  /** Returns the title that the file gives the conversation; an empty string if it gives none. */
  readTitle(): string
  /** Returns the amount of content that could not be shown in its original form, by kind. */
  countKinds(): KindTotals
}

/** Converts a time, as text or in milliseconds since 1970, to ISO 8601 in UTC. Null if it is not a time. */
export type FormatTime = (time: string | number) => string | null

/**
 * Creates a reader for one file or one part of a file. Only the first part is certain to begin with a new message; a
 * later part may continue an answer.
 */
export function createHistoryReader(formatTime: FormatTime, isFirstPart = true): HistoryReader {
  return new FileReader(formatTime, isFirstPart)
}

/**
 * Returns the conversations in a data export from ChatGPT or Claude.ai. Returns an empty list if the value is not such
 * an export.
 */
export function listConversations(value: unknown): readonly Fields[] {
  const list = isJsonObject(value) ? value["conversations"] : value
  return Array.isArray(list) ? list.filter(isConversation) : []
}

function isConversation(value: unknown): value is Fields {
  return isChatGptConversation(value) || isClaudeAiConversation(value)
}

class FileReader implements HistoryReader {
  readonly #formatTime: FormatTime
  readonly #writer: HistoryWriter
  readonly #claudeCode: ClaudeCodeConverter
  readonly #items: ResponseItemWriter
  readonly #exec: ExecWriter

  constructor(formatTime: FormatTime, isFirstPart: boolean) {
    this.#formatTime = formatTime
    this.#writer = new HistoryWriter(isFirstPart)
    this.#claudeCode = new ClaudeCodeConverter(this.#writer, isFirstPart)
    this.#items = new ResponseItemWriter(this.#writer)
    this.#exec = new ExecWriter(this.#writer)
  }

  readValue(value: unknown, name: string): readonly StreamRecord[] | null {
    return this.#write(value, name) ? this.#writer.drainRecords() : null
  }

  end(): readonly StreamRecord[] {
    this.#exec.end()
    return this.#writer.end()
  }

  readTitle(): string {
    const title = this.#writer.title.replace(/\s+/g, " ").trim()
    return replaceLoneSurrogates(cutText(title, MAX_TITLE_CHARS))
  }

  countKinds(): KindTotals {
    return this.#writer.kinds.toTotals()
  }

  /** Writes a value. Returns false if the value is not part of another system's history. */
  #write(value: unknown, name: string): boolean {
    if (!isJsonObject(value)) return false
    return this.#writeDocument(value, name) || this.#writeLine(value, name)
  }

  /** Writes a whole conversation that is one JSON object. Returns false if the value is not such an object. */
  #writeDocument(value: Fields, name: string): boolean {
    if (isConversation(value)) this.#writer.title = toText(value["title"]) || toText(value["name"])
    if (isChatGptConversation(value)) return this.#writeBranch(listBranch(value), name, writeChatGptMessage)
    if (isClaudeAiConversation(value)) return this.#writeBranch(listChatMessages(value), name, writeChatMessage)
    const items = listInnerItems(value)
    if (items === null) return false
    this.#countOthers(toFieldsList(value["choices"]).length - 1)
    for (const [index, item] of items.entries()) {
      const itemName = `${name}-${index + 1}`
      if (!this.#writeLine(toFields(item), itemName)) this.#writeUnknown(toFields(item), itemName)
    }
    return true
  }

  #writeBranch(
    { messages, others }: Branch,
    name: string,
    write: (writer: HistoryWriter, message: Fields) => void,
  ): true {
    this.#countOthers(others)
    for (const [index, message] of messages.entries()) {
      this.#begin(message, `${name}-${index + 1}`)
      write(this.#writer, message)
    }
    return true
  }

  #countOthers(messages: number): void {
    if (messages > 0) this.#writer.kinds.addKnown("branch", messages)
  }

  /** Writes one line of a file, or one entry of a list. Returns false if no known system writes such lines. */
  #writeLine(value: Fields, name: string): boolean {
    if (isApiMessage(value)) {
      this.#begin(value, name)
      writeRoleMessage(this.#writer, value)
    } else if (isPiLine(value)) {
      this.#begin(value, name)
      writePiLine(this.#writer, value)
    } else if (isClaudeCodeLine(value)) {
      this.#begin(value, name)
      this.#claudeCode.writeLine(value)
    } else if (isRolloutLine(value)) {
      this.#begin(value, name)
      writeRolloutLine(this.#writer, this.#items, value)
    } else if (isExecEvent(value) || (this.#exec.isActive() && value["type"] === "error")) {
      this.#begin(value, name)
      this.#exec.writeEvent(value)
    } else if (isResponseItem(value)) {
      this.#begin(value, name)
      this.#items.writeItem(value)
    } else return false
    return true
  }

  #writeUnknown(item: Fields, name: string): void {
    this.#begin(item, name)
    this.#writer.beginStep("")
    this.#writer.writePart("text", blockToText(this.#writer.kinds, item))
  }

  #begin(value: Fields, name: string): void {
    this.#writer.beginMessage(name, this.#readTime(value))
  }

  /** Returns the time of a value, which may be in ISO 8601 or in seconds or milliseconds since 1970. */
  #readTime(value: Fields): string | null {
    const time =
      value["timestamp"] ??
      value["created_at"] ??
      value["createdAt"] ??
      value["create_time"] ??
      toFields(value["message"])["timestamp"]
    if (typeof time === "string") return this.#formatTime(time)
    if (typeof time !== "number" || !(time > 0 && time < LAST_MS)) return null
    return this.#formatTime(time < FIRST_MS ? Math.round(time * 1000) : time)
  }
}

/**
 * Returns whether a value is a message from a model API. A message with a role and a type counts only if it is a
 * response from Anthropic's API, which names a model; OpenAI's items name none.
 */
function isApiMessage(value: Fields): boolean {
  return isRoleMessage(value) && (value["type"] === undefined || "stop_reason" in value || "model" in value)
}

/** Numbers below this are seconds: as milliseconds, they would be times in 1973 or earlier. */
const FIRST_MS = 1e11
/** This is in the year 5138. Larger numbers are not times. */
const LAST_MS = 1e14

/** Returns the messages or items inside a request, a response or an export of a model API. Null if there are none. */
function listInnerItems(value: Fields): readonly unknown[] | null {
  const { messages, input, output, choices } = value
  if (Array.isArray(messages) && messages.some(isRoleMessage)) return [...messages, ...readChoices(choices)]
  if (Array.isArray(choices)) {
    const answers = readChoices(choices)
    return answers.some(isRoleMessage) ? answers : null
  }
  const items = [...toItems(input), ...toItems(output)]
  return value["role"] === undefined && value["type"] === undefined && items.some(isResponseItem) ? items : null
}

/** Returns the message of the first choice: the other choices are alternatives to it. */
function readChoices(choices: unknown): readonly unknown[] {
  const message = toFieldsList(choices)[0]?.["message"]
  return message === undefined ? [] : [message]
}

/** Returns the items of an input, which may also be plain text, or messages without a type. */
function toItems(items: unknown): readonly unknown[] {
  if (typeof items === "string" && items !== "") return [{ role: "user", content: items }]
  return toFieldsList(items)
}
