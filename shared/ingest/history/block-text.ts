/**
 * block-text.ts: converts a content block from any system to text: prose, a label, a document, or the block's JSON.
 *
 * No block disappears: an unknown block is shown with its type (SPEC IH7). Pure.
 */

import { isJsonObject } from "../../json.ts"
import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { formatCitations, formatLink } from "./citation.ts"
import { KindCounts } from "./kind-counts.ts"
import { findPublicUrl, formatLabel, formatMediaLabel, getMediaKind } from "./media-label.ts"
import { valueToReadableJson } from "./value-to-json.ts"

/** Maximum depth of block lists inside blocks. Anything deeper is shown as JSON. */
const MAX_BLOCK_DEPTH = 8

/** Maximum length of the JSON that is shown for an unknown block, in UTF-16 code units. */
const MAX_UNKNOWN_CHARS = 4_000

/** Block types whose `text` is prose. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["text", "output_text", "input_text", "summary_text", "markdown"])

/** Types of blocks with a document that the other system shows next to the conversation. */
const CANVAS_TYPES: ReadonlySet<string> = new Set(["canvas", "artifact", "textdoc"])

export function isTextBlock(block: Fields): boolean {
  return TEXT_TYPES.has(getBlockType(block)) || (getBlockType(block) === "" && typeof block["text"] === "string")
}

/** Returns the type of a block. ChatGPT calls it `content_type`. */
export function getBlockType(block: Fields): string {
  return toText(block["type"]) || toText(block["content_type"])
}

/** How the text is shown: questions and tool results as plain text, answers as Markdown. */
export type TextFormat = "markdown" | "plain"

/** Returns an entry of a content list as a block. A string or a number becomes a text block. */
export function toBlock(entry: unknown): Fields {
  const isPlain = typeof entry === "string" || typeof entry === "number"
  return isPlain ? { type: "text", text: String(entry) } : toFields(entry)
}

/** Returns the text of a block. The text is empty only if the block is. */
export function blockToText(kinds: KindCounts, block: Fields, format: TextFormat = "markdown", depth = 0): string {
  const type = getBlockType(block)
  if (depth > MAX_BLOCK_DEPTH) return valueToReadableJson(block, MAX_UNKNOWN_CHARS)
  if (isTextBlock(block)) return contentToParagraphs(kinds, block["text"], format, depth + 1) + formatCitations(block)
  if (CANVAS_TYPES.has(type)) return canvasToText(kinds, block, format)
  const kind = getMediaKind(type)
  if (kind !== null) {
    const document = documentToText(kinds, block, format, depth)
    if (document !== null) return document
    kinds.addKnown(kind)
    return formatMediaLabel(kind, block)
  }
  switch (type) {
    case "refusal":
      return toText(block["refusal"])
    case "audio_transcription":
      return toText(block["text"])
    case "citation":
    case "search_result":
    case "web_search_result":
    case "tether_quote":
      return sourceToText(kinds, block, format, depth)
    case "resource":
      return resourceToText(kinds, block, format)
    default:
      return unknownToText(kinds, block, type, format)
  }
}

/** Returns the text of a list of blocks and plain strings, one paragraph per entry. */
export function contentToParagraphs(
  kinds: KindCounts,
  content: unknown,
  format: TextFormat = "markdown",
  depth = 0,
): string {
  if (typeof content === "string" || typeof content === "number") return String(content)
  if (isJsonObject(content)) return blockToText(kinds, content, format, depth)
  if (!Array.isArray(content)) return ""
  return content
    .map((block: unknown) => blockToText(kinds, toBlock(block), format, depth))
    .filter((text) => text !== "")
    .join("\n\n")
}

/** Returns an answer's block as Markdown, without counting its kind. For programs' live output. */
export function blockToMarkdown(block: Fields): string {
  return blockToText(new KindCounts(), block)
}

/** Returns the text of a result in a program's live output. */
export function contentToText(content: unknown): string {
  return contentToParagraphs(new KindCounts(), content, "plain")
}

/** Converts a document that the other system shows in a separate view to a label and a code block. */
export function canvasToText(kinds: KindCounts, block: Fields, format: TextFormat = "markdown"): string {
  kinds.addKnown("canvas")
  const title = toText(block["title"]) || toText(block["name"])
  const text = toText(block["content"]) || toText(block["html"]) || toText(block["text"]) || toText(block["code"])
  const language = toText(block["language"]) || (toText(block["html"]) === "" ? "" : "html")
  const label = formatLabel("canvas", title)
  return text === "" ? label : `${label}\n\n${formatCode(text, language, format)}`
}

/** Returns the text as a code block with a fence that is longer than any run of backticks in the text. */
function formatCode(text: string, language: string, format: TextFormat): string {
  if (format === "plain") return text
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language.replace(/[^\w+#.-]/g, "")}\n${text}\n${fence}`
}

/** Returns the text of a document block; null if the block does not contain the document's text. */
function documentToText(kinds: KindCounts, block: Fields, format: TextFormat, depth: number): string | null {
  const source = toFields(block["source"])
  const text =
    (source["type"] === "text" ? toText(source["data"]) : "") ||
    (source["type"] === "content" ? contentToParagraphs(kinds, source["content"], "plain", depth + 1) : "") ||
    toText(block["extracted_content"])
  if (text === "") return null
  kinds.addKnown("document")
  const name = toText(block["title"]) || toText(block["file_name"])
  return `${formatLabel("document", name)}\n\n${formatCode(text, "", format)}`
}

/** Returns the URL, title and text of a source block. */
function sourceToText(kinds: KindCounts, block: Fields, format: TextFormat, depth: number): string {
  const url = findPublicUrl(block["url"]) ?? findPublicUrl(block["source"])
  const title = toText(block["title"]) || toText(block["cited_text"]) || toText(block["source"])
  const link = format === "plain" ? `${title} ${url}`.trim() : formatLink(title || (url ?? ""), url ?? "")
  const head = url === null ? title : link
  const text = contentToParagraphs(kinds, block["content"] ?? block["text"] ?? "", format, depth + 1)
  return [head, text].filter((line) => line !== "").join("\n\n")
}

/** Returns the text of a file that a tool embeds in its result (Model Context Protocol). */
function resourceToText(kinds: KindCounts, block: Fields, format: TextFormat): string {
  const resource = toFields(block["resource"])
  const text = toText(resource["text"])
  if (text === "") {
    kinds.addKnown("file")
    return formatMediaLabel("file", { ...resource, name: toText(resource["uri"]) })
  }
  kinds.addKnown("document")
  return `${formatLabel("document", toText(resource["uri"]))}\n\n${formatCode(text, "", format)}`
}

function unknownToText(kinds: KindCounts, block: Fields, type: string, format: TextFormat): string {
  if (Object.keys(block).length === 0) return ""
  kinds.addUnknown("block", type)
  const label = formatLabel(type || "block")
  const text = toText(block["text"]) || toText(block["content"])
  if (text !== "") return `${label}\n\n${text}`
  const { type: _, ...fields } = block
  const json = valueToReadableJson(fields, MAX_UNKNOWN_CHARS)
  return toFieldsList([fields]).length === 0 || json === "{}"
    ? label
    : `${label}\n\n${formatCode(json, "json", format)}`
}
