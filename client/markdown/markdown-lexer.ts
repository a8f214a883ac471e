/**
 * markdown-lexer.ts: parses prose into Markdown tokens, in bounded time.
 *
 * Code fences have already been removed (shared/text/code-tracker.ts), so page and server agree on what is code. Text
 * that would take too much time or stack space is shown as plain text. Pure. SPEC MD1–MD9, MD15.
 */

import { type BlockContext, parseBlocks } from "./parse/block-parser.ts"
import type { DraftToken, LinkTargets } from "./parse/draft-token.ts"
import { parseInline } from "./parse/inline-parser.ts"

/** A block or inline element. Which fields are present depends on `type`. */
export interface ProseToken {
  readonly type: string
  /**
   * The source. Set only for top-level blocks, for items of top-level lists, and for tokens that are shown as written.
   */
  readonly raw: string
  readonly text?: string
  readonly tokens?: readonly ProseToken[]
  readonly depth?: number
  readonly href?: string
  readonly tag?: string
  /** On a link: the text is the URL itself, so character references in it aren't decoded. */
  readonly autolink?: boolean
  readonly checked?: boolean
  readonly task?: boolean
  readonly ordered?: boolean
  readonly start?: number | ""
  /** On a list: whether its items are paragraphs. */
  readonly loose?: boolean
  readonly items?: readonly ProseToken[]
  readonly header?: readonly TableCell[]
  readonly rows?: readonly (readonly TableCell[])[]
}

export interface TableCell {
  readonly tokens: readonly ProseToken[]
  readonly align: "center" | "left" | "right" | null
}

/** The targets of `[text][name]`, by name. */
export interface LinkDefinitions {
  readonly [name: string]: { readonly href: string }
}

/** Maximum number of link definitions per text. */
export const MAX_DEFINITIONS = 500

/**
 * Parses prose without fences into top-level tokens. Concatenating their `raw` strings gives the original text.
 *
 * The text must use LF line endings. `definitions` are those found in other sections. Never throws. Cost: linear in the
 * length of the text.
 */
export function lexProse(text: string, definitions: LinkDefinitions = {}): readonly ProseToken[] {
  const links: LinkTargets = Object.assign(Object.create(null), definitions)
  const context: BlockContext = { links, texts: [], lists: [] }
  const blocks = parseBlocks(text, context, true)
  // All definitions are known now.
  for (const inline of context.texts) parseInline(inline.text, links, inline.tokens)
  for (const list of context.lists) finishList(list)
  return blocks
}

/** Inserts a list's checkboxes, and converts the text of its items to paragraphs if the list contains blank lines. */
function finishList(list: DraftToken): void {
  const loose = list.loose === true
  for (const item of list.items ?? []) {
    const tokens = item.tokens ?? []
    item.loose = loose
    if (item.task === true) {
      const { checked = false } = item
      const target = loose ? tokens[0]?.tokens : tokens
      target?.unshift({ type: "checkbox", raw: checked ? "[x] " : "[ ] ", checked })
    }
    if (loose) for (const token of tokens) if (token.type === "text") token.type = "paragraph"
  }
}

/**
 * Returns the link definitions among top-level tokens. If a name is defined more than once, the first definition is
 * used.
 */
export function findDefinitions(tokens: readonly ProseToken[]): LinkDefinitions {
  const links: LinkTargets = Object.create(null)
  let count = 0
  for (const { type, tag, href } of tokens) {
    if (type !== "def" || tag === undefined || href === undefined) continue
    if (Object.hasOwn(links, tag) || ++count > MAX_DEFINITIONS) continue
    links[tag] = { href }
  }
  return links
}
