/** footnote-list.tsx: numbers a text's footnotes, and lists them at the end of the text. SPEC MD15. */

import type { ComponentChildren, VNode } from "preact"
import { readingText } from "../../words/parts/reading-text.ts"
import { focusInText } from "../blocks/focus-in-text.ts"
import type { FootnoteNumbers } from "../blocks/footnotes.tsx"
import type { Block } from "../markdown-blocks.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { findDirection } from "../text-direction.ts"

/** Maximum number of footnotes in one text. */
const MAX_FOOTNOTES = 500

export interface Footnotes {
  readonly numbers: FootnoteNumbers
  /** The footnotes, in the order of their numbers. */
  readonly tokens: readonly ProseToken[]
}

/** Finds the footnotes in growing text. `numbers` remains the same object as long as no number changes. */
export function createFootnoteFinder(): (blocks: readonly Block[]) => Footnotes {
  const referencesOf = new WeakMap<Block, readonly string[]>()
  let numbers: FootnoteNumbers = new Map()
  const listReferences = (block: Block): readonly string[] => {
    if (block.type === "code") return []
    const known = referencesOf.get(block) ?? listFootnoteReferences(block.token)
    referencesOf.set(block, known)
    return known
  }
  return (blocks) => {
    const tokensByLabel = new Map<string, ProseToken>()
    for (const block of blocks) {
      if (block.type === "code" || block.token.type !== "footnote") continue
      const label = block.token.text ?? ""
      if (!tokensByLabel.has(label) && tokensByLabel.size < MAX_FOOTNOTES) tokensByLabel.set(label, block.token)
    }
    // The footnotes that the text refers to come first, in the order of the references.
    const labels = new Set(blocks.flatMap(listReferences).filter((label) => tokensByLabel.has(label)))
    for (const label of tokensByLabel.keys()) labels.add(label)
    const found = new Map([...labels].map((label, at) => [label, at + 1]))
    if (!isSameNumbering(numbers, found)) numbers = found
    return { numbers, tokens: [...labels].flatMap((label) => tokensByLabel.get(label) ?? []) }
  }
}

function isSameNumbering(one: FootnoteNumbers, other: FootnoteNumbers): boolean {
  return one.size === other.size && [...one].every(([label, number]) => other.get(label) === number)
}

interface FootnoteListProps {
  readonly footnotes: Footnotes
  readonly renderBlocks: (tokens: readonly ProseToken[]) => ComponentChildren
}

export function FootnoteList({ footnotes: { tokens }, renderBlocks }: FootnoteListProps): VNode | null {
  if (tokens.length === 0) return null
  return (
    <div class="footnotes">
      <ol aria-label={readingText.footnotes} dir={findDirection(tokens)}>
        {tokens.map((token, at) => (
          <li key={token.text} data-footnote={at + 1} dir={findDirection([token])} tabIndex={-1}>
            {renderBlocks(token.tokens ?? [])}
            <button
              type="button"
              aria-label={readingText.backToText(at + 1)}
              onClick={({ currentTarget }) => focusInText(currentTarget, `[data-reference="${at + 1}"]`)}
            >
              ↩
            </button>
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Returns the labels to which a token and its children refer, in order. */
function listFootnoteReferences(token: ProseToken): readonly string[] {
  if (token.type === "footnote_ref") return [token.text ?? ""]
  const cells = [...(token.header ?? []), ...(token.rows ?? []).flat()].flatMap((cell) => cell.tokens)
  return [...(token.items ?? token.tokens ?? []), ...cells].flatMap(listFootnoteReferences)
}
