/**
 * strip-spans.ts: the words of an answer without its spans and directives: for the model's later context, and for other agents.
 *
 * part → STRIP → context
 * Who wrote a file's line must be able to name that file later, so a short plain note stands in its place. A note is
 * no directive, and none is left.
 * Pure.
 */

import { assetUrl, canvasUrl } from "../protocol/asset-url.ts"
import { splitCode } from "../text/code-tracker.ts"
import { embedToCanvas } from "./embed-directive.ts"
import type { Asset } from "../protocol/event.ts"
import { NO_GRANTS, type Permit, grantsToPermit } from "./grant.ts"
import { stripSpans } from "./span-tag.ts"
import type { MediaItem } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"
import { WORD_JOINER } from "../sanitize/clean-writer.ts"
import { createTokenScanner, type TextToken, parseBracketDirective } from "./text-tokens.ts"
import { isUnsafeJoin, replaceLoneSurrogates } from "../text/characters.ts"

/**
 * Takes marks and directives out of one part's text; in code they stay.
 *
 * Shapes  (text, what the part was granted) → text in which no directive stands, also where taking one out would form
 *         another. `(attached: chart.png, /media/x1)` stands for media, `(embedded: Board, /canvas/…)` for a canvas.
 * Errors  none; what was refused is told as refused.
 * Cost    linear.
 * Source  SPEC DR14.
 */
export function stripDirectives(text: string, grants: Grants = NO_GRANTS): string {
  const words = stripSpans(text)
  const pieces = scanTokens(words)
  if (!pieces.some(isDirective)) return words
  const stripped = stripSpans(renderTokens(pieces, grantsToPermit(grants)))
  return scanTokens(stripped).some(isDirective) ? defuseDirectives(stripped) : stripped
}

/** What the model is told of a file instead of its line. */
export function assetToNote(asset: Asset): string {
  if (asset.kind === "canvas") return `(document: ${sanitizeName(asset.label)}, ${canvasUrl(asset.id)})`
  return formatAttached(asset.label, assetUrl(asset.id))
}

function scanTokens(text: string): TextToken[] {
  const scanner = createTokenScanner()
  return [...scanner.push(text), ...scanner.end()]
}

function isDirective({ type }: TextToken): boolean {
  return type === "media" || type === "embed" || type === "voice" || type === "reply"
}

/** Two sides of something that was taken out make nothing new. */
function renderTokens(pieces: readonly TextToken[], permit: Permit): string {
  const texts: string[] = []
  let last = ""
  for (const piece of pieces) {
    const text = renderToken(piece, permit)
    if (text === "") continue
    texts.push(isUnsafeJoin(last, text.charAt(0)) && piece.type === "text" ? WORD_JOINER + text : text)
    last = text.slice(-1)
  }
  return texts.join("")
}

function renderToken(piece: TextToken, permit: Permit): string {
  switch (piece.type) {
    case "text":
      return piece.text
    case "open":
    case "close":
      return piece.raw
    case "media":
      return piece.items
        .map((item) => renderMediaItem(item, permit))
        .join("")
        .trimStart()
    case "embed":
      return renderEmbed(piece.attributes, permit)
    case "voice":
    case "reply":
    case "refused":
      return ""
  }
}

function renderMediaItem(item: MediaItem, permit: Permit): string {
  if (item.type === "text") return item.text
  if (item.type === "tag") return parseBracketDirective(item.raw) === null ? item.raw : ""
  const segment = permit.resolveMedia(item.url)
  return segment === null ? `(not attached: ${escapeUrl(item.url)})` : formatAttached(segment.label, item.url)
}

function renderEmbed(attributes: ReadonlyMap<string, string>, permit: Permit): string {
  const canvas = embedToCanvas(attributes, permit.isOriginAllowed)
  if (canvas === null)
    return `(not embedded: ${sanitizeName(attributes.get("url") ?? attributes.get("ref") ?? "nothing")})`
  const { title, viewId, url } = canvas.preview
  return `(embedded: ${sanitizeName(title ?? viewId ?? "document")}, ${escapeUrl(url)})`
}

function formatAttached(label: string, url: string): string {
  return `(attached: ${sanitizeName(label)}, ${escapeUrl(url)})`
}

/** So much of a name is told, in UTF-16 code units. */
const MAX_NAME_CHARS = 200

/** A name on one line, and no part of any syntax. */
function sanitizeName(name: string): string {
  const words = name.replace(/[\s[\]()<>`~\\]+/g, " ").trim()
  return replaceLoneSurrogates(words.slice(0, MAX_NAME_CHARS))
}

function escapeUrl(url: string): string {
  return url.replace(/[[\]`<>\\]/g, encodeURIComponent)
}

/** Outside code nothing can begin a directive any more. Only where somebody wrote one around another. */
function defuseDirectives(text: string): string {
  const pieces = splitCode(text).map(({ code, text: words }) =>
    code ? words : words.replace(/\[(?=[[e])/gi, `[${WORD_JOINER}`).replace(/m(?=edia:)/gi, (m) => m + WORD_JOINER),
  )
  return pieces.join("")
}
