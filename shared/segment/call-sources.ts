/**
 * call-sources.ts: the sources of an answer: the pages listed in the results of its tool calls.
 *
 * stored results → SOURCES → segments at the end of the answer
 * Like a card's data, sources come only from stored results, never from the model's text (SPEC SC1). Pure.
 */

import { isJsonObject, type Json, parseJson } from "../json.ts"
import { MAX_CARD_BYTES, MAX_URL_CHARS } from "../limits.ts"
import { splitResult } from "../protocol/card-cue.ts"
import { listCalls, type Message } from "../protocol/message.ts"
import type { Op, Segment } from "../protocol/segment.ts"
import { cutText } from "../text/cut-text.ts"
import { checkPublicUrl } from "../text/public-url.ts"

export type SourceSegment = Extract<Segment, { type: "source" }>

/** Maximum number of sources per answer. */
export const MAX_SOURCES = 64
/** Maximum number of entries that are read per result. */
const MAX_READ_SOURCES = 256
/** Lengths in UTF-16 code units. */
export const MAX_SOURCE_TITLE_CHARS = 300
export const MAX_SOURCE_QUOTE_CHARS = 1_000

/** Control characters, including those that change the direction of the text around them. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/**
 * Returns the sources of one result: those entries `{url, title?, quote?}` of the result's field `sources` that have a
 * public URL.
 *
 * Shapes: the stored result → sources in the result's order. The title of a source without one is the URL's host.
 * Errors: none. Invalid entries are left out.
 * Cost: linear in the length of the result. A result whose data is larger than MAX_CARD_BYTES has no sources.
 * Source: SPEC SC1, SC2.
 */
export function readCallSources(result: string): readonly SourceSegment[] {
  const { head } = splitResult(result)
  if (head.length > MAX_CARD_BYTES || !head.includes('"sources"')) return []
  const data = parseJson(head)
  const entries = isJsonObject(data) ? data["sources"] : undefined
  return Array.isArray(entries) ? entries.slice(0, MAX_READ_SOURCES).flatMap(readSource) : []
}

function readSource(entry: Json): SourceSegment[] {
  if (!isJsonObject(entry)) return []
  const { url: address, title, quote } = entry
  if (typeof address !== "string" || address.length > MAX_URL_CHARS) return []
  const url = checkPublicUrl(address)
  if (!url.ok) return []
  const shownTitle = readLine(title, MAX_SOURCE_TITLE_CHARS)
  const shownQuote = readLine(quote, MAX_SOURCE_QUOTE_CHARS)
  return [
    {
      type: "source",
      url: url.value.href,
      title: shownTitle === "" ? url.value.host : shownTitle,
      ...(shownQuote === "" ? {} : { quote: shownQuote }),
    },
  ]
}

function readLine(value: Json | undefined, maxChars: number): string {
  if (typeof value !== "string") return ""
  // Only the beginning is read, so that long text takes no more time.
  const head = value.slice(0, maxChars * 2)
  return cutText(head.replace(INVISIBLE, " ").replace(/\s+/g, " ").trim(), maxChars)
}

/**
 * Returns the sources of a completed answer: those of its calls on channel `user`, in order, with each URL only once.
 */
function listSources(message: Message): readonly SourceSegment[] {
  const byUrl = new Map<string, SourceSegment>()
  for (const { channel, status, result } of listCalls(message)) {
    if (channel !== "user" || status !== "ok" || result === null) continue
    for (const source of readCallSources(result)) {
      if (byUrl.size < MAX_SOURCES && !byUrl.has(source.url)) byUrl.set(source.url, source)
    }
  }
  return [...byUrl.values()]
}

/**
 * Creates a function that follows a message and, once the message is completed, returns the ops that add its sources
 * after its other segments.
 *
 * A result that arrives after the end may change the sources; in that case, they are added again (SPEC SC3). `count` is
 * the number of other segments.
 */
export function createSourceDelivery(): (message: Message, count: number) => Op[] {
  let shown: readonly SourceSegment[] = []
  return (message, count) => {
    if (message.status !== "completed") return []
    const sources = listSources(message)
    if (JSON.stringify(sources) === JSON.stringify(shown)) return []
    const cut: Op[] = shown.length === 0 ? [] : [{ op: "cut", to: count }]
    shown = sources
    return [...cut, ...sources.map((segment, at): Op => ({ op: "open", at: count + at, segment }))]
  }
}
