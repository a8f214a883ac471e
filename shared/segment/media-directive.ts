/**
 * media-directive.ts: parses `MEDIA:` lines, and converts the URLs in them to media segments.
 *
 * A line is parsed when it ends, because only then is it known whether any value in the line is accepted. Pure.
 */

import { INVISIBLE_CHARS } from "../protocol/asset.ts"
import { parseAssetUrl } from "../protocol/asset-url.ts"
import type { Segment } from "../protocol/segment.ts"
import { MAX_MEDIA_LINE_CHARS } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { checkPublicUrl } from "../text/public-url.ts"

export type MediaSegment = Extract<Segment, { type: "media" }>

/** An item in a `MEDIA:` line, between the line's label and its last value. */
export type MediaItem =
  | { readonly type: "text"; readonly text: string }
  /** `url` is normalised for display and comparison; `raw` is the URL as written. */
  | { readonly type: "url"; readonly url: string; readonly raw: string }
  /** Text in double square brackets, which may be a directive. */
  | { readonly type: "tag"; readonly raw: string }

export interface MediaLine {
  readonly items: readonly MediaItem[]
  /** The offset after the last accepted value, or the start of the line if no value was accepted. */
  readonly end: number
  /** Values that were not accepted, redacted for the log. */
  readonly refused: readonly string[]
}

export const MEDIA_LABEL = "media:"
const MEDIA_LABELS = /media:/gi
const MEDIA_LABEL_PREFIX = /m(?:e(?:d(?:ia?)?)?)?$/i

/**
 * Finds the next label at the start of a line. At the end of the text, the first letters of a label count as a label,
 * because further text may complete it.
 *
 * Shapes: → an index, or the length of the text. `head` is the column at which the text begins; -1 if it is not at the
 * start of a line.
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

/**
 * Returns whether a label at `at` is at the start of a line. At most three spaces may precede the label, because more
 * would be indented code.
 */
function isLineStart(text: string, at: number, head: number): boolean {
  let start = at
  while (start > 0 && at - start < 4 && text.charCodeAt(start - 1) === SPACE) start--
  if (start === 0) return head >= 0 && head + at <= 3
  return at - start <= 3 && text.charCodeAt(start - 1) === NEWLINE
}

/**
 * Parses the `MEDIA:` line at `at`, if there is one. The line ends at the next line feed or `<`.
 *
 * Shapes: → the line, null if there is none, or WAIT if the line is incomplete.
 * Cost: linear in the length of the line, which is at most MAX_MEDIA_LINE_CHARS.
 * Source: SPEC DR1–DR3.
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

/** Matches a quoted value with trailing punctuation, text in double square brackets, or a word. */
const VALUE_TOKEN = /(?:`([^`]*)`|"([^"]*)"|'([^']*)')[`"'\\)}\],]*(?=[\s.;:!?]|$)|\[\[[^[\]]*\]\]|\S+/g

function parseMediaLine(line: string, at: number): MediaLine {
  const items: MediaItem[] = []
  const refused: string[] = []
  let [consumed, end] = [MEDIA_LABEL.length, 0]
  // Text between two values is added together with the second value. Text after the last value does not belong to the
  // line.
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

/** Matches a value that looks like a file name or a URL. */
const SOURCE_LIKE = /[/\\:]|^~|^\.\.|\.\w{2,4}$/
/** Maximum length of a refused value in the log, in UTF-16 code units. */
const MAX_LOGGED_CHARS = 200

/**
 * Redacts a value for the log, because it may contain credentials: splits it at `/`, `\`, `?` and `#`, and replaces
 * everything before the last `@` of each component with `…`. At most MAX_LOGGED_CHARS remain.
 */
export function redactForLog(value: string): string {
  const redacted = value.replace(/[^\\/?#]+/g, (piece) => {
    const at = piece.lastIndexOf("@")
    return at < 0 ? piece : `…${piece.slice(at)}`
  })
  return redacted.slice(0, MAX_LOGGED_CHARS)
}

const TRAILING = new Set("`\"'\\)}],")

/** Removes trailing punctuation. Scans from the end, because a regular expression would try every start. */
function trimTrailing(word: string): string {
  let end = word.length
  while (end > 0 && TRAILING.has(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

/** Returns an asset URL unchanged and a public URL as normalised by the platform's parser; null for any other value. */
function normalizeMediaUrl(value: string): string | null {
  if (parseAssetUrl(value) !== null) return value
  // Browsers also accept spellings such as `https:host` and `https:\\host`, but models don't write URLs in these forms.
  if (!/^https:\/\//i.test(value)) return null
  const checked = checkPublicUrl(value)
  return checked.ok ? checked.value.href : null
}

/** Returns a key that is the same for all URLs of the same media: the URL without its fragment. */
export function urlToMediaKey(url: string): string {
  const hash = url.indexOf("#")
  return hash < 0 ? url : url.slice(0, hash)
}

/** The media kinds by file extension. The actual type is detected when the file is fetched. */
const KIND_PATTERNS: readonly (readonly [MediaSegment["kind"], RegExp])[] = [
  ["image", /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|ico|heic)$/i],
  ["audio", /\.(?:mp3|wav|ogg|oga|opus|m4a|aac|flac|weba)$/i],
  ["video", /\.(?:mp4|m4v|mov|webm|ogv|mkv)$/i],
]

/** Returns the segment of a media URL, derived from the URL alone. */
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
