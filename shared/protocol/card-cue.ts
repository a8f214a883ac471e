/**
 * card-cue.ts: finds the tag that a tool result cues, and the payload of its card.
 *
 * result string → CUE → payload
 * Card data comes only from stored tool results, never from model text (SPEC SG3). When a tool returns,
 * choose-result-card.ts resolves the tag with `resolveCardTag`, card-finder.ts finds the card that shows the result,
 * and both are stored with the call. part-segmenter.ts opens a card at each span tag that `createCueLookup` finds among
 * the calls; a call from another system, which has no stored tag, cues the tags in its trailer.
 * client/cards/card-registry.tsx renders the payload, or shows the text if there is no such card.
 */

import { parseJsonToDepth } from "../json-depth.ts"
import { type Json, parseJson } from "../json.ts"
import { MAX_CARD_BYTES } from "../limits.ts"
import { countUtf8Bytes } from "../truncate.ts"

/** A tool call in the form that `parse` accepts. If `card` is undefined, the call cues the tags in its trailer. */
export interface CueRow {
  readonly name: string
  readonly ordinal?: number | null
  readonly result?: string | null
  readonly card?: string | null
  readonly call_id?: string
}

export interface Cue {
  readonly payload: Json
  readonly call_id?: string
  /** The version of the card that shows the payload. */
  readonly view?: string
}

/**
 * Splits a result, without its skill wrapper, at the first blank line: the data is before it, the instruction trailer
 * after it.
 */
export function splitResult(result: string): { readonly head: string; readonly trailer: string } {
  const body = removeSkillWrapper(result)
  const blank = body.indexOf("\n\n")
  if (blank < 0) return { head: body, trailer: "" }
  return { head: body.slice(0, blank), trailer: body.slice(blank + 2) }
}

const WRAPPER_HEAD = /^\[([A-Za-z_]\w*)\([^\n]*\)\]\n/

/** Removes an optional wrapper `[name(args)]\n…\n[end:name]`. */
function removeSkillWrapper(result: string): string {
  const text = result.trim()
  const head = WRAPPER_HEAD.exec(text)
  if (head === null) return result
  const end = `\n[end:${head[1]}]`
  return text.endsWith(end) && text.length >= head[0].length + end.length - 1
    ? text.slice(head[0].length, text.length - end.length)
    : result
}

function hasTag(trailer: string, tag: string): boolean {
  return trailer.includes(`<span id='${tag}'>`) || trailer.includes(`<span id="${tag}">`)
}

/**
 * Returns the tag that a result cues, or null. A result cues a card if its trailer contains the call's own tag and its
 * data is JSON that fits into a card. SPEC SG3, SG6.
 */
export function resolveCardTag(name: string, ordinal: number | null, result: string): string | null {
  if (ordinal === null) return null
  const tag = `${name}_${ordinal}`
  const { head, trailer } = splitResult(result)
  if (!hasTag(trailer, tag) || head.length > MAX_CARD_BYTES) return null
  const payload = parseJson(head)
  // The wire form may be longer than the stored text: `1e20` becomes 21 digits.
  return payload === undefined || countUtf8Bytes(JSON.stringify(payload)) > MAX_CARD_BYTES ? null : tag
}

/**
 * Does what `resolveCardTag` does, for a result from another system, whose ordinal is unknown: the ordinal is taken
 * from the tag in the trailer.
 */
export function findTrailerTag(name: string, result: string): string | null {
  const tag = listCuedTags({ name, result }).find((cued) => cued.replace(/_\d+$/, "") === name)
  return tag === undefined ? null : resolveCardTag(name, Number(tag.slice(name.length + 1)), result)
}

/** Returns the part of a result that clients may see: everything except the instruction trailer. */
export function extractResultData(row: {
  readonly name: string
  readonly result: string
  /** The media that the call's trailer attached to the answer. */
  readonly media?: readonly unknown[]
}): string {
  const { head, trailer } = splitResult(row.result)
  // If media is set but the trailer is empty, the trailer was removed earlier. The whole result is then data.
  if (row.media !== undefined && row.media.length > 0 && trailer !== "") return head
  const isOwn = trailer.includes(`<span id='${row.name}_`) || trailer.includes(`<span id="${row.name}_`)
  return isOwn ? head : row.result
}

/**
 * Creates a lookup of cues by tag. The first row that cues a tag wins. Payloads are parsed on demand.
 *
 * Cost: one pass over the trailers of rows without a stored tag.
 */
export function createCueLookup(rows: readonly CueRow[]): (tag: string) => Cue | null {
  const rowsByTag = new Map<string, CueRow>()
  for (const row of rows) {
    for (const tag of listCuedTags(row)) if (!rowsByTag.has(tag)) rowsByTag.set(tag, row)
  }
  const cuesByTag = new Map<string, Cue | null>()
  return (tag) => {
    const known = cuesByTag.get(tag)
    if (known !== undefined) return known
    const row = rowsByTag.get(tag)
    const cue = row === undefined ? null : rowToCue(row)
    cuesByTag.set(tag, cue)
    return cue
  }
}

const TRAILER_TAG = /<span id=(?:'([a-z][a-z0-9_]*_\d+)'|"([a-z][a-z0-9_]*_\d+)")>/gi

function listCuedTags(row: CueRow): string[] {
  if (row.card !== undefined) return row.card === null ? [] : [parseStoredCard(row.card).tag]
  if (row.result == null) return []
  const { trailer } = splitResult(row.result)
  return Array.from(trailer.matchAll(TRAILER_TAG), (match) => match[1] ?? match[2] ?? "")
}

function rowToCue(row: CueRow): Cue | null {
  const { head } = splitResult(row.result ?? "")
  // Earlier versions stored results of any depth.
  const payload = parseJsonToDepth(head)
  if (payload === undefined && row.card !== undefined) return null
  const call = row.call_id === undefined ? {} : { call_id: row.call_id }
  const view = row.card == null ? null : parseStoredCard(row.card).view
  return { payload: payload === undefined ? head : payload, ...call, ...(view === null ? {} : { view }) }
}

/**
 * Splits the `card` of a stored call into the tag and, after a space, the version of the card that shows the result. An
 * imported version may be any text, so the code that loads the card checks the format.
 */
export function parseStoredCard(card: string): { readonly tag: string; readonly view: string | null } {
  const space = card.indexOf(" ")
  return space < 0 ? { tag: card, view: null } : { tag: card.slice(0, space), view: card.slice(space + 1) }
}
