/**
 * card-cue.ts: which tag a tool's result cues, and with what data.
 *
 * result string → CUE → payload, trailer
 * A card's data comes from here only: the stored result of a call, never from
 * model text (law 4). Dispatch asks once and stores the answer; rows without
 * that answer (seed 000) are read as the seed reads them.
 * Pure.
 */

import { type Json, parseJson } from "../json.ts"
import { MAX_CARD_BYTES } from "../limits.ts"
import { countUtf8Bytes } from "../truncate.ts"

/** A row as `parse` takes it. `card` undefined: a bare row, which cues what its trailer holds. */
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
}

/** What stands before the first blank line of a result, and what after it; the skill wrapper is off. Seed 000 §5.4. */
export function splitResult(result: string): { readonly head: string; readonly trailer: string } {
  const body = removeSkillWrapper(result)
  const blank = body.indexOf("\n\n")
  if (blank < 0) return { head: body, trailer: "" }
  return { head: body.slice(0, blank), trailer: body.slice(blank + 2) }
}

const WRAPPER_HEAD = /^\[([A-Za-z_]\w*)\([^\n]*\)\]\n/

/** Takes an optional `[name(args)]\n…\n[end:name]` off. */
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
 * Decides, once, at dispatch, whether a result cues a card: its trailer names the
 * call's own tag, and its head is JSON that fits a card.
 *
 * Shapes  (name, ordinal, result) → the tag, or null.
 * Source  SPEC SG3, SG6; law 4.
 */
export function resolveCardTag(name: string, ordinal: number | null, result: string): string | null {
  if (ordinal === null) return null
  const tag = `${name}_${ordinal}`
  const { head, trailer } = splitResult(result)
  if (!hasTag(trailer, tag) || head.length > MAX_CARD_BYTES) return null
  const payload = parseJson(head)
  // As it goes over the wire: `1e20` is five times as long there.
  return payload === undefined || countUtf8Bytes(JSON.stringify(payload)) > MAX_CARD_BYTES ? null : tag
}

/** The tag of a tool that its result in another system asks for in its trailer, where it has data for one. Seed 000 §5.4. */
export function findTrailerTag(name: string, result: string): string | null {
  const tag = listCuedTags({ name, result }).find((one) => one.replace(/_\d+$/, "") === name)
  return tag === undefined ? null : resolveCardTag(name, Number(tag.slice(name.length + 1)), result)
}

/** A result as a client may see it: without its instruction trailer (law 5), whichever ordinal that names. */
export function extractResultData(row: {
  readonly name: string
  readonly result: string
  /** What it gives to the reply, which its trailer names. */
  readonly media?: readonly unknown[]
}): string {
  const { head, trailer } = splitResult(row.result)
  // Without a trailer it has gone before: what is left is data, whatever it looks like.
  if (row.media !== undefined && row.media.length > 0 && trailer !== "") return head
  const isOwn = trailer.includes(`<span id='${row.name}_`) || trailer.includes(`<span id="${row.name}_`)
  return isOwn ? head : row.result
}

/**
 * The cues of some rows, by tag; the first row that cues a tag has it. Payloads are parsed when asked for.
 *
 * Shapes  CueRow[] → (tag → Cue | null).
 * Cost    one pass over the trailers of bare rows; a look-up after that.
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
  if (row.card !== undefined) return row.card === null ? [] : [row.card]
  if (row.result == null) return []
  const { trailer } = splitResult(row.result)
  return Array.from(trailer.matchAll(TRAILER_TAG), (match) => match[1] ?? match[2] ?? "")
}

function rowToCue(row: CueRow): Cue | null {
  const { head } = splitResult(row.result ?? "")
  const payload = parseJson(head)
  if (payload === undefined && row.card !== undefined) return null
  const call = row.call_id === undefined ? {} : { call_id: row.call_id }
  return { payload: payload === undefined ? head : payload, ...call }
}
