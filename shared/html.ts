/**
 * html.ts: which HTML may stay in model text, and how far one construct reaches.
 *
 * `<` in plain text → HTML → clean
 * The tokens are htmlparser2's; the policy is ours (DESIGN §5). Our own search for a construct's end only bounds what the
 * tokenizer is asked, so that hostile text costs one pass; where the two disagree the construct is text.
 * Pure.
 */

import { QuoteType, Tokenizer } from "htmlparser2"
import { MAX_HELD } from "./limits.ts"
import { TEXT, WAIT } from "./line.ts"

/** What becomes of a construct that ends before `end`; `text` is null if it goes. */
export interface Construct {
  readonly end: number
  readonly text: string | null
  /** Opens (1) or closes (-1) a span. */
  readonly span: -1 | 0 | 1
}

type Answer = Construct | typeof TEXT | typeof WAIT

const KEPT = new Set(
  "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 table thead tbody tr th td".split(
    " ",
  ),
)

/** Kept elements that have no end: their close tags mean nothing. */
const VOID = new Set(["br", "hr"])

/** Dropped with all that stands in them: code, styles, other documents, and fallbacks for media that no reader gets. */
const SWALLOWED = new Set(
  (
    "script style iframe object embed noscript template svg math textarea title " +
    "xmp noembed noframes plaintext frameset applet select datalist audio video canvas"
  ).split(" "),
)

/** The other elements of the HTML standard, obsolete ones too. Other names are words of the text: `Array<T>`, `<command>`. */
const OTHER = new Set(
  (
    "a abbr acronym address area article aside base basefont bdi bdo bgsound big blink body button caption center cite col " +
    "colgroup data dd del details dfn dialog dir div dl dt fieldset figcaption figure font footer form frame h5 h6 head " +
    "header hgroup html img input ins isindex keygen label legend link listing main map marquee menu menuitem meta meter " +
    "multicol nav nextid nobr optgroup option output param picture progress q rb rp rt rtc ruby samp search section " +
    "selectedcontent slot small source spacer span strike summary tfoot time tt track var wbr"
  ).split(" "),
)

const TAG_ID = /^[a-z][a-z0-9_]*_\d+$/
const AUTOLINK =
  /^<(?:(?:https?:\/\/|mailto:|tel:)[^\s<>`]*|[a-z0-9.!#$%&'*+/=?^_{|}~-]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)>$/i

const NAME = /[^\s/<>]*/y
const WORD_END = /[\s<>`]/g
const CONTROL = /[\0-\x1f\u202d\u202e]/

/**
 * Reads the constructs of one growing text, from left to right.
 *
 * Cost    all questions together one pass: every search is remembered.
 */
export class HtmlReader {
  readonly #tags = new TagEnds()
  readonly #tokens = new TokenReader()
  readonly #finders = new Map<string, Finder>()
  #base = 0

  shift(by: number): void {
    this.#base += by
    this.#tags.shift(by)
  }

  /**
   * The construct at a `<` that stands before a letter, `/`, `!` or `?`.
   *
   * Shapes  → what becomes of it; TEXT if it is none, or not finished within MAX_HELD; WAIT if it may still be one.
   */
  read(text: string, at: number, final: boolean): Answer {
    const answer = this.#read(text, at)
    if (answer === WAIT) return final || text.length - at >= MAX_HELD ? TEXT : WAIT
    return answer === TEXT || answer.end - at <= MAX_HELD ? answer : TEXT
  }

  #read(text: string, at: number): Answer {
    const plain = plainTag(text, at)
    if (plain !== null) return plain
    const second = text[at + 1]
    if (second === "!") return this.#declaration(text, at)
    if (second === "?") return this.#gone(text, at, ">", 2)
    const closes = second === "/"
    NAME.lastIndex = at + (closes ? 2 : 1)
    const written = NAME.exec(text)?.[0] ?? ""
    if (!/^[a-z]/i.test(written)) return NAME.lastIndex === text.length ? WAIT : TEXT
    if (!closes) {
      WORD_END.lastIndex = at + 1
      const end = WORD_END.exec(text)?.index
      // Without an end of the word there is neither a link nor a tag yet.
      if (end === undefined) return WAIT
      if (text[end] === ">" && end - at < MAX_HELD && isAutolink(text.slice(at, end + 1))) {
        return { end: end + 1, text: text.slice(at, end + 1), span: 0 }
      }
    }
    if (NAME.lastIndex === text.length) return WAIT
    const name = written.toLowerCase()
    if (!isElement(name)) return TEXT
    const end = closes ? this.#closeEnd(text, at) : this.#tags.find(text, NAME.lastIndex, at + MAX_HELD)
    if (end < 0) return end === WAIT ? WAIT : TEXT
    return end - at > MAX_HELD ? TEXT : this.#tag(text, at, end)
  }

  #declaration(text: string, at: number): Answer {
    const head = text.slice(at, at + 9).toLowerCase()
    if (head.startsWith("<!--")) return this.#gone(text, at, "-->", 2)
    if (head === "<!doctype") return this.#gone(text, at, ">", 9)
    if (text.startsWith("<![CDATA[", at)) return this.#gone(text, at, "]]>", 9)
    const rest = text.slice(at, at + 9)
    const open = "<!--".startsWith(rest) || "<!doctype".startsWith(head) || "<![CDATA[".startsWith(rest)
    return open && at + rest.length === text.length ? WAIT : TEXT
  }

  #gone(text: string, at: number, closer: keyof typeof CLOSERS, after: number): Answer {
    const end = this.#finder(closer, CLOSERS[closer]).find(text, at + after, this.#base)
    if (end === WAIT) return WAIT
    const goes = end - at <= MAX_HELD && this.#tokens.read(text.slice(at, end))?.type === "gone"
    return goes ? { end, text: null, span: 0 } : TEXT
  }

  #closeEnd(text: string, at: number): number {
    const end = this.#finder("<>", CLOSERS["<>"]).find(text, at + 1, this.#base)
    if (end === WAIT) return WAIT
    return text[end - 1] === ">" ? end : TEXT
  }

  #tag(text: string, at: number, end: number): Answer {
    const token = this.#tokens.read(text.slice(at, end))
    if (token === null || token.type === "gone") return TEXT
    const { name } = token
    if (token.type === "open" && SWALLOWED.has(name)) return this.#swallowed(text, token, end)
    const kept = keptTag(token)
    const span = name !== "span" ? 0 : token.type === "open" ? 1 : -1
    return { end, text: kept, span }
  }

  #swallowed(text: string, token: TagToken, end: number): Answer {
    const { name } = token
    if (token.selfClosing && (name === "svg" || name === "math")) return { end, text: null, span: 0 }
    const closer = this.#finder(`</${name}`, new RegExp(`</${name}(?:[\\s/][^<>]*)?>`, "gi"))
    const close = closer.find(text, end, this.#base)
    return close === WAIT ? WAIT : { end: close, text: null, span: 0 }
  }

  #finder(key: string, pattern: RegExp): Finder {
    const known = this.#finders.get(key)
    if (known !== undefined) return known
    const made = new Finder(pattern)
    this.#finders.set(key, made)
    return made
  }
}

/** A tag as we write it ourselves, which is how nearly all come: there is nothing about it to find out. */
const PLAIN_TAG = /<(\/?)([a-z]+[1-4]?)(?: id=(['"])[a-z][a-z0-9_]*_\d+\3)?>/y

function plainTag(text: string, at: number): Exclude<Answer, number> | null {
  PLAIN_TAG.lastIndex = at
  const match = PLAIN_TAG.exec(text)
  if (match === null) return null
  const [whole, slash, name = "", quote] = match
  const isSpan = name === "span"
  if (!(isSpan || KEPT.has(name)) || (quote !== undefined && (!isSpan || slash === "/"))) return null
  if (slash === "/" && VOID.has(name)) return null
  return { end: at + whole.length, text: whole, span: isSpan ? (slash === "/" ? -1 : 1) : 0 }
}

const CLOSERS = { ">": />/g, "-->": /--!?>/g, "]]>": /\]\]>/g, "<>": /[<>]/g }

function isElement(name: string): boolean {
  return KEPT.has(name) || OTHER.has(name) || SWALLOWED.has(name)
}

function isAutolink(word: string): boolean {
  return AUTOLINK.test(word) && !CONTROL.test(word)
}

function keptTag(token: TagToken): string | null {
  const { name } = token
  if (token.type === "close") return name === "span" || (KEPT.has(name) && !VOID.has(name)) ? `</${name}>` : null
  if (name !== "span") return KEPT.has(name) ? `<${name}>` : null
  return token.id === null ? "<span>" : `<span id=${token.quote}${token.id}${token.quote}>`
}

/** The end of the next match, remembered as long as it lies ahead. Positions inside are absolute. */
class Finder {
  readonly #pattern: RegExp
  #start = -1
  #end = -1
  /** No match starts before here, from the last question on. */
  #to = 0

  constructor(pattern: RegExp) {
    this.#pattern = new RegExp(pattern)
  }

  find(text: string, from: number, base: number): number {
    if (this.#start >= from + base) return this.#end - base
    this.#pattern.lastIndex = Math.max(from, this.#to - base)
    const match = this.#pattern.exec(text)
    if (match === null) {
      // A match may have begun at the last `<`, or in the last two code units.
      const open = this.#pattern.source.startsWith("<") ? text.lastIndexOf("<") : text.length - 3
      this.#to = Math.max(this.#to, base + Math.max(from, open))
      return WAIT
    }
    this.#start = match.index + base
    this.#end = this.#start + match[0].length
    return this.#end - base
  }
}

/** One walk over the attributes of a tag. Walks that meet after a closing quote go on as one. Positions are absolute. */
interface Walk {
  at: number
  /** In a value with this quote. */
  quote: string
  /** The tag's end, TEXT if there is none, WAIT if that is open. */
  end: number
}

/** More walks than fit into what is held; they are only remembered to save time. */
const MAX_WALKS = 2 * MAX_HELD

/** White space and one attribute, up to the quote of its value. An attribute cut off at the end is read again. */
const ATTRIBUTE = /[\s/]*(?:[^\s/<>][^\s/<>=]*(?:\s*=\s*(?:(["'])|[^\s<>"'][^\s<>]*)?)?)?/y

/** Finds where opening tags end. A `<` outside quotes ends the attempt. */
class TagEnds {
  #base = 0
  readonly #walks = new Map<number, Walk>()
  #last: { readonly from: number; walk: Walk } | null = null

  shift(by: number): void {
    this.#base += by
    if (this.#walks.size > MAX_WALKS) this.#walks.clear()
  }

  /** End of the tag whose name ends at `from`. */
  find(text: string, from: number, limit: number): number {
    const start = from + this.#base
    if (this.#last?.from !== start) this.#last = { from: start, walk: { at: start, quote: "", end: WAIT } }
    const last = this.#last
    const to = Math.min(limit + 1, text.length) + this.#base
    while (last.walk.end === WAIT && last.walk.at < to) {
      const { walk } = last
      const more = walk.quote === "" ? this.#attribute(text, walk) : this.#value(text, last)
      if (!more) break
    }
    const { end } = last.walk
    return end < 0 ? end : end - this.#base
  }

  /** Steps over an attribute; false if the text ends in it. */
  #attribute(text: string, walk: Walk): boolean {
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
  #value(text: string, last: { walk: Walk }): boolean {
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

interface TagToken {
  readonly type: "open" | "close"
  readonly name: string
  readonly id: string | null
  readonly quote: string
  readonly selfClosing: boolean
}

type Token = TagToken | { readonly type: "gone" }

/** Reads one finished construct with htmlparser2. */
class TokenReader {
  #source = ""
  #token: Token | null = null
  #end = -1
  #name = ""
  #attribute = ""
  #value = ""
  #id: { readonly value: string; readonly quote: string } | null = null
  readonly #tokenizer: Tokenizer

  constructor() {
    const nothing = () => {}
    const gone = (_start: number, end: number) => this.#finish({ type: "gone" }, end)
    const opened = (end: number, selfClosing: boolean) => this.#finish(this.#open(selfClosing), end)
    this.#tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (start, end) => this.#startTag(this.#source.slice(start, end)),
        onattribname: (start, end) => this.#startAttribute(this.#source.slice(start, end)),
        onattribdata: (start, end) => void (this.#value += this.#source.slice(start, end)),
        onattribend: (quote) => this.#endAttribute(quote),
        onopentagend: (end) => opened(end, false),
        onselfclosingtag: (end) => opened(end, true),
        onclosetag: (start, end) =>
          this.#finish(closeToken(this.#source.slice(start, end)), this.#source.indexOf(">", end)),
        oncomment: gone,
        oncdata: gone,
        ondeclaration: gone,
        onprocessinginstruction: gone,
        onattribentity: nothing,
        ontextentity: nothing,
        ontext: nothing,
        onend: nothing,
      },
    )
  }

  /** The one token that `source` is, or null if it is anything else. */
  read(source: string): Token | null {
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
    this.#attribute = name.toLowerCase()
    this.#value = ""
  }

  #endAttribute(quote: QuoteType): void {
    // The first of two attributes of one name counts.
    if (this.#attribute !== "id" || this.#id !== null) return
    const mark = quote === QuoteType.Single ? "'" : quote === QuoteType.Double ? '"' : ""
    this.#id = { value: this.#value, quote: mark }
  }

  #open(selfClosing: boolean): TagToken {
    const id = this.#id !== null && this.#id.quote !== "" && TAG_ID.test(this.#id.value) ? this.#id.value : null
    return { type: "open", name: this.#name, id, quote: this.#id?.quote ?? "", selfClosing }
  }

  /** Takes the first token only. */
  #finish(token: Token, end: number): void {
    if (this.#token !== null) return
    this.#token = token
    this.#end = end
    this.#tokenizer.pause()
  }
}

function closeToken(name: string): TagToken {
  return { type: "close", name: name.toLowerCase(), id: null, quote: "", selfClosing: false }
}
