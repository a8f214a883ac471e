/** source-link.tsx: a link in an answer. A link to a source has its number, and shows its title and quote. SPEC SC4. */

import type { ComponentChildren, VNode } from "preact"
import { useContext, useId } from "preact/hooks"
import { parseHost } from "../../words/format/link-policy.ts"
import { markdownText } from "../../words/transcript-text.ts"
import { type NumberedSource, SourcesContext } from "./source-numbers.ts"

interface LinkProps {
  readonly href: string
  readonly children?: ComponentChildren
}

export function ProseLink({ href, children }: LinkProps): VNode {
  const source = useContext(SourcesContext).get(href)
  if (source !== undefined)
    return (
      <SourceLink href={href} source={source}>
        {children}
      </SourceLink>
    )
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** The card appears while the link is pointed at or focused. It is not part of a selection. */
function SourceLink({ href, source, children }: LinkProps & { readonly source: NumberedSource }): VNode {
  const id = useId()
  const { number, title, quote } = source
  return (
    <span class="source-link">
      <a href={href} target="_blank" rel="noopener noreferrer" aria-describedby={id}>
        {children}
        <sup aria-label={markdownText.source(number)}>{number}</sup>
      </a>
      <span class="source-card" role="tooltip" id={id}>
        <bdi class="title">{title}</bdi>
        <span>{parseHost(href)}</span>
        {quote !== undefined && <q dir="auto">{quote}</q>}
      </span>
    </span>
  )
}
