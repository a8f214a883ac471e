/**
 * footnotes.tsx: footnote references, and the notes in their original positions until the list of notes is loaded.
 *
 * A reference is a button, because the URL's hash selects a conversation. SPEC MD15.
 */

import { type ComponentChildren, createContext, type VNode } from "preact"
import { useContext } from "preact/hooks"
import { markdownText } from "../../words/transcript-text.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { readingTools } from "./deferred-tools.ts"
import { focusInText } from "./focus-in-text.ts"

/** The numbers of a text's footnotes, by label. */
export type FootnoteNumbers = ReadonlyMap<string, number>

export const NO_NUMBERS: FootnoteNumbers = new Map()
export const FootnoteContext = createContext(NO_NUMBERS)

/** A footnote reference. If there is no footnote with its label, it is shown as it was written. */
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

/** A note in its original position. Once the list is loaded, the list shows the note instead. */
export function FootnoteInPlace({ token }: { readonly token: ProseToken }): VNode | null {
  return readingTools.module.value === null ? <p>{token.raw}</p> : null
}
