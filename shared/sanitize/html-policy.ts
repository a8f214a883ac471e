/**
 * html-policy.ts: which HTML may stay in model text, and how far one construct reaches.
 *
 * `<` in plain text → HTML → clean
 * The policy is ours (DESIGN §5); tag.ts has the tokens.
 * Pure.
 */

import { MAX_HELD } from "../limits.ts"
import { TEXT, WAIT } from "../text/fence.ts"
import { Finder, TagEnds, type TagToken, TokenReader } from "./html-token.ts"

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

/** Swallowed elements that a slash ends at once. */
const FOREIGN = new Set(["svg", "math"])

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

const AUTOLINK =
  /^<(?:(?:https?:\/\/|mailto:|tel:)[^\s<>`]*|[a-z0-9.!#$%&'*+/=?^_{|}~-]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)>$/i

const WORD_END = /[\s<>`]/g
const LINKISH = /[:@]/
const SPACE = 32
const BANG = 33
const SLASH = 47
const LESS = 60
const GREATER = 62
const LETTER_S = 115
const QUESTION = 63
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
    const second = text.charCodeAt(at + 1)
    if (second === BANG) return this.#declaration(text, at)
    if (second === QUESTION) return this.#gone(text, at, ">", 2)
    const closes = second === SLASH
    const start = at + (closes ? 2 : 1)
    if (start === text.length) return WAIT
    const first = text.charCodeAt(start)
    if (!isLetter(first)) return TEXT
    const span = first === LETTER_S ? plainSpan(text, at) : null
    if (span !== null) return span
    const end = nameEnd(text, start, at + MAX_HELD)
    if (end === text.length) return WAIT
    const name = text.slice(start, end).toLowerCase()
    const isKnown = ELEMENTS.has(name)
    const slash = text.charCodeAt(end) === SLASH
    if (!closes && (slash || (!isKnown && LINKISH.test(name)))) {
      const link = readLink(text, at)
      if (link !== TEXT) return link
    }
    return isKnown ? this.#element(text, at, name, closes) : TEXT
  }

  /** Is there a `>`, or may one still come, within MAX_HELD? */
  #mayEnd(text: string, at: number): boolean {
    const end = this.#finder(">").find(text, at + 1, this.#base)
    return end === WAIT ? text.length - at < MAX_HELD : end - at <= MAX_HELD
  }

  #element(text: string, at: number, name: string, closes: boolean): Answer {
    const plain = plainTag(text, at)
    if (plain !== null) return plain
    if (!this.#mayEnd(text, at)) return TEXT
    const from = at + name.length + (closes ? 2 : 1)
    const end = closes ? this.#closeEnd(text, at) : this.#tags.find(text, from, at + MAX_HELD)
    if (end < 0) return end === WAIT ? WAIT : TEXT
    return end - at > MAX_HELD ? TEXT : this.#tag(text, at, end, name, closes)
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

  #gone(text: string, at: number, closer: string, after: number): Answer {
    const end = this.#finder(closer).find(text, at + after, this.#base)
    if (end === WAIT) return WAIT
    const goes = end - at <= MAX_HELD && this.#tokens.read(text.slice(at, end))?.type === "gone"
    return goes ? { end, text: null, span: 0 } : TEXT
  }

  #closeEnd(text: string, at: number): number {
    const end = this.#finder("<>").find(text, at + 1, this.#base)
    if (end === WAIT) return WAIT
    return text[end - 1] === ">" ? end : TEXT
  }

  #tag(text: string, at: number, end: number, name: string, closes: boolean): Answer {
    const swallows = !closes && SWALLOWED.has(name)
    // First what is cheap: without its close tag it is text.
    const close = swallows ? this.#finder(name).find(text, end, this.#base) : end
    if (close === WAIT && !FOREIGN.has(name)) return WAIT
    const token = this.#tokens.read(text.slice(at, end))
    if (token === null || token.type === "gone" || token.name !== name) return TEXT
    if (swallows && token.selfClosing && FOREIGN.has(name)) return { end, text: null, span: 0 }
    if (swallows) return close === WAIT ? WAIT : { end: close, text: null, span: 0 }
    return { end, text: keptTag(token), span: name !== "span" ? 0 : closes ? -1 : 1 }
  }

  /** The search for a closer, or for the close tag of a name. */
  #finder(key: string): Finder {
    const known = this.#finders.get(key)
    if (known !== undefined) return known
    const made = new Finder(CLOSERS.get(key) ?? new RegExp(`</${key}(?:[\\s/][^<>]*)?>`, "gi"))
    this.#finders.set(key, made)
    return made
  }
}

/** Tags as we write them ourselves, which is how nearly all come: there is nothing about them to find out. */
const PLAIN_SPAN = /<(?:\/span|span(?: id=(?:'[a-z][a-z0-9_]*_\d+'|"[a-z][a-z0-9_]*_\d+"))?)>/y
const PLAIN_TAG = new RegExp(`</?(?:${[...KEPT].filter((name) => !VOID.has(name)).join("|")})>`, "y")

function plainSpan(text: string, at: number): Construct | null {
  PLAIN_SPAN.lastIndex = at
  if (!PLAIN_SPAN.test(text)) return null
  const end = PLAIN_SPAN.lastIndex
  return { end, text: text.slice(at, end), span: text.charCodeAt(at + 1) === SLASH ? -1 : 1 }
}

function plainTag(text: string, at: number): Construct | null {
  PLAIN_TAG.lastIndex = at
  if (!PLAIN_TAG.test(text)) return null
  return { end: PLAIN_TAG.lastIndex, text: text.slice(at, PLAIN_TAG.lastIndex), span: 0 }
}

const CLOSERS = new Map([
  [">", />/g],
  ["-->", /--!?>/g],
  ["]]>", /\]\]>/g],
  ["<>", /[<>]/g],
])

const ELEMENTS = new Set([...KEPT, ...SWALLOWED, ...OTHER])

/** Where the name that starts at `start` ends: at white space, `/`, `<` or `>`, or at the end of the text. */
function nameEnd(text: string, start: number, limit: number): number {
  const stop = Math.min(text.length, limit)
  for (let at = start; at < stop; at++) {
    const code = text.charCodeAt(at)
    if (code <= SPACE || code === SLASH || code === LESS || code === GREATER) return at
  }
  return text.length
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

/** An autolink stays as it is. */
function readLink(text: string, at: number): Answer {
  WORD_END.lastIndex = at + 1
  const end = WORD_END.exec(text)?.index
  if (end === undefined) return WAIT
  if (text[end] !== ">" || end - at >= MAX_HELD) return TEXT
  const word = text.slice(at, end + 1)
  return isAutolink(word) ? { end: end + 1, text: word, span: 0 } : TEXT
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
