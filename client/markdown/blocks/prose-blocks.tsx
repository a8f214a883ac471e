/** prose-blocks.tsx: renders the blocks of prose: paragraphs, headings, quotes, alerts, lists and tables. */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { AlertTitle, readAlert } from "./alert-title.tsx"
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
    // Footnotes are listed after the text.
    case "footnote":
      return null
    case "heading":
      return h(toHeadingTag(token.depth ?? 6), { dir: findAutoDirection(token.tokens) }, ...renderInline(token.tokens))
    case "hr":
      return <hr />
    case "blockquote":
      return renderQuote(token)
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

function renderQuote(quote: ProseToken): VNode {
  const alert = readAlert(quote)
  if (alert === null) return <blockquote dir={findDirection([quote])}>{renderBlocks(quote.tokens ?? [])}</blockquote>
  return (
    <div class="alert" data-alert={alert.kind} dir={findDirection(alert.tokens)}>
      <AlertTitle kind={alert.kind} />
      {renderBlocks(alert.tokens)}
    </div>
  )
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
