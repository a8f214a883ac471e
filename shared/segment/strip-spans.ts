/**
 * strip-spans.ts: the words of an answer without its spans and directives: for the model's later context, and for other agents.
 *
 * part → STRIP → context
 * Who wrote a file's line must be able to name that file later, so a short plain note stands in its place. A note is
 * no directive, and none is left.
 * Pure.
 */

import { assetUrl, canvasUrl } from "../protocol/asset.ts"
import { splitCode } from "../text/code-tracker.ts"
import { canvasOf } from "./embed-directive.ts"
import type { Asset } from "../protocol/event.ts"
import { NO_GRANTS, type Permit, permitOf } from "./grant.ts"
import { stripSpans } from "./span-tag.ts"
import type { MediaItem } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"
import { JOINER } from "../sanitize/clean-writer.ts"
import { createPieceScanner, type Piece, readTag } from "./text-tokens.ts"
import { isGlue, wellFormed } from "../sanitize/characters.ts"

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
  const pieces = piecesOf(words)
  if (!pieces.some(isDirective)) return words
  const left = stripSpans(told(pieces, permitOf(grants)))
  return piecesOf(left).some(isDirective) ? defused(left) : left
}

/** What the model is told of a file instead of its line. */
export function noteOf(asset: Asset): string {
  if (asset.kind === "canvas") return `(document: ${wordsOf(asset.label)}, ${canvasUrl(asset)})`
  return attached(asset.label, assetUrl(asset))
}

function piecesOf(text: string): Piece[] {
  const scanner = createPieceScanner()
  return [...scanner.push(text), ...scanner.end()]
}

function isDirective({ type }: Piece): boolean {
  return type === "media" || type === "embed" || type === "voice" || type === "reply"
}

/** Two sides of something that was taken out make nothing new. */
function told(pieces: readonly Piece[], permit: Permit): string {
  const texts: string[] = []
  let last = ""
  for (const piece of pieces) {
    const text = toldOfPiece(piece, permit)
    if (text === "") continue
    texts.push(isGlue(last, text.charAt(0)) && piece.type === "text" ? JOINER + text : text)
    last = text.slice(-1)
  }
  return texts.join("")
}

function toldOfPiece(piece: Piece, permit: Permit): string {
  switch (piece.type) {
    case "text":
      return piece.text
    case "open":
    case "close":
      return piece.raw
    case "media":
      return piece.items
        .map((item) => toldOfItem(item, permit))
        .join("")
        .trimStart()
    case "embed":
      return toldOfEmbed(piece.attributes, permit)
    case "voice":
    case "reply":
    case "refused":
      return ""
  }
}

function toldOfItem(item: MediaItem, permit: Permit): string {
  if (item.type === "text") return item.text
  if (item.type === "tag") return readTag(item.raw) === null ? item.raw : ""
  const segment = permit.media(item.url)
  return segment === null ? `(not attached: ${addressOf(item.url)})` : attached(segment.label, item.url)
}

function toldOfEmbed(attributes: ReadonlyMap<string, string>, permit: Permit): string {
  const canvas = canvasOf(attributes, permit.isOrigin)
  if (canvas === null) return `(not embedded: ${wordsOf(attributes.get("url") ?? attributes.get("ref") ?? "nothing")})`
  const { title, viewId, url } = canvas.preview
  return `(embedded: ${wordsOf(title ?? viewId ?? "document")}, ${addressOf(url)})`
}

function attached(label: string, url: string): string {
  return `(attached: ${wordsOf(label)}, ${addressOf(url)})`
}

/** So much of a name is told, in UTF-16 code units. */
const MAX_NAME = 200

/** A name on one line, and no part of any syntax. */
function wordsOf(name: string): string {
  const words = name.replace(/[\s[\]()<>`~\\]+/g, " ").trim()
  return wellFormed(words.slice(0, MAX_NAME))
}

function addressOf(url: string): string {
  return url.replace(/[[\]`<>\\]/g, encodeURIComponent)
}

/** Outside code nothing can begin a directive any more. Only where somebody wrote one around another. */
function defused(text: string): string {
  const pieces = splitCode(text).map(({ code, text: words }) =>
    code ? words : words.replace(/\[(?=[[e])/gi, `[${JOINER}`).replace(/m(?=edia:)/gi, (m) => m + JOINER),
  )
  return pieces.join("")
}
