/**
 * html-policy.ts: decides which HTML remains in model text, and where an HTML construct ends.
 *
 * `<` in text → HTML POLICY → clean
 * Allowed elements remain without their attributes, some elements are removed together with their content, and other
 * elements of the HTML standard lose their tags. Anything else is text.
 */

import { MAX_PENDING_CHARS } from "../limits.ts"
import { TEXT, WAIT } from "../text/fence.ts"
import { MatchFinder, TagEndFinder, type TagToken, TokenReader } from "./html-token.ts"

/** A construct that ends before `end`, and the `text` that replaces it: null if the construct is removed. */
export interface HtmlConstruct {
  readonly end: number
  readonly text: string | null
  /** 1 if the construct opens a span, -1 if it closes one. The `text` of an opening tag without a tag id is null. */
  readonly span: -1 | 0 | 1
  /** Whether the removed tag separated the words before and after it. */
  readonly isBreak?: boolean
}

type ReadResult = HtmlConstruct | typeof TEXT | typeof WAIT

const ALLOWED_ELEMENTS = new Set(
  "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 table thead tbody tr th td".split(
    " ",
  ),
)

/** The allowed elements without content. Their closing tags are removed. */
const VOID_ELEMENTS = new Set(["br", "hr"])

/**
 * Elements that are removed together with their content: scripts, styles, embedded documents, and fallbacks for media
 * that is never shown.
 */
const REMOVED_ELEMENTS = new Set(
  (
    "script style iframe object embed noscript template svg math textarea title " +
    "xmp noembed noframes plaintext frameset applet select datalist audio video canvas"
  ).split(" "),
)

/** The removed elements that may be self-closing. */
const FOREIGN_ELEMENTS = new Set(["svg", "math"])

/**
 * All other elements of the HTML standard, including obsolete ones. Tags with unknown names, such as `Array<T>` and
 * `<command>`, are text.
 */
const UNWRAPPED_ELEMENTS = new Set(
  (
    "a abbr acronym address area article aside base basefont bdi bdo bgsound big blink body button caption center cite col " +
    "colgroup data dd del details dfn dialog dir div dl dt fieldset figcaption figure font footer form frame h5 h6 head " +
    "header hgroup html img input ins isindex keygen label legend link listing main map marquee menu menuitem meta meter " +
    "multicol nav nextid nobr optgroup option output param picture progress q rb rp rt rtc ruby samp search section " +
    "selectedcontent slot small source spacer span strike summary tfoot time tt track var wbr"
  ).split(" "),
)

/** The inline elements in UNWRAPPED_ELEMENTS. The others separate words. */
const INLINE_ELEMENTS = new Set(
  (
    "a abbr acronym basefont bdi bdo bgsound big blink cite data del dfn font ins label link meta nobr output q rb rp rt rtc " +
    "ruby samp small source spacer span strike time track tt var wbr"
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
 * Reads the HTML constructs in growing text, from left to right. Searches are cached, so all calls together cost one
 * pass.
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
   * Reads the construct at a `<` that precedes a letter, `/`, `!` or `?`. Returns TEXT if there is no construct or it
   * is longer than MAX_PENDING_CHARS, and WAIT if that depends on further text.
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

  /** Returns whether there is, or may still be, a `>` within MAX_PENDING_CHARS. */
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
    const isDropped = end - at <= MAX_PENDING_CHARS && this.#tokens.readToken(text.slice(at, end))?.type === "dropped"
    return isDropped ? { end, text: null, span: 0 } : TEXT
  }

  #findCloseTagEnd(text: string, at: number): number {
    const end = this.#getFinder("<>").find(text, at + 1, this.#base)
    if (end === WAIT) return WAIT
    return text[end - 1] === ">" ? end : TEXT
  }

  #readTag(text: string, at: number, end: number, name: string, isClosing: boolean): ReadResult {
    const removesContent = !isClosing && REMOVED_ELEMENTS.has(name)
    // Checked first, because the check is cheap: without a closing tag, the construct is text.
    const close = removesContent ? this.#getFinder(name).find(text, end, this.#base) : end
    if (close === WAIT && !FOREIGN_ELEMENTS.has(name)) return WAIT
    const token = this.#tokens.readToken(text.slice(at, end))
    if (token === null || token.type === "dropped" || token.name !== name) return TEXT
    if (removesContent && token.selfClosing && FOREIGN_ELEMENTS.has(name)) return { end, text: null, span: 0 }
    if (removesContent) return close === WAIT ? WAIT : { end: close, text: null, span: 0 }
    const isBreak = UNWRAPPED_ELEMENTS.has(name) && !INLINE_ELEMENTS.has(name)
    return { end, text: renderAllowedTag(token), span: name !== "span" ? 0 : isClosing ? -1 : 1, isBreak }
  }

  /** Returns the cached search for an end delimiter, or for the closing tag of an element. */
  #getFinder(key: string): MatchFinder {
    const known = this.#finders.get(key)
    if (known !== undefined) return known
    const created = new MatchFinder(CLOSERS.get(key) ?? new RegExp(`</${key}(?:[\\s/][^<>]*)?>`, "gi"))
    this.#finders.set(key, created)
    return created
  }
}

/** Matches tags in canonical form, as nearly all text has them. Such tags need no further parsing. */
const PLAIN_SPAN = /<(?:\/span|span id=(?:'[a-z][a-z0-9_]*_\d+'|"[a-z][a-z0-9_]*_\d+"))>/y
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

/**
 * Returns the end of the name that starts at `start`: the index of whitespace, `/`, `<` or `>`, or the end of the text.
 */
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

/** Reads an autolink, which is left unchanged. */
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
  return token.id === null ? null : `<span id=${token.quote}${token.id}${token.quote}>`
}
