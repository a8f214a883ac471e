/** source-list.tsx: the numbered list of an answer's sources. Nothing is loaded from them. Source: SPEC SC3, SC5. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { parseHost } from "../../words/format/link-policy.ts"
import { readingText } from "../../words/parts/reading-text.ts"
import { ShowMoreButton } from "../show-more-button.tsx"
import type { NumberedSource, NumberedSources } from "./source-numbers.ts"

/** The number of sources that are initially shown. */
const FIRST_SOURCES = 5

export function SourceList({ sources }: { readonly sources: NumberedSources }): VNode {
  const isOpen = useSignal(false)
  const all = [...sources.values()]
  const hidden = isOpen.value ? 0 : Math.max(0, all.length - FIRST_SOURCES)
  return (
    <section class="sources" data-segment="source" aria-label={readingText.sources}>
      <p class="note">{readingText.sources}</p>
      <ol>
        {all.slice(0, all.length - hidden).map((source) => (
          <SourceItem key={source.url} source={source} />
        ))}
      </ol>
      {hidden > 0 && <ShowMoreButton text={readingText.moreSources(hidden)} showMore={() => (isOpen.value = true)} />}
    </section>
  )
}

function SourceItem({ source: { url, number, title, quote } }: { readonly source: NumberedSource }): VNode {
  return (
    <li value={number}>
      <a href={url} target="_blank" rel="noopener noreferrer">
        <bdi>{title}</bdi>
      </a>{" "}
      <small>{parseHost(url)}</small>
      {quote !== undefined && <q dir="auto">{quote}</q>}
    </li>
  )
}
