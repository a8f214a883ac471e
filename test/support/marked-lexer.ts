/**
 * marked-lexer.ts: parses prose with `marked`, as the page did before it had its own parser
 * (docs/decisions/0083-markdown-parser.md).
 *
 * Tests compare the page's parser with this lexer. Fences, indented code and HTML blocks are turned off; formulas and
 * footnotes are extensions.
 */

import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked"
import {
  FOOTNOTE_LABEL,
  matchFootnoteReference,
  readFootnote,
  toFootnoteKey,
} from "../../client/markdown/syntax/footnote-syntax.ts"
import { matchMath, matchMathBlock, MAX_MATH_CHARS } from "../../client/markdown/syntax/math-syntax.ts"
import type { LinkDefinitions, ProseToken } from "../../client/markdown/markdown-lexer.ts"
import { MAX_BLOCK_DEPTH } from "../../client/markdown/parse/block-parser.ts"
import { MAX_INLINE_CHARS, MAX_INLINE_MARKUP } from "../../client/markdown/parse/inline-parser.ts"

const MARKUP_CHARS = /[*_~[\]<`!\\$]/g

class ProseTokenizer extends Tokenizer {
  override fences(): undefined {}
  override code(): undefined {}
  override html(): undefined {}

  /**
   * Accepts a definition only on one line and at the top level. A title that spans lines could change blocks that are
   * already complete.
   */
  override def(src: string): Tokens.Def | undefined {
    if (!(this.lexer instanceof ProseLexer) || this.lexer.depth > 1) return undefined
    const found = DEFINITION.exec(src)
    const [raw, tag, href, title] = found ?? []
    if (raw === undefined || tag === undefined || href === undefined) return undefined
    return {
      type: "def",
      tag: tag.toLowerCase().replace(/\s+/g, " "),
      raw,
      href: href.replace(/^<|>$/g, ""),
      title: title?.slice(1, -1) ?? "",
    }
  }

  /** A footnote ends the paragraph before it, so its line isn't part of a heading. */
  override lheading(src: string): Tokens.Heading | undefined {
    const token = super.lheading(src)
    return token !== undefined && FOOTNOTE_LINE.test(token.raw) ? undefined : token
  }

  /** An asterisk or underscore in a formula neither begins nor ends emphasis. */
  override emStrong(src: string, maskedSrc: string, prevChar?: string): Tokens.Em | Tokens.Strong | undefined {
    const masked = this.lexer instanceof ProseLexer ? this.lexer.maskMath(maskedSrc) : maskedSrc
    return super.emStrong(src, masked, prevChar)
  }

  /** Ends plain text before `$$`, where marked wouldn't stop. */
  override inlineText(src: string): Tokens.Text | undefined {
    const token = super.inlineText(src)
    const at = token?.raw.indexOf("$$", 1) ?? -1
    if (token === undefined || at < 0) return token
    const raw = token.raw.slice(0, at)
    return { ...token, raw, text: raw }
  }

  /**
   * Compares the cell counts of the header row and the delimiter row before it calls marked, whose regex scans all of
   * the remaining text.
   */
  override table(src: string): Tokens.Table | undefined {
    const end = src.indexOf("\n")
    const next = src.indexOf("\n", end + 1)
    const rule = src.slice(end + 1, next < 0 ? src.length : next)
    if (end < 0 || !/[:|]/.test(rule) || countCells(src.slice(0, end)) !== countCells(rule)) return undefined
    return super.table(src)
  }
}

const FOOTNOTE_LINE = new RegExp(`\\n {0,3}${FOOTNOTE_LABEL}:`)

const DEFINITION =
  /^ {0,3}\[(?!\^)([^[\]\n\\]{1,200})\]:[ \t]*(<[^<>\n]*>|[^\s<][^\s]*)(?:[ \t]+("[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n+|$)/

function countCells(line: string): number {
  const row = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
  return row.split(/(?<!\\)\|/).length
}

/**
 * Matches a paragraph, which ends before a line that begins another block. This regex looks ahead by only one line, or
 * two for a table header; marked's regex scans the whole table, once for every line. A footnote ends a paragraph, but
 * HTML and fences don't.
 */
const PARAGRAPH = new RegExp(
  `^([^\\n]+(?:\\n(?!${[
    "[ \\t]+\\n",
    " {0,3}(?:(?:-[ \\t]*){3,}|(?:_[ \\t]*){3,}|(?:\\*[ \\t]*){3,})(?:\\n|$)",
    " {0,3}#{1,6}(?:\\s|$)",
    " {0,3}>",
    " {0,3}(?:\\\\\\[|\\$\\$)[ \\t]*\\n",
    " {0,3}(?:[*+-]|1[.)])[ \\t]+[^ \\t\\n]",
    ` {0,3}${FOOTNOTE_LABEL}:`,
    " *[^\\n ].*\\n(?=.*\\|) {0,3}(?:\\| *)?:?-+:? *(?:\\| *:?-+:? *)*(?:\\| *)?(?:\\n|$)",
  ].join("|")})[^\\n]+)*)`,
)

/** Formulas and footnotes, as extensions of marked. */
const EXTENSIONS = {
  renderers: {},
  childTokens: {},
  inline: [
    (src: string): Tokens.Generic | undefined => {
      const raw = matchMath(src)
      return raw === null ? undefined : createMathToken(raw)
    },
    (src: string): Tokens.Generic | undefined => {
      const raw = matchFootnoteReference(src)
      return raw === null ? undefined : { type: "footnote_ref", raw, text: toFootnoteKey(raw.slice(2, -1)) }
    },
  ],
  block: [
    (src: string): Tokens.Generic | undefined => {
      const raw = matchMathBlock(src)
      return raw === null ? undefined : { type: "paragraph", raw, text: raw, tokens: [createMathToken(raw)] }
    },
    parseFootnote,
  ],
}

/** Parses a footnote. Like a link definition, it must be at the top level. */
function parseFootnote(this: { readonly lexer: Lexer }, src: string): Tokens.Generic | undefined {
  if (!(this.lexer instanceof ProseLexer) || this.lexer.depth > 1) return undefined
  const footnote = readFootnote(src)
  if (footnote === null) return undefined
  const { raw, label, body } = footnote
  return { type: "footnote", raw, text: label, tokens: this.lexer.blockTokens(body, []) }
}

class ProseLexer extends Lexer {
  depth = 0
  /** The paragraph whose inline tokens are being parsed, and marked's copy of it with and without formulas. */
  #inline = { src: "", masked: "", withoutMath: "" }

  constructor() {
    const tokenizer = new ProseTokenizer()
    super({ gfm: true, tokenizer, extensions: EXTENSIONS })
    tokenizer.rules = { ...tokenizer.rules, block: { ...tokenizer.rules.block, paragraph: PARAGRAPH } }
  }

  override blockTokens(src: string, tokens?: Token[], clipped?: boolean): Token[]
  override blockTokens(src: string, tokens?: TokensList, clipped?: boolean): TokensList
  override blockTokens(src: string, tokens: Token[] = [], clipped?: boolean): Token[] {
    if (this.depth >= MAX_BLOCK_DEPTH) {
      if (src !== "") tokens.push({ type: "text", raw: src, text: src, tokens: [createVerbatimToken(src)] })
      return tokens
    }
    this.depth++
    try {
      return super.blockTokens(src, tokens, clipped)
    } finally {
      this.depth--
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (isTooCostly(src)) {
      tokens.push(createVerbatimToken(src))
      return tokens
    }
    const outer = this.#inline
    this.#inline = { src, masked: "", withoutMath: "" }
    super.inlineTokens(src, tokens)
    this.#inline = outer
    return tokens
  }

  /**
   * Replaces the current paragraph's formulas in marked's copy of the paragraph, without changing the copy's length.
   */
  maskMath(masked: string): string {
    if (this.#inline.masked !== masked) {
      this.#inline = { ...this.#inline, masked, withoutMath: hideMath(this.#inline.src, masked) }
    }
    return this.#inline.withoutMath
  }
}

const ESCAPE_OR_MATH = /\\[\s\S]|\$\$/g

function hideMath(src: string, masked: string): string {
  let hidden = masked
  ESCAPE_OR_MATH.lastIndex = 0
  for (let found = ESCAPE_OR_MATH.exec(src); found !== null; found = ESCAPE_OR_MATH.exec(src)) {
    const math = matchMath(src.slice(found.index, found.index + MAX_MATH_CHARS + 4))
    if (math === null) continue
    const end = found.index + math.length
    hidden = hidden.slice(0, found.index) + "a".repeat(math.length) + hidden.slice(end)
    ESCAPE_OR_MATH.lastIndex = end
  }
  return hidden
}

function isTooCostly(src: string): boolean {
  if (src.length > MAX_INLINE_CHARS) return true
  if (src.length <= MAX_INLINE_MARKUP) return false
  MARKUP_CHARS.lastIndex = 0
  let count = 0
  while (MARKUP_CHARS.test(src)) if (++count > MAX_INLINE_MARKUP) return true
  return false
}

function createMathToken(raw: string): Token {
  return { type: "math", raw, text: raw }
}

/** Creates a token that is shown as written, without emphasis and without decoded entities. */
function createVerbatimToken(text: string): Token {
  return { type: "escape", raw: text, text }
}

/** Parses prose into the tokens that the page's `lexProse` must produce. */
export function lexWithMarked(text: string, definitions: LinkDefinitions = {}): readonly ProseToken[] {
  const lexer = new ProseLexer()
  Object.assign(lexer.tokens.links, definitions)
  // marked's tokens have these fields, but its union type doesn't declare all of them.
  return lexer.lex(text) as readonly ProseToken[]
}
