/**
 * html-token.ts: where a tag or another construct of HTML ends, and what it says.
 *
 * TAG → html → clean
 * The tokens are htmlparser2's. Our own search for a construct's end only bounds what the tokenizer is asked, so that
 * hostile text costs one pass; where the two disagree the construct is text.
 * Pure.
 */

import { QuoteType, Tokenizer } from "htmlparser2"
import { MAX_PENDING_CHARS } from "../limits.ts"
import { TEXT, WAIT } from "../text/fence.ts"

const TAG_ID = /^[a-z][a-z0-9_]*_\d+$/

/** The end of the next match, remembered as long as it lies ahead. Positions inside are absolute. */
export class MatchFinder {
  readonly #pattern: RegExp
  #start = -1
  #end = -1
  /** No match starts before here, from the last question on. */
  #searchedTo = 0

  constructor(pattern: RegExp) {
    this.#pattern = new RegExp(pattern)
  }

  find(text: string, from: number, base: number): number {
    if (this.#start >= from + base) return this.#end - base
    this.#pattern.lastIndex = Math.max(from, this.#searchedTo - base)
    const match = this.#pattern.exec(text)
    if (match === null) {
      // A match may have begun at the last `<`, or in the last two code units.
      const open = this.#pattern.source.startsWith("<") ? text.lastIndexOf("<") : text.length - 3
      this.#searchedTo = Math.max(this.#searchedTo, base + Math.max(from, open))
      return WAIT
    }
    this.#start = match.index + base
    this.#end = this.#start + match[0].length
    return this.#end - base
  }
}

/** One walk over the attributes of a tag. Walks that meet after a closing quote go on as one. Positions are absolute. */
interface AttributeWalk {
  at: number
  /** In a value with this quote. */
  quote: string
  /** The tag's end, TEXT if there is none, WAIT if that is open. */
  end: number
}

/** More walks than fit into what is held; they are only remembered to save time. */
const MAX_WALKS = 2 * MAX_PENDING_CHARS

/** White space and one attribute, up to the quote of its value. An attribute cut off at the end is read again. */
const ATTRIBUTE = /[\s/]*(?:[^\s/<>][^\s/<>=]*\s*(?:=\s*(?:(["'])|[^\s<>"'][^\s<>]*)?)?)?/y

/** Finds where opening tags end. A `<` outside quotes ends the attempt. */
export class TagEndFinder {
  #base = 0
  readonly #walks = new Map<number, AttributeWalk>()
  #last: { readonly from: number; walk: AttributeWalk } | null = null

  shift(by: number): void {
    this.#base += by
    if (this.#walks.size > MAX_WALKS) this.#walks.clear()
  }

  /** End of the tag whose name ends at `from`. */
  find(text: string, from: number, limit: number): number {
    if (text[from] === ">") return from + 1
    const start = from + this.#base
    if (this.#last?.from !== start) this.#last = { from: start, walk: { at: start, quote: "", end: WAIT } }
    const last = this.#last
    const to = Math.min(limit + 1, text.length) + this.#base
    while (last.walk.end === WAIT && last.walk.at < to) {
      const { walk } = last
      const hasMore = walk.quote === "" ? this.#skipAttribute(text, walk) : this.#skipValue(text, last)
      if (!hasMore) break
    }
    const { end } = last.walk
    return end < 0 ? end : end - this.#base
  }

  /** Steps over an attribute; false if the text ends in it. */
  #skipAttribute(text: string, walk: AttributeWalk): boolean {
    ATTRIBUTE.lastIndex = walk.at - this.#base
    const quote = ATTRIBUTE.exec(text)?.[1]
    const at = ATTRIBUTE.lastIndex
    if (quote !== undefined) {
      walk.quote = quote
      walk.at = at + this.#base
      return true
    }
    if (at === text.length) return false
    if (text[at] === "<") walk.end = TEXT
    else if (text[at] === ">") walk.end = at + 1 + this.#base
    else walk.at = at + this.#base
    return true
  }

  /** Steps over the rest of a quoted value; joins the walk that has been there before. */
  #skipValue(text: string, last: { walk: AttributeWalk }): boolean {
    const { walk } = last
    const close = text.indexOf(walk.quote, walk.at - this.#base)
    walk.at = (close < 0 ? text.length : close + 1) + this.#base
    if (close < 0) return false
    walk.quote = ""
    const other = this.#walks.get(walk.at)
    if (other === undefined) this.#walks.set(walk.at, walk)
    else last.walk = other
    return true
  }
}

export interface TagToken {
  readonly type: "open" | "close"
  readonly name: string
  readonly id: string | null
  readonly quote: string
  readonly selfClosing: boolean
}

type Token = TagToken | { readonly type: "gone" }

/** Reads one finished construct with htmlparser2. */
export class TokenReader {
  #source = ""
  #token: Token | null = null
  #end = -1
  #name = ""
  #attributeName = ""
  #value = ""
  #id: { readonly value: string; readonly quote: string } | null = null
  readonly #tokenizer: Tokenizer

  constructor() {
    const ignore = () => {}
    const onDropped = (_start: number, end: number) => this.#acceptToken({ type: "gone" }, end)
    const onOpened = (end: number, selfClosing: boolean) => this.#acceptToken(this.#createOpenToken(selfClosing), end)
    this.#tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (start, end) => this.#startTag(this.#source.slice(start, end)),
        onattribname: (start, end) => this.#startAttribute(this.#source.slice(start, end)),
        onattribdata: (start, end) => this.#addValue(this.#source.slice(start, end)),
        onattribend: (quote) => this.#endAttribute(quote),
        onopentagend: (end) => onOpened(end, false),
        onselfclosingtag: (end) => onOpened(end, true),
        onclosetag: (start, end) =>
          this.#acceptToken(createCloseToken(this.#source.slice(start, end)), this.#source.indexOf(">", end)),
        oncomment: onDropped,
        oncdata: onDropped,
        ondeclaration: onDropped,
        onprocessinginstruction: onDropped,
        onattribentity: ignore,
        ontextentity: ignore,
        ontext: ignore,
        onend: ignore,
      },
    )
  }

  /** The one token that `source` is, or null if it is anything else. */
  readToken(source: string): Token | null {
    this.#source = source
    this.#token = this.#id = null
    this.#end = -1
    this.#tokenizer.reset()
    this.#tokenizer.write(source)
    return this.#end === source.length - 1 ? this.#token : null
  }

  #startTag(name: string): void {
    this.#name = name.toLowerCase()
  }

  #startAttribute(name: string): void {
    this.#attributeName = name.toLowerCase()
    this.#value = ""
  }

  #addValue(piece: string): void {
    this.#value += piece
  }

  #endAttribute(quote: QuoteType): void {
    // The first of two attributes of one name counts.
    if (this.#attributeName !== "id" || this.#id !== null) return
    const quoteChar = quote === QuoteType.Single ? "'" : quote === QuoteType.Double ? '"' : ""
    this.#id = { value: this.#value, quote: quoteChar }
  }

  #createOpenToken(selfClosing: boolean): TagToken {
    const id = this.#id !== null && this.#id.quote !== "" && TAG_ID.test(this.#id.value) ? this.#id.value : null
    return { type: "open", name: this.#name, id, quote: this.#id?.quote ?? "", selfClosing }
  }

  /** Takes the first token only. */
  #acceptToken(token: Token, end: number): void {
    if (this.#token !== null) return
    this.#token = token
    this.#end = end
    this.#tokenizer.pause()
  }
}

function createCloseToken(name: string): TagToken {
  return { type: "close", name: name.toLowerCase(), id: null, quote: "", selfClosing: false }
}
