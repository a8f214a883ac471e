/**
 * chat-history.ts: converts a history of `{role, content, parts?}` messages into records (SPEC RE11).
 *
 * Ordered blocks (`parts`, `contentBlocks`, or `content` as a list) keep their order, with each result after its call.
 * A message that has only a `content` string becomes its thinking followed by one text. Pure.
 */

import { checkPublicUrl } from "../text/public-url.ts"
import type { StreamRecord } from "../protocol/record.ts"

type Fields = Record<string, unknown>

/** Whether a value has the shape of a history message. */
export function isHistoryMessage(value: unknown): value is Fields {
  return isFields(value) && typeof value["role"] === "string" && value["type"] === undefined
}

/**
 * The records of one message.
 *
 * Shapes  ({role, content, …}, its number in the file) → StreamRecord[]; none for roles that are never shown (system).
 * Errors  none: an unknown block is skipped.
 * Source  SPEC RE11.
 */
export function historyToRecords(message: Fields, n: number | string): StreamRecord[] {
  const responseId = toNonEmptyText(message["id"]) ?? `imported-${n}`
  const timestamp =
    toNonEmptyText(message["timestamp"]) ??
    toNonEmptyText(message["created_at"]) ??
    toNonEmptyText(message["createdAt"])
  const base = { responseId, ...(timestamp === null ? {} : { timestamp }) }
  switch (message["role"]) {
    case "user":
    case "human":
      return [{ type: "user_message", ...base, text: readPlainText(message) }]
    case "assistant":
    case "model":
      return [...answerToRecords(message, base), { type: "assistant_message", ...base, text: "" }]
    case "tool":
      return toolMessageToRecords(message)
    default:
      return []
  }
}

type Base = Pick<StreamRecord, "timestamp" | "responseId">

function answerToRecords(message: Fields, base: Base): StreamRecord[] {
  const blocks = findBlocks(message)
  if (blocks === null) return flatMessageToRecords(message, base)
  const results = readResults(message)
  return blocks.flatMap((block) => blockToRecords(block, base, results))
}

/** A message without ordered blocks: its thinking, then its text, then its calls. */
function flatMessageToRecords(message: Fields, base: Base): StreamRecord[] {
  const thinking = toNonEmptyText(message["thinking"]) ?? toNonEmptyText(message["reasoning"])
  const text = readPlainText(message)
  return [
    ...(thinking === null ? [] : thinkingToRecords(thinking, base)),
    ...(text === "" ? [] : textToRecords(text, base)),
    ...toFieldsList(message["tool_calls"]).flatMap((call) =>
      blockToRecords({ ...call, type: "tool_call" }, base, new Map()),
    ),
  ]
}

function blockToRecords(block: Fields, base: Base, results: ReadonlyMap<string, Fields>): StreamRecord[] {
  switch (block["type"]) {
    case "text":
    case "output_text":
      return textToRecords(toNonEmptyText(block["text"]) ?? "", base)
    case "thinking":
    case "reasoning":
      return thinkingToRecords(toNonEmptyText(block["thinking"]) ?? toNonEmptyText(block["text"]) ?? "", base)
    case "tool_call":
    case "toolCall":
    case "tool_use": {
      const call = readCall(block)
      const result = results.get(call.callId)
      return [
        { type: "tool_call", ...base, ...call },
        { type: "tool_call_start", ...base, ...call },
        ...(result === undefined ? [] : [resultToRecord(call.callId, result, base)]),
      ]
    }
    case "tool_result":
    case "toolResult":
      return [resultToRecord(readCallId(block), block, base)]
    default:
      return textToRecords(mediaBlockToText(block) ?? "", base)
  }
}

function textToRecords(text: string, base: Base): StreamRecord[] {
  return text === ""
    ? []
    : [
        { type: "text_delta", ...base, delta: text },
        { type: "text_done", ...base },
      ]
}

function thinkingToRecords(text: string, base: Base): StreamRecord[] {
  if (text === "") return []
  return [
    { type: "thinking_start", ...base },
    { type: "thinking_delta", ...base, delta: text },
    { type: "thinking_done", ...base },
  ]
}

/** A result in a message of its own belongs to the open answer. */
function toolMessageToRecords(message: Fields): StreamRecord[] {
  return [resultToRecord(readCallId(message), message, {})]
}

function readCall(block: Fields): { callId: string; toolName: string; arguments: string } {
  const source = isFields(block["function"]) ? block["function"] : block
  const args = source["arguments"] ?? source["input"] ?? source["args"] ?? {}
  return {
    callId: readCallId(block),
    toolName: toNonEmptyText(source["name"]) ?? toNonEmptyText(source["toolName"]) ?? "tool",
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  }
}

function resultToRecord(callId: string, result: Fields, base: Base): StreamRecord {
  const isError = result["is_error"] === true || result["isError"] === true
  const content = result["content"] ?? result["result"] ?? result["output"] ?? ""
  const text = toFieldsList(content).length > 0 ? readPlainText({ content }) : content
  const error = isError
    ? { error: { code: "tool_failed", message: typeof text === "string" ? text : "The tool failed." } }
    : {}
  return { type: "tool_result", ...base, callId, ok: !isError, result: text, ...error }
}

function readCallId(block: Fields): string {
  for (const name of ["tool_call_id", "toolCallId", "tool_use_id", "callId", "id"]) {
    const id = toNonEmptyText(block[name])
    if (id !== null) return id
  }
  return "call"
}

/** The ordered blocks of a message, from any of the fields that systems use. Null if there are none. */
function findBlocks(message: Fields): readonly Fields[] | null {
  const metadata = isFields(message["metadata"]) ? message["metadata"] : {}
  for (const blocks of [message["parts"], message["contentBlocks"], metadata["contentBlocks"], message["content"]]) {
    if (Array.isArray(blocks) && blocks.some(isFields)) return toFieldsList(blocks)
  }
  return null
}

/** The results of a message, by the id of their call. */
function readResults(message: Fields): Map<string, Fields> {
  const metadata = isFields(message["metadata"]) ? message["metadata"] : {}
  const results = message["toolResults"] ?? metadata["toolResults"]
  if (Array.isArray(results)) return new Map(toFieldsList(results).map((result) => [readCallId(result), result]))
  if (!isFields(results)) return new Map()
  return new Map(
    Object.entries(results).map(([id, result]) => [id, isFields(result) ? result : { content: result }] as const),
  )
}

/** The text of a message, whether `content` is a string or a list of blocks. */
function readPlainText(message: Fields): string {
  const { content } = message
  if (typeof content === "string") return content
  return toFieldsList(content)
    .flatMap((block) => toNonEmptyText(block["text"]) ?? mediaBlockToText(block) ?? [])
    .join("\n\n")
}

/** Block types that hold a file in several systems, with the kind of file. */
const MEDIA_BLOCKS: Readonly<Record<string, string>> = {
  image: "image",
  image_url: "image",
  input_image: "image",
  output_image: "image",
  audio: "audio",
  input_audio: "audio",
  video: "video",
  video_url: "video",
  file: "file",
  input_file: "file",
  document: "file",
}

/** A file block becomes a text label with its kind, name and address. Nothing is fetched. Null if it is not a file. */
function mediaBlockToText(block: Fields): string | null {
  const kind = MEDIA_BLOCKS[toNonEmptyText(block["type"]) ?? ""]
  if (kind === undefined) return null
  const candidates = [block["image_url"], block["video_url"], block["file_url"], block["source"], block["file"], block]
  const objects = candidates.flatMap((place) => (isFields(place) ? [place] : []))
  const name = objects
    .flatMap((place) => toNonEmptyText(place["filename"]) ?? toNonEmptyText(place["title"]) ?? [])
    .at(0)
  const urls = [...candidates, ...objects.map((place) => place["url"])].flatMap((url) => toNonEmptyText(url) ?? [])
  const url = urls.map((text) => checkPublicUrl(text)).find((checked) => checked.ok)
  return `[${[kind, name, url?.ok === true ? url.value.href : undefined].filter((word) => word !== undefined).join(" ")}]`
}

function toFieldsList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

function toNonEmptyText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
