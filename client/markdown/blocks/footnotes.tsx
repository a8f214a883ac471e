/**
 * footnotes.tsx: references to footnotes, and the list of footnotes at the end of a text.
 *
 * A reference is a button, because an address with a `#` selects a conversation. SPEC MD15.
 */

import { type ComponentChildren, createContext, type VNode } from "preact"
import { useContext } from "preact/hooks"
import { markdownText } from "../../words/transcript-text.ts"
import { listFootnoteReferences, MAX_FOOTNOTES } from "../syntax/footnote-syntax.ts"
import type { Block } from "../markdown-blocks.ts"
import type { ProseToken } from "../markdown-lexer.ts"

/** The numbers of the footnotes of a text, by label. */
type FootnoteNumbers = ReadonlyMap<string, number>

export interface Footnotes {
  readonly numbers: FootnoteNumbers
  /** In the order of their numbers. */
  readonly tokens: readonly ProseToken[]
}

const NO_FOOTNOTES: Footnotes = { numbers: new Map(), tokens: [] }

export const FootnoteContext = createContext<FootnoteNumbers>(NO_FOOTNOTES.numbers)

/** Finds the footnotes of a text that grows. `numbers` stays the same object while no number changes. */
export function createFootnoteFinder(): (text: string, blocks: readonly Block[]) => Footnotes {
  const referencesOf = new WeakMap<Block, readonly string[]>()
  let numbers = NO_FOOTNOTES.numbers
  const listReferences = (block: Block): readonly string[] => {
    if (block.type === "code") return []
    const known = referencesOf.get(block) ?? listFootnoteReferences(block.token)
    referencesOf.set(block, known)
    return known
  }
  return (text, blocks) => {
    if (!text.includes("[^")) return NO_FOOTNOTES
    const tokensByLabel = new Map<string, ProseToken>()
    for (const block of blocks) {
      if (block.type === "code" || block.token.type !== "footnote") continue
      const label = block.token.text ?? ""
      if (!tokensByLabel.has(label) && tokensByLabel.size < MAX_FOOTNOTES) tokensByLabel.set(label, block.token)
    }
    // First those that the text refers to, in that order.
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

/** A label without a footnote is shown as it was written. */
export function FootnoteReference({ token }: { readonly token: ProseToken }): ComponentChildren {
  const number = useContext(FootnoteContext).get(token.text ?? "")
  if (number === undefined) return token.raw
  return (
    <sup class="footnote-ref">
      <button
        type="button"
        data-reference={number}
        aria-label={markdownText.footnote(number)}
        onClick={({ currentTarget }) => focusInText(currentTarget, `[data-footnote="${number}"]`)}
      >
        {number}
      </button>
    </sup>
  )
}

interface FootnoteListProps {
  readonly footnotes: Footnotes
  readonly renderBlocks: (tokens: readonly ProseToken[]) => ComponentChildren
}

export function FootnoteList({ footnotes: { tokens }, renderBlocks }: FootnoteListProps): VNode | null {
  if (tokens.length === 0) return null
  return (
    <section class="footnotes" aria-label={markdownText.footnotes}>
      <ol>
        {tokens.map((token, at) => (
          <li key={token.text} data-footnote={at + 1} tabIndex={-1}>
            {renderBlocks(token.tokens ?? [])}
            <button
              type="button"
              aria-label={markdownText.backToText(at + 1)}
              onClick={({ currentTarget }) => focusInText(currentTarget, `[data-reference="${at + 1}"]`)}
            >
              ↩
            </button>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Moves the focus to the first match in the same text, which scrolls it into view. */
function focusInText(from: Element, selector: string): void {
  from.closest(".prose")?.querySelector<HTMLElement>(selector)?.focus()
}
