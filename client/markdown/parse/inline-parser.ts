/**
 * inline-parser.ts: parses the text of a paragraph, heading or cell.
 *
 * One pass from left to right divides the text into pieces. The pieces of brackets and delimiters record which elements
 * begin and end there. After that, the pieces are built into a tree. Cost: linear in the length of the text, because
 * the number of markup characters is bounded. SPEC MD1, MD4–MD9, MD15.
 */

import { matchFootnoteReference, toFootnoteKey } from "../syntax/footnote-syntax.ts"
import { matchMath, MAX_MATH_CHARS } from "../syntax/math-syntax.ts"
import { type DraftToken, type LinkTargets, normalizeLabel } from "./draft-token.ts"
import { createPiece, type Delimiter, pairDelimiters, type Piece, readDelimiter } from "./emphasis.ts"
import {
  type Address,
  AUTOLINK,
  findAddress,
  HTML_TAG,
  type LinkTarget,
  matchAt,
  mayHaveAddress,
  readLinkTarget,
  trimAddress,
} from "./link-syntax.ts"

/**
 * Maximum number of markup characters (`*`, `[`, `<`, …) in one paragraph, cell or item. Text with more of them is
 * shown as plain text.
 */
export const MAX_INLINE_MARKUP = 1000

/** Maximum length of a paragraph, cell or item, in UTF-16 code units. Longer text is shown as plain text. */
export const MAX_INLINE_CHARS = 50_000

/** Maximum length of a label. Longer labels have no definition. */
const MAX_LABEL_CHARS = 200

const SPECIAL_CHARS = "\\`*_~[]<!$\n"
const MARKUP_CHARS = /[*_~[\]<`!\\$]/g
const LABEL = /\[(?!\^)((?:[^[\]\\]|\\[\s\S])*)\]/y
const IS_SPECIAL = new Uint8Array(128)
for (const char of SPECIAL_CHARS) IS_SPECIAL[char.charCodeAt(0)] = 1

interface Bracket {
  readonly piece: Piece
  readonly isImage: boolean
  /** The position after the bracket. */
  readonly start: number
  /** The number of delimiters before the bracket. */
  readonly delimiters: number
  /** False once a link has been found inside the brackets: links can't be nested. */
  isActive: boolean
}

/** Parses text and appends the tokens to `tokens`. */
export function parseInline(text: string, links: LinkTargets, tokens: DraftToken[]): void {
  if (isTooCostly(text)) tokens.push({ type: "escape", raw: text, text })
  else if (text !== "") new InlineParser(text, links).parse(tokens)
}

function isTooCostly(text: string): boolean {
  if (text.length > MAX_INLINE_CHARS) return true
  return text.length > MAX_INLINE_MARKUP && (text.match(MARKUP_CHARS)?.length ?? 0) > MAX_INLINE_MARKUP
}

class InlineParser {
  readonly #src: string
  readonly #links: LinkTargets
  readonly #pieces: Piece[] = []
  readonly #delimiters: Delimiter[] = []
  readonly #brackets: Bracket[] = []
  #at = 0
  /** The start of the text that isn't in a piece yet. */
  #from = 0
  #address: Address | null = null
  /** Lengths of backtick runs that have no closing run. */
  readonly #unclosedTicks = new Set<number>()

  constructor(src: string, links: LinkTargets) {
    this.#src = src
    this.#links = links
  }

  parse(tokens: DraftToken[]): void {
    const src = this.#src
    if (mayHaveAddress(src)) this.#address = findAddress(src, 0)
    while (this.#at < src.length) {
      if (this.#address !== null && this.#at >= this.#address.start) this.#readAddress(this.#address)
      else if (IS_SPECIAL[src.charCodeAt(this.#at)] !== 1 || !this.#readMarkup()) this.#at++
    }
    this.#flush(src.length)
    pairDelimiters(this.#delimiters, 0)
    buildTree(this.#pieces, tokens)
  }

  /** Adds the pending text before a position as a piece. */
  #flush(end: number): void {
    if (this.#from < end) this.#pieces.push(createPiece(this.#src.slice(this.#from, end)))
  }

  /** Adds a piece that ends at a position, and continues there. */
  #push(piece: Piece, end: number): boolean {
    this.#flush(this.#at)
    this.#pieces.push(piece)
    this.#at = end
    this.#from = end
    return true
  }

  #pushToken(token: DraftToken, end: number): boolean {
    return this.#push(createPiece("", token), end)
  }

  /** Reads markup. Returns false if the character at the current position is plain text. */
  #readMarkup(): boolean {
    const src = this.#src
    switch (src[this.#at]) {
      case "\\":
        return this.#readMath() || this.#readEscape()
      case "$":
        return src[this.#at + 1] === "$" && this.#readMath()
      case "`":
        return this.#readCode()
      case "[":
        return this.#readFootnote() || this.#openBracket(1)
      case "!":
        // A footnote reference may follow an exclamation mark.
        return src[this.#at + 1] === "[" && this.#matchFootnote(this.#at + 1) === null && this.#openBracket(2)
      case "]":
        return this.#closeBracket()
      case "<":
        return this.#readTag()
      case "\n":
        return this.#readBreak()
      default:
        return this.#readDelimiters()
    }
  }

  #readMath(): boolean {
    const raw = matchMath(this.#src.slice(this.#at, this.#at + MAX_MATH_CHARS + 4))
    return raw !== null && this.#pushToken({ type: "math", raw, text: raw }, this.#at + raw.length)
  }

  #readFootnote(): boolean {
    const raw = this.#matchFootnote(this.#at)
    if (raw === null) return false
    return this.#pushToken({ type: "footnote_ref", raw, text: toFootnoteKey(raw.slice(2, -1)) }, this.#at + raw.length)
  }

  #matchFootnote(at: number): string | null {
    return this.#src.startsWith("[^", at) ? matchFootnoteReference(this.#src.slice(at)) : null
  }

  #readEscape(): boolean {
    const char = this.#src[this.#at + 1] ?? ""
    if (char === "\n") return this.#pushBreak(this.#at, this.#at + 2)
    if (!/[!-/:-@[-`{-~]/.test(char)) return false
    return this.#pushToken({ type: "escape", raw: `\\${char}`, text: char }, this.#at + 2)
  }

  /** Two or more spaces at the end of a line make a hard line break. */
  #readBreak(): boolean {
    let start = this.#at
    while (start > this.#from && this.#src[start - 1] === " ") start--
    return start < this.#at - 1 && this.#pushBreak(start, this.#at + 1)
  }

  #pushBreak(start: number, next: number): boolean {
    let end = next
    while (this.#src[end] === " ") end++
    this.#at = start
    return this.#pushToken({ type: "br", raw: "" }, end)
  }

  #readCode(): boolean {
    const src = this.#src
    const start = findRunEnd(src, this.#at)
    const length = start - this.#at
    let close = this.#unclosedTicks.has(length) ? -1 : src.indexOf("`", start)
    while (close >= 0) {
      const end = findRunEnd(src, close)
      if (end - close === length) {
        const text = src.slice(start, close).replaceAll("\n", " ")
        const isPadded = text[0] === " " && text.endsWith(" ") && text.trim() !== ""
        return this.#pushToken({ type: "codespan", raw: "", text: isPadded ? text.slice(1, -1) : text }, end)
      }
      close = src.indexOf("`", end)
    }
    this.#unclosedTicks.add(length)
    this.#at = start
    return true
  }

  #readDelimiters(): boolean {
    const end = findRunEnd(this.#src, this.#at)
    const delimiter = readDelimiter(this.#src, this.#at, end)
    if (delimiter === null) {
      this.#at = end
      return true
    }
    this.#delimiters.push(delimiter)
    return this.#push(delimiter.piece, end)
  }

  #readTag(): boolean {
    const html = matchAt(HTML_TAG, this.#src, this.#at)?.[0]
    if (html !== undefined) return this.#pushToken({ type: "html", raw: html }, this.#at + html.length)
    const [raw, url, email] = matchAt(AUTOLINK, this.#src, this.#at) ?? []
    if (raw === undefined) return false
    const text = url ?? email ?? ""
    return this.#pushAddress(text, url ?? `mailto:${text}`, this.#at + raw.length)
  }

  #pushAddress(text: string, href: string, end: number): boolean {
    return this.#pushToken({ type: "link", raw: text, text, href, autolink: true }, end)
  }

  /** A URL or email address inside brackets may be the text of a link, so it ends before the closing bracket. */
  #readAddress(found: Address): void {
    if (found.start === this.#at) {
      const end = this.#brackets.length > 0 ? found.text.indexOf("]") : -1
      const text = end < 0 ? found.text : trimAddress(found.text.slice(0, end))
      const href = found.href.slice(0, found.href.length - found.text.length + text.length)
      this.#pushAddress(text, href, this.#at + text.length)
    }
    this.#address = findAddress(this.#src, this.#at)
  }

  #openBracket(length: number): boolean {
    const end = this.#at + length
    const piece = createPiece(this.#src.slice(this.#at, end))
    const delimiters = this.#delimiters.length
    this.#brackets.push({ piece, isImage: length > 1, start: end, delimiters, isActive: true })
    return this.#push(piece, end)
  }

  #closeBracket(): boolean {
    const bracket = this.#brackets.pop()
    if (bracket?.isActive !== true) return false
    const label = this.#src.slice(bracket.start, this.#at)
    const next = this.#at + 1
    const target = readLinkTarget(this.#src, next) ?? this.#findReference(label, next)
    if (target === null) return false
    const { href, end } = target
    const token: DraftToken = { type: bracket.isImage ? "image" : "link", raw: "", text: label, href, tokens: [] }
    pairDelimiters(this.#delimiters, bracket.delimiters)
    this.#delimiters.length = bracket.delimiters
    bracket.piece.text = ""
    bracket.piece.opens = [token]
    if (!bracket.isImage) for (const outer of this.#brackets) if (!outer.isImage) outer.isActive = false
    const piece = createPiece("")
    piece.closes = 1
    return this.#push(piece, end)
  }

  /** Returns the target of `[text][label]`, `[label][]` or `[label]`. */
  #findReference(text: string, next: number): LinkTarget | null {
    const [raw = "", label = ""] = matchAt(LABEL, this.#src, next) ?? []
    const name = label === "" ? text : label
    const target = name.length > MAX_LABEL_CHARS ? undefined : this.#links[normalizeLabel(name)]
    return target === undefined ? null : { href: target.href, end: next + raw.length }
  }
}

/** Returns the position after a run of the same character. */
function findRunEnd(text: string, start: number): number {
  let end = start + 1
  while (text[end] === text[start]) end++
  return end
}

function buildTree(pieces: readonly Piece[], root: DraftToken[]): void {
  const open: DraftToken[] = []
  let tokens = root
  for (const { text, token, closes, opens } of pieces) {
    if (closes > 0) {
      open.length -= closes
      tokens = open.at(-1)?.tokens ?? root
    }
    // Links can't be nested.
    if (token?.autolink === true && open.some((outer) => outer.type === "link")) appendText(tokens, token.text ?? "")
    else if (token !== null) tokens.push(token)
    else if (text !== "") appendText(tokens, text)
    for (const opened of opens) {
      tokens.push(opened)
      open.push(opened)
      tokens = opened.tokens ?? []
    }
  }
}

function appendText(tokens: DraftToken[], text: string): void {
  const last = tokens.at(-1)
  if (last?.type !== "text") tokens.push({ type: "text", raw: text, text })
  else {
    last.raw += text
    last.text = last.raw
  }
}
