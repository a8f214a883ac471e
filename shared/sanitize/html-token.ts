/**
 * html-token.ts: finds the end of a tag or other HTML construct, and parses the construct.
 *
 * HTML TOKEN → html-policy → clean
 * htmlparser2 parses the tokens. A separate search finds the end of each token first, so that hostile text costs one
 * pass. If the parser and the search disagree, the construct is text.
 */

import { QuoteType, Tokenizer } from "htmlparser2"
import { MAX_PENDING_CHARS } from "../limits.ts"
import { TEXT, WAIT } from "../text/fence.ts"

const TAG_ID = /^[a-z][a-z0-9_]*_\d+$/

/** Finds the end of a pattern's next match and caches it. Stored positions are absolute. */
export class MatchFinder {
  readonly #pattern: RegExp
  #start = -1
  #end = -1
  /** No match starts between the last call's position and this one. */
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

/** A walk over the attributes of a tag. Walks that reach the same closing quote are merged. Positions are absolute. */
interface AttributeWalk {
  at: number
  /** The quote of the value that contains `at`, or empty. */
  quote: string
  /** The end of the tag; TEXT if there is none, WAIT if that is undecided. */
  end: number
}

/** Maximum number of cached walks: more than the held text needs. Walks are cached only to save time. */
const MAX_WALKS = 2 * MAX_PENDING_CHARS

/**
 * Matches whitespace and one attribute, up to the opening quote of the attribute's value. An attribute at the end of
 * the text is read again later.
 */
const ATTRIBUTE = /[\s/]*(?:[^\s/<>][^\s/<>=]*\s*(?:=\s*(?:(["'])|[^\s<>"'][^\s<>]*)?)?)?/y

/** Finds the ends of opening tags. A `<` outside quotes ends the attempt. */
export class TagEndFinder {
  #base = 0
  readonly #walks = new Map<number, AttributeWalk>()
  #last: { readonly from: number; walk: AttributeWalk } | null = null

  shift(by: number): void {
    this.#base += by
    if (this.#walks.size > MAX_WALKS) this.#walks.clear()
  }

  /** Returns the end of the tag whose name ends at `from`. */
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

  /** Skips an attribute. Returns false if the text ends within the attribute. */
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

  /** Skips the rest of a quoted value. If an earlier walk has reached the same position, continues that walk. */
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

type Token = TagToken | { readonly type: "dropped" }

/** Parses one complete construct with htmlparser2. */
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
    const onDropped = (_start: number, end: number) => this.#acceptToken({ type: "dropped" }, end)
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

  /** Parses `source` if it is exactly one token; otherwise returns null. */
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

  #addValue(text: string): void {
    this.#value += text
  }

  #endAttribute(quote: QuoteType): void {
    // If an attribute is repeated, the first one counts.
    if (this.#attributeName !== "id" || this.#id !== null) return
    const quoteChar = quote === QuoteType.Single ? "'" : quote === QuoteType.Double ? '"' : ""
    this.#id = { value: this.#value, quote: quoteChar }
  }

  #createOpenToken(selfClosing: boolean): TagToken {
    const id = this.#id !== null && this.#id.quote !== "" && TAG_ID.test(this.#id.value) ? this.#id.value : null
    return { type: "open", name: this.#name, id, quote: this.#id?.quote ?? "", selfClosing }
  }

  /** Records the first token and stops the tokenizer. */
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
