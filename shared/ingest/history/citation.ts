/**
 * citation.ts: converts the citations of a text block to links after its text. Pure.
 */

import { type Fields, toFields, toFieldsList, toText } from "../record-writer.ts"
import { findPublicUrl } from "./media-label.ts"

/** Maximum number of citations that are shown per block. Each is looked up in the block's text. */
const MAX_CITATIONS = 100

/**
 * Returns the sources of a text block as Markdown in parentheses; an empty string if the block has no sources or its
 * text already names all of them.
 *
 * Shapes: Anthropic's `citations` (web, document and search locations), OpenAI's `annotations` (`url_citation`,
 *         `file_citation`, `container_file_citation`).
 */
export function formatCitations(block: Fields): string {
  const text = toText(block["text"])
  const citations = [...toFieldsList(block["citations"]), ...toFieldsList(block["annotations"])]
  const sources = citations
    .slice(0, MAX_CITATIONS)
    .map(formatSource)
    .filter((source) => source.text !== "" && !text.includes(source.key))
  const unique = [...new Set(sources.map((source) => source.text))]
  return unique.length === 0 ? "" : ` (${unique.join(", ")})`
}

export function hasCitations(block: Fields): boolean {
  return toFieldsList(block["citations"]).length > 0
}

interface Source {
  readonly text: string
  /** If the block's text contains this string, the text already names the source. */
  readonly key: string
}

function formatSource(citation: Fields): Source {
  const fields = { ...citation, ...toFields(citation["url_citation"]) }
  const title = firstText(fields, "title", "document_title", "filename", "file_id")
  const url = findPublicUrl(fields["url"]) ?? findPublicUrl(fields["source"])
  if (url !== null) return { text: formatLink(title || url, url), key: url }
  const words = title || toText(fields["source"]) || toText(fields["url"])
  return { text: words, key: words }
}

/** Returns a Markdown link. Square brackets in its text are replaced, because they would end the link. */
export function formatLink(text: string, url: string): string {
  return `[${text.replace(/[[\]\n]/g, " ").trim()}](${url.replace(/[()<>\s]/g, encodeURIComponent)})`
}

function firstText(fields: Fields, ...names: readonly string[]): string {
  for (const name of names) if (toText(fields[name]) !== "") return toText(fields[name])
  return ""
}
