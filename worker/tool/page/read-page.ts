/**
 * read-page.ts: reads a part of a page's text for the tool `fetch_page`, with the page's URL as a source.
 *
 * bytes → charset → text → part. Loaded on the first call. Source: SPEC BT5–BT7.
 */

import type { Json } from "../../../shared/json.ts"
import { cutText, findCutIndex } from "../../../shared/text/cut-text.ts"
import { createRefusal } from "../tool.ts"
import { type FetchedDocument, fetchDocument } from "./fetch-document.ts"
import type { PageEnv } from "./page-tool.ts"
import { type PageText, readHtml } from "./read-html.ts"
import { cleanPageText } from "./clean-page-text.ts"

/**
 * Maximum length of the text in one result, in UTF-16 code units. Text of this length fits into a card's data
 * (MAX_CARD_BYTES) in any script.
 */
export const MAX_PART_CHARS = 16_000
const MAX_TITLE_CHARS = 300
const MAX_EXCERPT_CHARS = 300
/** Number of bytes at the beginning of a page in which it must name its charset (HTML standard). */
const CHARSET_BYTES = 1024

type Answer = { readonly [key: string]: Json }

export interface PageRequest {
  readonly url: string
  /** Where the part begins, in code units. */
  readonly offset: number
  readonly env: PageEnv
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Reads a part of a page's text. Errors: those of the tool. */
export async function readPage({ url, offset, env, signal, timeoutMs }: PageRequest): Promise<Answer> {
  const fetched = await fetchDocument(url, env, signal, timeoutMs)
  if (!fetched.ok) {
    const { reason, details } = fetched.fault
    return reason === "address"
      ? createRefusal("tool_arguments", details)
      : { error: "The page can't be read.", details }
  }
  const page = readText(fetched.value)
  if (page.text === "") return { error: "The page has no readable text.", details: "It may need scripts to show any." }
  if (offset >= page.text.length && offset > 0)
    return createRefusal("tool_arguments", `"/offset" is beyond the end of the text (${page.text.length}).`)
  return createPart(fetched.value, page, offset)
}

function readText(document: FetchedDocument): PageText {
  const source = decodeBytes(document)
  if (document.isHtml) return readHtml(source)
  return { title: "", description: "", text: cleanPageText(source).trim() }
}

function createPart({ url, isCut }: FetchedDocument, { title, description, text }: PageText, offset: number): Answer {
  const site = new URL(url).hostname
  const start = findCutIndex(text, offset)
  const part = text.slice(start, start + findCutIndex(text.slice(start), MAX_PART_CHARS))
  const end = start + part.length
  const shownTitle = cutText(title, MAX_TITLE_CHARS) || site
  const excerpt = cutText(description || findExcerpt(text), MAX_EXCERPT_CHARS)
  return {
    url,
    title: shownTitle,
    site,
    excerpt,
    text: part,
    ...(end < text.length ? { next_offset: end } : {}),
    // The rest of the page was not fetched.
    ...(isCut && end === text.length ? { incomplete: true } : {}),
    sources: [{ url, title: shownTitle, quote: excerpt }],
  }
}

/** Returns the first paragraph that is longer than a label, on one line. */
function findExcerpt(text: string): string {
  const paragraphs = text.slice(0, MAX_PART_CHARS).split("\n\n")
  const found = paragraphs.find((line) => line.length > 60 && !line.startsWith("#")) ?? paragraphs[0] ?? ""
  return found.replace(/\s+/g, " ")
}

/** Decodes the text with the charset of the byte order mark, the header or the page, in this order; otherwise UTF-8. */
function decodeBytes({ bytes, charset, isHtml }: FetchedDocument): string {
  const [a, b] = bytes
  if (a === 0xff && b === 0xfe) return decode("utf-16le", bytes)
  if (a === 0xfe && b === 0xff) return decode("utf-16be", bytes)
  return decode(charset ?? (isHtml ? findDeclaredCharset(bytes) : null) ?? "utf-8", bytes)
}

function findDeclaredCharset(bytes: Uint8Array): string | null {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, CHARSET_BYTES))
  const name = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1]?.toLowerCase() ?? null
  // A page whose declaration of UTF-16 can be read as ASCII isn't encoded in UTF-16.
  return name?.startsWith("utf-16") === true ? "utf-8" : name
}

function decode(charset: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
