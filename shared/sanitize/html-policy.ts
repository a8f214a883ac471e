/**
 * html-policy.ts: which HTML may stay in model text, and how far one construct reaches.
 *
 * `<` in plain text → HTML → clean
 * The policy is ours (DESIGN §5); tag.ts has the tokens.
 * Pure.
 */

import { MAX_PENDING_CHARS } from "../limits.ts"
import { TEXT, WAIT } from "../text/fence.ts"
import { MatchFinder, TagEndFinder, type TagToken, TokenReader } from "./html-token.ts"

/** What becomes of a construct that ends before `end`; `text` is null if it goes. */
export interface HtmlConstruct {
  readonly end: number
  readonly text: string | null
  /** Opens (1) or closes (-1) a span. */
  readonly span: -1 | 0 | 1
}

type ReadResult = HtmlConstruct | typeof TEXT | typeof WAIT

const ALLOWED_ELEMENTS = new Set(
  "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 table thead tbody tr th td".split(
    " ",
  ),
)

/** Kept elements that have no end: their close tags mean nothing. */
const VOID_ELEMENTS = new Set(["br", "hr"])

/** Dropped with all that stands in them: code, styles, other documents, and fallbacks for media that no reader gets. */
const REMOVED_ELEMENTS = new Set(
  (
    "script style iframe object embed noscript template svg math textarea title " +
    "xmp noembed noframes plaintext frameset applet select datalist audio video canvas"
  ).split(" "),
)

/** Swallowed elements that a slash ends at once. */
const FOREIGN_ELEMENTS = new Set(["svg", "math"])

/** The other elements of the HTML standard, obsolete ones too. Other names are words of the text: `Array<T>`, `<command>`. */
const UNWRAPPED_ELEMENTS = new Set(
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
const LINK_HINT = /[:@]/
const SPACE = 32
const BANG = 33
const SLASH = 47
const LESS = 60
const GREATER = 62
const LETTER_S = 115
const QUESTION = 63
const CONTROL_CHAR = /[\0-\x1f\u202d\u202e]/

/**
 * Reads the constructs of one growing text, from left to right.
 *
 * Cost    all questions together one pass: every search is remembered.
 */
export class HtmlReader {
  readonly #tags = new TagEndFinder()
  readonly #tokens = new TokenReader()
  readonly #finders = new Map<string, MatchFinder>()
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
  readConstruct(text: string, at: number, final: boolean): ReadResult {
    const result = this.#readUnbounded(text, at)
    if (result === WAIT) return final || text.length - at >= MAX_PENDING_CHARS ? TEXT : WAIT
    return result === TEXT || result.end - at <= MAX_PENDING_CHARS ? result : TEXT
  }

  #readUnbounded(text: string, at: number): ReadResult {
    const second = text.charCodeAt(at + 1)
    if (second === BANG) return this.#readDeclaration(text, at)
    if (second === QUESTION) return this.#readDropped(text, at, ">", 2)
    const isClosing = second === SLASH
    const start = at + (isClosing ? 2 : 1)
    if (start === text.length) return WAIT
    const first = text.charCodeAt(start)
    if (!isLetter(first)) return TEXT
    const span = first === LETTER_S ? matchPlainSpan(text, at) : null
    if (span !== null) return span
    const end = findNameEnd(text, start, at + MAX_PENDING_CHARS)
    if (end === text.length) return WAIT
    const name = text.slice(start, end).toLowerCase()
    const isKnown = KNOWN_ELEMENTS.has(name)
    const hasSlash = text.charCodeAt(end) === SLASH
    if (!isClosing && (hasSlash || (!isKnown && LINK_HINT.test(name)))) {
      const link = readAutolink(text, at)
      if (link !== TEXT) return link
    }
    return isKnown ? this.#readElement(text, at, name, isClosing) : TEXT
  }

  /** Is there a `>`, or may one still come, within MAX_HELD? */
  #canEnd(text: string, at: number): boolean {
    const end = this.#getFinder(">").find(text, at + 1, this.#base)
    return end === WAIT ? text.length - at < MAX_PENDING_CHARS : end - at <= MAX_PENDING_CHARS
  }

  #readElement(text: string, at: number, name: string, isClosing: boolean): ReadResult {
    const plain = matchPlainTag(text, at)
    if (plain !== null) return plain
    if (!this.#canEnd(text, at)) return TEXT
    const from = at + name.length + (isClosing ? 2 : 1)
    const end = isClosing ? this.#findCloseTagEnd(text, at) : this.#tags.find(text, from, at + MAX_PENDING_CHARS)
    if (end < 0) return end === WAIT ? WAIT : TEXT
    return end - at > MAX_PENDING_CHARS ? TEXT : this.#readTag(text, at, end, name, isClosing)
  }

  #readDeclaration(text: string, at: number): ReadResult {
    const head = text.slice(at, at + 9).toLowerCase()
    if (head.startsWith("<!--")) return this.#readDropped(text, at, "-->", 2)
    if (head === "<!doctype") return this.#readDropped(text, at, ">", 9)
    if (text.startsWith("<![CDATA[", at)) return this.#readDropped(text, at, "]]>", 9)
    const rest = text.slice(at, at + 9)
    const isPrefix = "<!--".startsWith(rest) || "<!doctype".startsWith(head) || "<![CDATA[".startsWith(rest)
    return isPrefix && at + rest.length === text.length ? WAIT : TEXT
  }

  #readDropped(text: string, at: number, closer: string, after: number): ReadResult {
    const end = this.#getFinder(closer).find(text, at + after, this.#base)
    if (end === WAIT) return WAIT
    const isDropped = end - at <= MAX_PENDING_CHARS && this.#tokens.readToken(text.slice(at, end))?.type === "gone"
    return isDropped ? { end, text: null, span: 0 } : TEXT
  }

  #findCloseTagEnd(text: string, at: number): number {
    const end = this.#getFinder("<>").find(text, at + 1, this.#base)
    if (end === WAIT) return WAIT
    return text[end - 1] === ">" ? end : TEXT
  }

  #readTag(text: string, at: number, end: number, name: string, isClosing: boolean): ReadResult {
    const removesContent = !isClosing && REMOVED_ELEMENTS.has(name)
    // First what is cheap: without its close tag it is text.
    const close = removesContent ? this.#getFinder(name).find(text, end, this.#base) : end
    if (close === WAIT && !FOREIGN_ELEMENTS.has(name)) return WAIT
    const token = this.#tokens.readToken(text.slice(at, end))
    if (token === null || token.type === "gone" || token.name !== name) return TEXT
    if (removesContent && token.selfClosing && FOREIGN_ELEMENTS.has(name)) return { end, text: null, span: 0 }
    if (removesContent) return close === WAIT ? WAIT : { end: close, text: null, span: 0 }
    return { end, text: renderAllowedTag(token), span: name !== "span" ? 0 : isClosing ? -1 : 1 }
  }

  /** The search for a closer, or for the close tag of a name. */
  #getFinder(key: string): MatchFinder {
    const known = this.#finders.get(key)
    if (known !== undefined) return known
    const created = new MatchFinder(CLOSERS.get(key) ?? new RegExp(`</${key}(?:[\\s/][^<>]*)?>`, "gi"))
    this.#finders.set(key, created)
    return created
  }
}

/** Tags as we write them ourselves, which is how nearly all come: there is nothing about them to find out. */
const PLAIN_SPAN = /<(?:\/span|span(?: id=(?:'[a-z][a-z0-9_]*_\d+'|"[a-z][a-z0-9_]*_\d+"))?)>/y
const PLAIN_TAG = new RegExp(
  `</?(?:${[...ALLOWED_ELEMENTS].filter((name) => !VOID_ELEMENTS.has(name)).join("|")})>`,
  "y",
)

function matchPlainSpan(text: string, at: number): HtmlConstruct | null {
  PLAIN_SPAN.lastIndex = at
  if (!PLAIN_SPAN.test(text)) return null
  const end = PLAIN_SPAN.lastIndex
  return { end, text: text.slice(at, end), span: text.charCodeAt(at + 1) === SLASH ? -1 : 1 }
}

function matchPlainTag(text: string, at: number): HtmlConstruct | null {
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

const KNOWN_ELEMENTS = new Set([...ALLOWED_ELEMENTS, ...REMOVED_ELEMENTS, ...UNWRAPPED_ELEMENTS])

/** Where the name that starts at `start` ends: at white space, `/`, `<` or `>`, or at the end of the text. */
function findNameEnd(text: string, start: number, limit: number): number {
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
function readAutolink(text: string, at: number): ReadResult {
  WORD_END.lastIndex = at + 1
  const end = WORD_END.exec(text)?.index
  if (end === undefined) return WAIT
  if (text[end] !== ">" || end - at >= MAX_PENDING_CHARS) return TEXT
  const word = text.slice(at, end + 1)
  return isAutolink(word) ? { end: end + 1, text: word, span: 0 } : TEXT
}

function isAutolink(word: string): boolean {
  return AUTOLINK.test(word) && !CONTROL_CHAR.test(word)
}

function renderAllowedTag(token: TagToken): string | null {
  const { name } = token
  if (token.type === "close")
    return name === "span" || (ALLOWED_ELEMENTS.has(name) && !VOID_ELEMENTS.has(name)) ? `</${name}>` : null
  if (name !== "span") return ALLOWED_ELEMENTS.has(name) ? `<${name}>` : null
  return token.id === null ? "<span>" : `<span id=${token.quote}${token.id}${token.quote}>`
}
