/**
 * mcp-result.ts: turns the result of an MCP tool into the data of a tool result. Pure.
 *
 * Everything that the server sent is nested in our own fields, so it can't be mistaken for an error, a source or a
 * trailer.
 */

import { isJsonObject, type Json } from "../../shared/json.ts"
import { cutText } from "../../shared/text/cut-text.ts"

/** At most this many parts of a result are read. */
const MAX_PARTS = 200
const MAX_LINK_CHARS = 2_048

export interface McpResult {
  readonly isError: boolean
  readonly data: { readonly [key: string]: Json }
}

/**
 * Converts a result. `text`: all text parts. `data`: the structured content. `links`: resources. `omitted`: the kinds
 * of parts that are not text.
 */
export function resultToData(result: unknown): McpResult {
  const { content, structuredContent, isError } = isJsonObject(result) ? result : {}
  const parts = (Array.isArray(content) ? content : []).slice(0, MAX_PARTS).filter(isJsonObject)
  const texts = parts.flatMap((part) => readText(part) ?? [])
  const links = parts.flatMap((part) => readLink(part) ?? [])
  const omitted = parts
    .filter((part) => readText(part) === null && readLink(part) === null)
    .map(({ type }) => String(type))
  return {
    isError: isError === true,
    data: {
      text: texts.join("\n"),
      ...(isJsonObject(structuredContent) && { data: structuredContent as Json }),
      ...(links.length > 0 && { links }),
      ...(omitted.length > 0 && { omitted: omitted.map((kind) => cutText(kind, 40)) }),
    },
  }
}

type Part = { readonly [key: string]: unknown }

function readText({ type, text, resource }: Part): string | null {
  if (type === "text") return typeof text === "string" ? text : null
  if (type !== "resource" || !isJsonObject(resource)) return null
  return typeof resource["text"] === "string" ? resource["text"] : null
}

/** Reads a link. The URI is data for the model, and nothing is fetched. */
function readLink({ type, uri, name }: Part): Json | null {
  if (type !== "resource_link" || typeof uri !== "string") return null
  return { uri: cutText(uri, MAX_LINK_CHARS), name: typeof name === "string" ? cutText(name, MAX_LINK_CHARS) : "" }
}
