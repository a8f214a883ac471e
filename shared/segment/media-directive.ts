/**
 * media-directive.ts: `MEDIA:` lines, and what a reader sees of the media that they name.
 *
 * scan → MEDIA → piece → segment
 * A line is decided when it ends: whether anything on it may be shown is not known before.
 * Pure.
 */

import { INVISIBLE_CHARS } from "../protocol/asset.ts"
import { parseAssetUrl } from "../protocol/asset-url.ts"
import type { Segment } from "../protocol/segment.ts"
import { MAX_MEDIA_LINE_CHARS } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { checkPublicUrl } from "../text/public-url.ts"

export type MediaSegment = Extract<Segment, { type: "media" }>

/** What stands on a `MEDIA:` line, from its label to its last value, in order. */
export type MediaItem =
  | { readonly type: "text"; readonly text: string }
  /** `url` as it is shown, and so as two are compared; `raw` as it was written. */
  | { readonly type: "url"; readonly url: string; readonly raw: string }
  /** Something in brackets: perhaps a directive. */
  | { readonly type: "tag"; readonly raw: string }

export interface MediaLine {
  readonly items: readonly MediaItem[]
  /** Where its last value ends; where it starts, if none is accepted. */
  readonly end: number
  /** Values that are not accepted. */
  readonly refused: readonly string[]
}

export const MEDIA_LABEL = "media:"
const MEDIA_LABELS = /media:/gi
const MEDIA_LABEL_PREFIX = /m(?:e(?:d(?:ia?)?)?)?$/i

/**
 * The next label at a line's start, or what may become one at the end of the text.
 *
 * Shapes  → an index, or the end of the text. `head` is that of the text's own start.
 */
export function findMediaLabel(text: string, from: number, head: number): number {
  MEDIA_LABELS.lastIndex = from
  while (MEDIA_LABELS.test(text)) {
    const at = MEDIA_LABELS.lastIndex - MEDIA_LABEL.length
    if (isLineStart(text, at, head)) return at
  }
  const part = MEDIA_LABEL_PREFIX.exec(text.slice(1 - MEDIA_LABEL.length))?.[0].length ?? 0
  const at = text.length - part
  return part > 0 && at >= from && isLineStart(text, at, head) ? at : text.length
}

/** Up to three spaces may stand before it: more is indented code. */
function isLineStart(text: string, at: number, head: number): boolean {
  let start = at
  while (start > 0 && at - start < 4 && text.charCodeAt(start - 1) === SPACE) start--
  if (start === 0) return head >= 0 && head + at <= 3
  return at - start <= 3 && text.charCodeAt(start - 1) === NEWLINE
}

/**
 * Reads the line whose label may stand at `at`. It ends with the line, or where a tag begins.
 *
 * Shapes  → the line, null if there is none, or WAIT while it goes on.
 * Cost    linear in the line, which is at most MAX_MEDIA_LINE.
 * Source  SPEC DR1–DR3.
 */
export function readMediaLine(text: string, at: number, final: boolean): MediaLine | typeof WAIT | null {
  const head = text.slice(at, at + MAX_MEDIA_LINE_CHARS)
  const label = head.slice(0, MEDIA_LABEL.length).toLowerCase()
  if (label !== MEDIA_LABEL) return MEDIA_LABEL.startsWith(label) && !final ? WAIT : null
  const end = head.search(/[\n<]/)
  if (end < 0 && head.length === MAX_MEDIA_LINE_CHARS) return null
  if (end < 0 && !final) return WAIT
  return parseMediaLine(end < 0 ? head : head.slice(0, end), at)
}

/** A value in quotes, with what may trail it; something in brackets; or a word. */
const VALUE_TOKEN = /(?:`([^`]*)`|"([^"]*)"|'([^']*)')[`"'\\)}\],]*(?=[\s.;:!?]|$)|\[\[[^[\]]*\]\]|\S+/g

function parseMediaLine(line: string, at: number): MediaLine {
  const items: MediaItem[] = []
  const refused: string[] = []
  let [consumed, end] = [MEDIA_LABEL.length, 0]
  // What stands between two values is told with the second; what stands after the last one is no part of it.
  let pending: MediaItem[] = []
  const addText = (to: number): void => {
    if (to > consumed) pending.push({ type: "text", text: line.slice(consumed, to) })
  }
  for (const token of line.slice(MEDIA_LABEL.length).matchAll(VALUE_TOKEN)) {
    const [raw] = token
    const from = MEDIA_LABEL.length + token.index
    const value = (token[1] ?? token[2] ?? token[3])?.trim() ?? trimTrailing(raw)
    const url = raw.startsWith("[[") ? null : normalizeMediaUrl(value)
    if (url === null && !raw.startsWith("[[")) {
      if (SOURCE_LIKE.test(value)) refused.push(redactForLog(value))
      continue
    }
    addText(from)
    consumed = from + raw.length
    pending.push(url === null ? { type: "tag", raw } : { type: "url", url, raw })
    if (url === null) continue
    items.push(...pending)
    pending = []
    end = consumed
  }
  return { items, end: at + end, refused }
}

/** What looks as if a file or an address were meant. */
const SOURCE_LIKE = /[/\\:]|^~|^\.\.|\.\w{2,4}$/
/** So much of a refused value is told, in UTF-16 code units. */
const MAX_LOGGED_CHARS = 200

/** For the log: no secrets of anybody. What stands before an `@` may be one, wherever browsers would find an address. */
export function redactForLog(value: string): string {
  const redacted = value.replace(/[^\\/?#]+/g, (piece) => {
    const at = piece.lastIndexOf("@")
    return at < 0 ? piece : `…${piece.slice(at)}`
  })
  return redacted.slice(0, MAX_LOGGED_CHARS)
}

const TRAILING = new Set("`\"'\\)}],")

/** A word without what may trail a value. From its end, since an expression would try at every place. */
function trimTrailing(word: string): string {
  let end = word.length
  while (end > 0 && TRAILING.has(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

/** The URL of an own asset as it is, a public one as the platform writes it, or null. */
function normalizeMediaUrl(value: string): string | null {
  if (parseAssetUrl(value) !== null) return value
  // A value names its scheme: what browsers would read as one all the same is not meant.
  if (!/^https:\/\//i.test(value)) return null
  const checked = checkPublicUrl(value)
  return checked.ok ? checked.value.href : null
}

/** Two addresses with one key are one thing: a fragment fetches nothing else. */
export function urlToMediaKey(url: string): string {
  const hash = url.indexOf("#")
  return hash < 0 ? url : url.slice(0, hash)
}

/** By the end of its name alone. What it truly is is found out when it is fetched. */
const KIND_PATTERNS: readonly (readonly [MediaSegment["kind"], RegExp])[] = [
  ["image", /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|ico|heic)$/i],
  ["audio", /\.(?:mp3|wav|ogg|oga|opus|m4a|aac|flac|weba)$/i],
  ["video", /\.(?:mp4|m4v|mov|webm|ogv|mkv)$/i],
]

/** What a reader sees of it, by its address alone. */
export function urlToMediaSegment(url: string): MediaSegment {
  const path = url.replace(/[?#].*$/s, "")
  const name = path.slice(path.lastIndexOf("/") + 1)
  const host = /^https:\/\/([^/]*)/.exec(url)?.[1] ?? ""
  const kind = KIND_PATTERNS.find(([, pattern]) => pattern.test(name))?.[0] ?? "file"
  return { type: "media", url, kind, label: decodeName(name).replace(INVISIBLE_CHARS, "").trim() || host }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const NEWLINE = 10
const SPACE = 32
