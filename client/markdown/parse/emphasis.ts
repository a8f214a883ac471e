/** emphasis.ts: pairs the delimiters of emphasis and strikethrough, as the CommonMark specification does. Pure. */

import type { DraftToken } from "./draft-token.ts"

/** A piece of a paragraph: some text or a token. `closes` elements end before it, and `opens` begin after it. */
export interface Piece {
  text: string
  readonly token: DraftToken | null
  closes: number
  opens: DraftToken[]
}

export function createPiece(text: string, token: DraftToken | null = null): Piece {
  return { text, token, closes: 0, opens: [] }
}

/** A run of `*`, `_` or `~`. The piece contains the characters that are not paired yet. */
export interface Delimiter {
  readonly piece: Piece
  readonly char: string
  readonly length: number
  readonly canOpen: boolean
  readonly canClose: boolean
}

const PUNCTUATION = /[\p{P}\p{S}]/u

/** Returns the run of delimiters between two positions, or null if it can neither begin nor end an element. */
export function readDelimiter(text: string, start: number, end: number): Delimiter | null {
  const char = text[start] ?? ""
  const length = end - start
  const before = /[\s\S][\udc00-\udfff]?$/.exec(text.slice(Math.max(start - 2, 0), start))?.[0] ?? " "
  const after = String.fromCodePoint(text.codePointAt(end) ?? 32)
  const [isSpaceBefore, isSpaceAfter] = [before.trim() === "", after.trim() === ""]
  const [isMarkBefore, isMarkAfter] = [isPunctuation(before), isPunctuation(after)]
  const opens = !isSpaceAfter && (!isMarkAfter || isSpaceBefore || isMarkBefore)
  const closes = !isSpaceBefore && (!isMarkBefore || isSpaceAfter || isMarkAfter)
  const canOpen = opens && (char !== "_" || !closes || isMarkBefore)
  const canClose = closes && (char !== "_" || !opens || isMarkAfter)
  if ((!canOpen && !canClose) || (char === "~" && length > 2)) return null
  return { piece: createPiece(text.slice(start, end)), char, length, canOpen, canClose }
}

/** Tildes don't count as punctuation, so that emphasis and strikethrough can begin at the same position. */
function isPunctuation(char: string): boolean {
  return char !== "~" && PUNCTUATION.test(char)
}

/** Turns pairs of delimiters, starting at index `bottom`, into elements. */
export function pairDelimiters(delimiters: Delimiter[], bottom: number): void {
  /** For each kind of closer, the last delimiter up to which there is no opener. */
  const floors: Record<string, Delimiter | undefined> = {}
  for (let at = bottom + 1; at < delimiters.length; at++) {
    const closer = delimiters[at]
    if (closer?.canClose !== true) continue
    const kind = closer.char + (closer.char === "~" ? closer.length : (closer.length % 3) + Number(closer.canOpen) * 3)
    let from = at - 1
    while (from >= bottom && !isPair(delimiters[from], closer)) {
      if (delimiters[from] === floors[kind]) from = bottom
      from--
    }
    const opener = from < bottom ? undefined : delimiters[from]
    if (opener === undefined) {
      floors[kind] = delimiters[at - 1]
      continue
    }
    wrap(opener, closer)
    // Delimiters between the two can no longer be paired, and neither can runs that are used up.
    const first = from + (opener.piece.text === "" ? 0 : 1)
    delimiters.splice(first, at - first + (closer.piece.text === "" ? 1 : 0))
    at = first - 1
  }
}

function isPair(opener: Delimiter | undefined, closer: Delimiter): boolean {
  if (opener?.canOpen !== true || opener.char !== closer.char) return false
  if (closer.char === "~") return opener.length === closer.length
  const sum = opener.length + closer.length
  return !(opener.canClose || closer.canOpen) || sum % 3 > 0 || opener.length % 3 === 0
}

function wrap({ piece: opener }: Delimiter, { piece: closer, char, length }: Delimiter): void {
  const isDouble = opener.text.length > 1 && closer.text.length > 1
  const used = char === "~" ? length : isDouble ? 2 : 1
  opener.text = opener.text.slice(used)
  closer.text = closer.text.slice(used)
  opener.opens.unshift({ type: char === "~" ? "del" : isDouble ? "strong" : "em", raw: "", tokens: [] })
  closer.closes++
}
