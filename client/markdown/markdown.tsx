/**
 * markdown.tsx: a text as its reader sees it.
 *
 * text → blocks → one component per block
 * A block whose token is the same object is not drawn again. Source: SPEC MD1–MD8.
 */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import { type Block, createBlockReader } from "./markdown-blocks.ts"
import { hasBlockElements, renderInline } from "./markdown-inline.tsx"
import type { TableCell, ProseToken } from "./markdown-lexer.ts"

export function Markdown({ text }: { readonly text: string }): VNode {
  const readBlocks = useMemo(createBlockReader, [])
  return (
    <div class="prose">
      {readBlocks(text).map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </div>
  )
}

class BlockView extends Component<{ readonly block: Block }> {
  override shouldComponentUpdate(next: { readonly block: Block }): boolean {
    return next.block !== this.props.block
  }

  override render({ block }: { readonly block: Block }): ComponentChildren {
    return block.type === "code" ? <CodeBlock lang={block.lang} text={block.text} /> : renderBlock(block.token)
  }
}

/** How long "Copied" stands there, in milliseconds. */
const COPIED_LABEL_MS = 1500

export function CodeBlock({ lang, text }: { readonly lang: string; readonly text: string }): VNode {
  const [isCopied, setCopied] = useState(false)
  const copyText = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), COPIED_LABEL_MS)
      },
      () => {},
    )
  }
  return (
    <figure class="code">
      <figcaption>
        <span>{lang}</span>
        <button type="button" onClick={copyText} aria-label="Copy code">
          {isCopied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard too. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

function renderBlocks(tokens: readonly ProseToken[]): ComponentChildren[] {
  return tokens.map(renderBlock)
}

function renderBlock(token: ProseToken): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return h(`h${token.depth ?? 6}`, null, ...renderInline(token.tokens))
    case "hr":
      return <hr />
    case "blockquote":
      return <blockquote>{renderBlocks(token.tokens ?? [])}</blockquote>
    case "list":
      return renderList(token)
    case "table":
      return <TableView table={token} />
    case "paragraph":
      return h(hasBlockElements(token.tokens) ? "div" : "p", null, ...renderInline(token.tokens))
    default:
      return renderInline([token])
  }
}

function renderList(list: ProseToken): VNode {
  const items = list.items?.map((item, at) => (
    <li key={at} class={item.task ? "task" : undefined}>
      {renderBlocks(item.tokens ?? [])}
    </li>
  ))
  if (!list.ordered) return <ul>{items}</ul>
  return <ol start={list.start === "" || list.start === 1 ? undefined : list.start}>{items}</ol>
}

function TableView({ table }: { readonly table: ProseToken }): VNode {
  const renderCell = (name: "th" | "td") => (one: TableCell, at: number) =>
    h(name, { key: at, class: one.align === null ? undefined : `to-${one.align}` }, ...renderInline(one.tokens))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard too.
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{table.header?.map(renderCell("th"))}</tr>
        </thead>
        <tbody>
          {table.rows?.map((row, at) => (
            <tr key={at}>{row.map(renderCell("td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
