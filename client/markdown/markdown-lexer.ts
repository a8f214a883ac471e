/**
 * markdown-lexer.ts: prose to Markdown tokens, in bounded time.
 *
 * text → splitFences → LEX → tokens → nodes
 * `marked` reads the prose. Code fences are cut out before it (shared/text/code-tracker.ts), so its own fences, indented code and
 * HTML blocks are off: page and server agree on what is code. Where its time or stack could run away the text stays text.
 * Pure. Source: SPEC MD1–MD8.
 */

import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked"

/** What is used of a token of `marked`. Which fields are there follows from `type`. */
export interface ProseToken {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly tokens?: readonly ProseToken[]
  readonly depth?: number
  readonly href?: string
  readonly title?: string | null
  readonly tag?: string
  readonly autolink?: boolean
  readonly checked?: boolean
  readonly task?: boolean
  readonly ordered?: boolean
  readonly start?: number | ""
  readonly items?: readonly ProseToken[]
  readonly header?: readonly TableCell[]
  readonly rows?: readonly (readonly TableCell[])[]
}

export interface TableCell {
  readonly tokens: readonly ProseToken[]
  readonly align: "center" | "left" | "right" | null
}

/** Targets of `[text][name]`, by name. */
export interface LinkDefinitions {
  readonly [name: string]: { readonly href: string; readonly title: string | undefined }
}

/** Most marks (`*`, `[`, `<`, …) in one paragraph, cell or item: emphasis is quadratic in them. More is plain text. */
export const MAX_INLINE_MARKUP = 1000

/** Longest paragraph, cell or item that is read for marks, in UTF-16 code units. Longer is plain text. */
export const MAX_INLINE_CHARS = 50_000

/** Quotes and lists inside one another: each level reads its content again, and takes stack. Deeper is plain text. */
export const MAX_BLOCK_DEPTH = 24

/** Targets of reference links kept per text. */
export const MAX_DEFINITIONS = 500

const MARKUP_CHARS = /[*_~[\]<`!]/g

class ProseTokenizer extends Tokenizer {
  override fences(): undefined {}
  override code(): undefined {}
  override html(): undefined {}

  /** One line, at the outermost level only: a title over several lines could change blocks that are long finished. */
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

  /** Asked only where head and rule have as many cells: the expression reads the whole rest to find out. */
  override table(src: string): Tokens.Table | undefined {
    const end = src.indexOf("\n")
    const next = src.indexOf("\n", end + 1)
    const rule = src.slice(end + 1, next < 0 ? src.length : next)
    if (end < 0 || !/[:|]/.test(rule) || countCells(src.slice(0, end)) !== countCells(rule)) return undefined
    return super.table(src)
  }
}

const DEFINITION =
  /^ {0,3}\[([^[\]\n\\]{1,200})\]:[ \t]*(<[^<>\n]*>|[^\s<][^\s]*)(?:[ \t]+("[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n+|$)/

function countCells(line: string): number {
  const row = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
  return row.split(/(?<!\\)\|/).length
}

/**
 * A paragraph goes on until a line that begins something else. Ours differs from marked's in what it looks at: the next
 * line, or two for the head of a table. Theirs reads the whole table, once for every line. HTML and fences end nothing.
 */
const PARAGRAPH = new RegExp(
  `^([^\\n]+(?:\\n(?!${[
    "[ \\t]+\\n",
    " {0,3}(?:(?:-[ \\t]*){3,}|(?:_[ \\t]*){3,}|(?:\\*[ \\t]*){3,})(?:\\n|$)",
    " {0,3}#{1,6}(?:\\s|$)",
    " {0,3}>",
    " {0,3}(?:[*+-]|1[.)])[ \\t]+[^ \\t\\n]",
    " *[^\\n ].*\\n(?=.*\\|) {0,3}(?:\\| *)?:?-+:? *(?:\\| *:?-+:? *)*(?:\\| *)?(?:\\n|$)",
  ].join("|")})[^\\n]+)*)`,
)

class ProseLexer extends Lexer {
  depth = 0

  constructor() {
    const tokenizer = new ProseTokenizer()
    super({ gfm: true, tokenizer })
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
    if (!isTooCostly(src)) return super.inlineTokens(src, tokens)
    tokens.push(createVerbatimToken(src))
    return tokens
  }
}

function isTooCostly(src: string): boolean {
  if (src.length > MAX_INLINE_CHARS) return true
  if (src.length <= MAX_INLINE_MARKUP) return false
  MARKUP_CHARS.lastIndex = 0
  let marks = 0
  while (MARKUP_CHARS.test(src)) if (++marks > MAX_INLINE_MARKUP) return true
  return false
}

/** Text as it stands: no marks, no entities. */
function createVerbatimToken(text: string): Token {
  return { type: "escape", raw: text, text }
}

/**
 * Reads prose (without fences).
 *
 * Shapes  (text with LF line ends, definitions that stand elsewhere) → top-level tokens, whose `raw` joined is the text.
 * Errors  none.
 * Cost    linear, with a large constant: about 10 MB/s.
 */
export function lexProse(text: string, definitions: LinkDefinitions = {}): readonly ProseToken[] {
  const lexer = new ProseLexer()
  Object.assign(lexer.tokens.links, definitions)
  // A list of their tokens fits ours by its fields; only their union of types does not say so.
  return lexer.lex(text) as readonly ProseToken[]
}

/** The definitions among top-level tokens; the first of a name holds. */
export function findDefinitions(tokens: readonly ProseToken[]): LinkDefinitions {
  const links: Record<string, { href: string; title: string | undefined }> = Object.create(null)
  let count = 0
  for (const { type, tag, href, title } of tokens) {
    if (type !== "def" || tag === undefined || href === undefined) continue
    if (Object.hasOwn(links, tag) || ++count > MAX_DEFINITIONS) continue
    links[tag] = { href, title: title ?? undefined }
  }
  return links
}
