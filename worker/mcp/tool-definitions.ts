/**
 * tool-definitions.ts: reads the tools that an MCP server offers. Names, descriptions and schemas are bounded, and a
 * tool beyond the bounds is omitted. Source: SPEC MP3, MP4, MP16.
 */

import { isJsonObject, type Json, parseJson, toCanonicalJson } from "../../shared/json.ts"
import { MAX_TOOL_NAME_CHARS } from "../../shared/limits.ts"
import { computeHash, computeShortHash } from "../platform/crypto/sha256-hex.ts"
import { readToolUi } from "./tool-ui.ts"
import { MAX_MCP_TOOLS, type OfferedTool, REMOTE_TOOL_NAME } from "../settings/mcp-config.ts"

export const MAX_DESCRIPTION_CHARS = 4_096
/** Maximum length of a schema as JSON text, in characters. */
export const MAX_SCHEMA_CHARS = 16 * 1024
const MAX_SCHEMA_DEPTH = 16
const NAME_HASH_CHARS = 8

/** Returns the tools within the bounds, sorted by name, so that the server's order makes no difference. */
export async function readOfferedTools(server: string, listed: readonly unknown[]): Promise<OfferedTool[]> {
  const tools = new Map<string, OfferedTool>()
  for (const entry of listed.slice(0, MAX_MCP_TOOLS)) {
    const tool = await readTool(server, entry)
    if (tool !== null && !tools.has(tool.name)) tools.set(tool.name, tool)
  }
  const sorted = [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const slugs = new Set<string>()
  return Promise.all(
    sorted.map(async (tool) => {
      const slug = slugs.has(tool.slug) ? await createHashedSlug(server, tool.name) : tool.slug
      slugs.add(slug)
      return { ...tool, slug }
    }),
  )
}

/** Returns a hash that identifies the definitions of all tools. */
export async function computeRevision(tools: readonly OfferedTool[]): Promise<string> {
  return await computeShortHash(tools.map(({ hash }) => hash).join())
}

async function readTool(server: string, entry: unknown): Promise<OfferedTool | null> {
  if (!isJsonObject(entry)) return null
  const { name, description = "", inputSchema } = entry
  if (typeof name !== "string" || !REMOTE_TOOL_NAME.test(name)) return null
  if (typeof description !== "string" || description.length > MAX_DESCRIPTION_CHARS) return null
  const schema = readSchema(inputSchema)
  if (schema === null) return null
  const shown = removeHidden(description)
  const ui = readToolUi(entry)
  // Without an app, the hash is the same as in earlier releases, so that no tool has to be reviewed again.
  const hash = await computeHash(JSON.stringify([name, shown, schema, ...(Object.keys(ui).length === 0 ? [] : [ui])]))
  return { name, slug: await createSlug(server, name), description: shown, schema, hash, ...ui }
}

/**
 * Returns the schema as canonical JSON text. Returns null if the schema is too large or too deep, or refers to
 * something outside itself.
 */
function readSchema(value: unknown): string | null {
  if (!isJsonObject(value) || value["type"] !== "object") return null
  const text = removeHidden(JSON.stringify(value))
  const parsed = text.length > MAX_SCHEMA_CHARS ? undefined : parseJson(text, MAX_SCHEMA_DEPTH)
  return parsed === undefined || hasExternalReference(parsed) ? null : toCanonicalJson(parsed)
}

function hasExternalReference(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasExternalReference)
  if (!isJsonObject(value)) return false
  return Object.entries(value as { [key: string]: Json }).some(([key, inner]) =>
    (key === "$ref" || key === "$dynamicRef") && typeof inner === "string"
      ? !inner.startsWith("#")
      : hasExternalReference(inner),
  )
}

/** Removes characters that a model reads but an administrator can't see. Line breaks are kept. */
function removeHidden(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}]/gu, (character) => (character === "\n" ? "\n" : ""))
}

async function createSlug(server: string, name: string): Promise<string> {
  const slug = `${server}_${name.replace(/[^\w-]/g, "_")}`
  return slug.length > MAX_TOOL_NAME_CHARS ? await createHashedSlug(server, name) : slug
}

/** Creates the slug of a tool whose name is too long, or equals another name once special characters are replaced. */
async function createHashedSlug(server: string, name: string): Promise<string> {
  const slug = `${server}_${name.replace(/[^\w-]/g, "_")}`.slice(0, MAX_TOOL_NAME_CHARS - NAME_HASH_CHARS - 1)
  return `${slug}_${(await computeHash(name)).slice(0, NAME_HASH_CHARS)}`
}
