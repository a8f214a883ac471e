/**
 * strip-directives.ts: removes span tags and directives from an answer's text, for the context of later model calls and
 * for other agents.
 *
 * A model must be able to refer to a file that it attached earlier, so each directive is replaced by a short note.
 * Pure.
 */

import { assetUrl, canvasUrl } from "../protocol/asset-url.ts"
import { splitCode } from "../text/code-tracker.ts"
import { embedToCanvas } from "./embed-directive.ts"
import { isAsset } from "../protocol/asset.ts"
import type { Asset, CallMedia } from "../protocol/event.ts"
import { NO_GRANTS, type Permit, grantsToPermit } from "./grant.ts"
import { stripSpans } from "./span-tag.ts"
import { type MediaItem, urlToMediaSegment } from "./media-directive.ts"
import type { Grants } from "../protocol/message.ts"
import { WORD_JOINER } from "../sanitize/clean-writer.ts"
import { createTokenScanner, type TextToken, parseBracketDirective } from "./text-tokens.ts"
import { cutText } from "../text/cut-text.ts"
import { isUnsafeJoin, replaceLoneSurrogates } from "../text/characters.ts"

/**
 * Removes span tags and directives from the text of one part, except in code.
 *
 * Shapes: (text, grants of the part) → text without any directive, even where removing one directive would form
 * another.
 *         `(attached: chart.png, /media/x1)` replaces media, and `(embedded: Board, /canvas/…)` replaces a canvas.
 * Errors: none. The note for a refused name says that it was refused.
 * Cost: linear in the length of the text.
 * Source: SPEC DR14.
 */
export function stripDirectives(text: string, grants: Grants = NO_GRANTS): string {
  const withoutSpans = stripSpans(text)
  const tokens = scanTokens(withoutSpans)
  if (!tokens.some(isDirective)) return withoutSpans
  const stripped = stripSpans(renderTokens(tokens, grantsToPermit(grants)))
  return scanTokens(stripped).some(isDirective) ? defuseDirectives(stripped) : stripped
}

/** Returns the note that replaces media of a tool call in the model's context. */
export function callMediaToNote(media: CallMedia): string {
  return isAsset(media) ? assetToNote(media) : formatAttached(urlToMediaSegment(media.url).label, media.url)
}

/** Returns the note that replaces an asset in the model's context. */
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

/**
 * Joins the text of the tokens. Inserts a word joiner where the text on both sides of a removed directive would form
 * new syntax.
 */
function renderTokens(tokens: readonly TextToken[], permit: Permit): string {
  const texts: string[] = []
  let last = ""
  for (const token of tokens) {
    const text = renderToken(token, permit)
    if (text === "") continue
    texts.push(isUnsafeJoin(last, text.charAt(0)) && token.type === "text" ? WORD_JOINER + text : text)
    last = text.slice(-1)
  }
  return texts.join("")
}

function renderToken(token: TextToken, permit: Permit): string {
  switch (token.type) {
    case "text":
      return token.text
    case "open":
    case "close":
      return token.raw
    case "media":
      return token.items
        .map((item) => renderMediaItem(item, permit))
        .join("")
        .trimStart()
    case "embed":
      return renderEmbed(token.attributes, permit)
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
  const canvas = embedToCanvas(attributes, permit)
  if (canvas === null)
    return `(not embedded: ${sanitizeName(attributes.get("url") ?? attributes.get("ref") ?? "nothing")})`
  const { title, viewId, url } = canvas.preview
  return `(embedded: ${sanitizeName(title ?? viewId ?? "document")}, ${escapeUrl(url)})`
}

function formatAttached(label: string, url: string): string {
  return `(attached: ${sanitizeName(label)}, ${escapeUrl(url)})`
}

/** Maximum length of a name in a note, in UTF-16 code units. */
const MAX_NAME_CHARS = 200

/** Returns a name on one line, without characters that are part of any syntax. */
function sanitizeName(name: string): string {
  const plain = name.replace(/[\s[\]()<>`~\\]+/g, " ").trim()
  return replaceLoneSurrogates(cutText(plain, MAX_NAME_CHARS))
}

function escapeUrl(url: string): string {
  return url.replace(/[[\]`<>\\]/g, encodeURIComponent)
}

/**
 * Changes everything outside code that could begin a directive, so that it no longer can. Needed only for deliberately
 * nested directives.
 */
function defuseDirectives(text: string): string {
  const pieces = splitCode(text).map(({ code, text: piece }) =>
    code ? piece : piece.replace(/\[(?=[[e])/gi, `[${WORD_JOINER}`).replace(/m(?=edia:)/gi, (m) => m + WORD_JOINER),
  )
  return pieces.join("")
}
