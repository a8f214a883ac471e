/** prose-blocks.tsx: renders the blocks of prose: paragraphs, headings, quotes, alerts, lists and tables. */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { readingTools, useReadingTools } from "./deferred-tools.ts"
import { FootnoteInPlace } from "./footnotes.tsx"
import { hasBlockElements, renderInline, toHeadingTag } from "../markdown-inline.tsx"
import type { ProseToken } from "../markdown-lexer.ts"
import { renderInGroups } from "./part-groups.tsx"
import { TableView } from "./table-view.tsx"
import { findAutoDirection, findDirection } from "../text-direction.ts"

export function renderBlocks(tokens: readonly ProseToken[]): ComponentChildren {
  return tokens.map(renderBlock)
}

export function renderBlock(token: ProseToken): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "footnote":
      return <FootnoteInPlace token={token} />
    case "heading":
      return h(toHeadingTag(token.depth ?? 6), { dir: findAutoDirection(token.tokens) }, ...renderInline(token.tokens))
    case "hr":
      return <hr />
    case "blockquote":
      return <QuoteView quote={token} />
    case "list":
      return renderList(token)
    case "table":
      return <TableView table={token} />
    case "paragraph":
      return h(
        hasBlockElements(token.tokens) ? "div" : "p",
        { dir: findAutoDirection(token.tokens) },
        ...renderInline(token.tokens),
      )
    default:
      return renderInline([token])
  }
}

/** A quote, or an alert once the code for it is loaded. */
function QuoteView({ quote }: { readonly quote: ProseToken }): VNode {
  const mayBeAlert = quote.text?.startsWith("[!") === true
  useReadingTools(mayBeAlert)
  const tools = mayBeAlert ? readingTools.module.value : null
  const alert = tools?.readAlert(quote) ?? null
  if (tools === null || alert === null) {
    return <blockquote dir={findDirection([quote])}>{renderBlocks(quote.tokens ?? [])}</blockquote>
  }
  return <tools.AlertView alert={alert} renderBlocks={renderBlocks} />
}

function renderList(list: ProseToken): VNode {
  const items = renderInGroups(list.items ?? [], renderItem)
  const dir = findDirection([list])
  if (!list.ordered) return <ul dir={dir}>{items}</ul>
  return (
    <ol dir={dir} start={list.start === "" || list.start === 1 ? undefined : list.start}>
      {items}
    </ol>
  )
}

function renderItem(item: ProseToken, at: number): VNode {
  return <ItemView key={at} item={item} />
}

class ItemView extends Component<{ readonly item: ProseToken }> {
  override shouldComponentUpdate(next: { readonly item: ProseToken }): boolean {
    return next.item !== this.props.item
  }

  override render({ item }: { readonly item: ProseToken }): VNode {
    return (
      <li dir={findDirection([item])} class={item.task ? "task" : undefined}>
        {renderBlocks(item.tokens ?? [])}
      </li>
    )
  }
}
