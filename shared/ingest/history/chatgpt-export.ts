/**
 * chatgpt-export.ts: converts a conversation from ChatGPT's data export (`conversations.json`).
 *
 * `mapping` is a tree of nodes; the branch that ends at `current_node` is the conversation. Pure.
 */

import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { isJsonObject, parseJson } from "../../json.ts"
import { canvasToText, contentToParagraphs, getBlockType, type TextFormat } from "./block-text.ts"
import { formatLink } from "./citation.ts"
import type { Branch, HistoryWriter } from "./history-writer.ts"
import { findPublicUrl, formatMediaLabel } from "./media-label.ts"
import { valueToJson } from "./value-to-json.ts"

/** Maximum number of references that are shown per message. The markers of any others are removed. */
const MAX_REFERENCES = 200

/** A marker in the text for a reference: a word and ids between private-use characters. */
const MARK = /( ?)(\ue200[^\ue200\ue201]*\ue201)/g

export function isChatGptConversation(value: unknown): value is Fields {
  return isJsonObject(value) && isJsonObject(value["mapping"])
}

/** Returns the messages of the current branch, in order. Cost: linear in the size of the file. */
export function listBranch({ mapping, current_node }: Fields): Branch {
  const nodes = toFields(mapping)
  const branch: Fields[] = []
  const visited = new Set<string>()
  let id = toText(current_node) || findLastLeaf(nodes)
  while (Object.hasOwn(nodes, id) && !visited.has(id)) {
    visited.add(id)
    const node = toFields(nodes[id])
    if (isJsonObject(node["message"])) branch.push(node["message"])
    id = toText(node["parent"])
  }
  const total = Object.values(nodes).filter((node) => isJsonObject(toFields(node)["message"])).length
  return { messages: branch.reverse(), others: total - branch.length }
}

/** Returns the last node in the file that has no children, for a file without a current node. */
function findLastLeaf(nodes: Fields): string {
  const ids = Object.keys(nodes)
  return ids.findLast((id) => toArray(toFields(nodes[id])["children"]).length === 0) ?? ""
}

export function writeChatGptMessage(writer: HistoryWriter, message: Fields): void {
  const role = toText(toFields(message["author"])["role"])
  const content = toFields(message["content"])
  const type = toText(content["content_type"])
  if (isHidden(message, role, type)) return isEmpty(content) ? undefined : writer.kinds.addKnown("system")
  if (role === "user") return writer.writeQuestion(readQuestion(writer, message, content), toText(message["id"]))
  const id = toText(message["id"])
  if (role === "tool") return writeToolMessage(writer, message, content)
  writer.beginStep(id, id)
  if (type === "thoughts") return writeThoughts(writer, content)
  // The recap, for example "Thought for 12 seconds", is left out: the thoughts themselves precede it.
  if (type === "reasoning_recap") return
  const recipient = toText(message["recipient"])
  if (recipient !== "" && recipient !== "all") return writeCall(writer, recipient, content)
  writer.writePart("text", replaceReferences(readText(writer, content, "markdown"), toFields(message["metadata"])))
  if (message["status"] === "in_progress") writer.setOutcome({ status: "interrupted", reason: null })
}

function isHidden({ metadata }: Fields, role: string, type: string): boolean {
  const isContext = type === "user_editable_context" || type === "model_editable_context"
  return role === "system" || isContext || toFields(metadata)["is_visually_hidden_from_conversation"] === true
}

function isEmpty({ parts, text }: Fields): boolean {
  return toText(text) === "" && toArray(parts).every((part) => part === "")
}

/** Returns the text of a message with any type of content. */
function readText(writer: HistoryWriter, content: Fields, format: TextFormat): string {
  const { content_type: type, parts, text, result, content: inner } = content
  if (Array.isArray(parts)) return contentToParagraphs(writer.kinds, parts.map(readPart), format)
  if (type === "code" || type === "execution_output" || type === "system_error" || type === "computer_output") {
    return toText(text) || toText(content["name"])
  }
  if (type === "tether_browsing_display") return toText(result) || toText(content["summary"])
  if (typeof text === "string" && type === "text") return text
  return contentToParagraphs(writer.kinds, typeof inner === "string" ? inner : content, format)
}

/** Reduces live audio and video to the audio. The transcript of the speech is a separate part. */
function readPart(part: unknown): unknown {
  const fields = toFields(part)
  const audio = toFields(fields["audio_asset_pointer"])
  return getBlockType(fields) === "real_time_user_audio_video_asset_pointer" &&
    isJsonObject(fields["audio_asset_pointer"])
    ? { ...audio, type: "audio" }
    : part
}

/**
 * Returns the question with a label for each attached file. Images need none: they are already among the question's
 * parts.
 */
function readQuestion(writer: HistoryWriter, { metadata }: Fields, content: Fields): string {
  const files = toFieldsList(toFields(metadata)["attachments"]).filter(
    (file) => !toText(file["mime_type"] ?? file["mimeType"]).startsWith("image/"),
  )
  const labels = files.map((file) => formatMediaLabel("file", file))
  if (files.length > 0) writer.kinds.addKnown("file", files.length)
  return [readText(writer, content, "plain"), ...labels].filter((text) => text !== "").join("\n\n")
}

function writeThoughts(writer: HistoryWriter, content: Fields): void {
  const { thoughts } = content
  const texts = (Array.isArray(thoughts) ? thoughts : [thoughts]).map(formatThought)
  writer.writePart("thinking", texts.filter((text) => text !== "").join("\n\n"))
}

/** Returns the text of a thought, which is a string or has a summary and content. */
function formatThought(thought: unknown): string {
  const { summary, content } = toFields(thought)
  return [toText(thought), toText(summary), toText(content)].filter((text) => text !== "").join("\n\n")
}

/** Writes a message to a tool as a call. ChatGPT's calls have no ids; the next message from that tool is the result. */
function writeCall(writer: HistoryWriter, recipient: string, content: Fields): void {
  const args = readText(writer, content, "plain")
  const canvas = recipient === "canmore.create_textdoc" ? parseJson(args) : null
  if (!isJsonObject(canvas)) return writer.writeCall("", recipient, args === "" ? "{}" : toArgs(args))
  const { content: text, type, ...head } = canvas
  writer.writeCall("", recipient, { ...head, type })
  const language = toText(type).replace(/^(?:code\/|document$)/, "")
  writer.writePart("text", canvasToText(writer.kinds, { title: canvas["name"], content: text, language }))
}

/** Returns the arguments as JSON. Code for an interpreter is not JSON, so it becomes the field `input`. */
function toArgs(text: string): string {
  return isJsonObject(parseJson(text)) ? text : valueToJson({ input: text })
}

function writeToolMessage(writer: HistoryWriter, message: Fields, content: Fields): void {
  const toolName = toText(toFields(message["author"])["name"])
  const text = readText(writer, content, "plain")
  const hasFailed = content["content_type"] === "system_error"
  const error = hasFailed ? { code: "tool_failed", message: text.split("\n", 1)[0] ?? "" } : null
  writer.writeResult({ callId: "", toolName, text, error, size: null })
}

/**
 * Replaces each marker of a reference in the text with a link, or removes it.
 *
 * The text is read once and each reference is used once, so the length of the result is linear in the size of the
 * message.
 */
function replaceReferences(text: string, metadata: Fields): string {
  const unused = new Map<string, Fields[]>()
  for (const reference of toFieldsList(metadata["content_references"]).slice(0, MAX_REFERENCES)) {
    const mark = toText(reference["matched_text"])
    unused.set(mark, [...(unused.get(mark) ?? []), reference])
  }
  return text.replace(MARK, (_, space: string, mark: string) => {
    const reference = unused.get(mark)?.shift()
    return reference === undefined ? space : formatReference(reference, space)
  })
}

/** Returns a reference's links in parentheses, or its text if it has no links. */
function formatReference(reference: Fields, space: string): string {
  const items = [...toFieldsList(reference["items"]), reference]
  const links = items.flatMap(({ url, title }) => {
    const href = findPublicUrl(url)
    return href === null ? [] : [formatLink(toText(title) || href, href)]
  })
  if (links.length > 0) return ` (${[...new Set(links)].join(", ")})`
  const alt = toText(reference["alt"])
  return alt === "" ? "" : space + alt
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
