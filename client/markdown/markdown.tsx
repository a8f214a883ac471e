/**
 * markdown.tsx: a text as its reader sees it.
 *
 * text → blocks → one component per block
 * A block whose token is the same object is not drawn again. Source: SPEC MD1–MD8.
 */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import { type Block, createBlockReader } from "./markdown-blocks.ts"
import { holdsBlocks, inlineNodes } from "./markdown-inline.tsx"
import type { Cell, ProseToken } from "./markdown-lexer.ts"

export function Markdown({ text }: { readonly text: string }): VNode {
  const read = useMemo(createBlockReader, [])
  return (
    <div class="prose">
      {read(text).map((block, at) => (
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
    return block.type === "code" ? <CodeBlock lang={block.lang} text={block.text} /> : blockNode(block.token)
  }
}

/** How long "Copied" stands there, in milliseconds. */
const COPIED_MS = 1500

export function CodeBlock({ lang, text }: { readonly lang: string; readonly text: string }): VNode {
  const [copied, setCopied] = useState(false)
  const copy = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), COPIED_MS)
      },
      () => {},
    )
  }
  return (
    <figure class="code">
      <figcaption>
        <span>{lang}</span>
        <button type="button" onClick={copy} aria-label="Copy code">
          {copied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard too. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

function blockNodes(tokens: readonly ProseToken[]): ComponentChildren[] {
  return tokens.map(blockNode)
}

function blockNode(token: ProseToken): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return h(`h${token.depth ?? 6}`, null, ...inlineNodes(token.tokens))
    case "hr":
      return <hr />
    case "blockquote":
      return <blockquote>{blockNodes(token.tokens ?? [])}</blockquote>
    case "list":
      return listNode(token)
    case "table":
      return <TableView table={token} />
    case "paragraph":
      return h(holdsBlocks(token.tokens) ? "div" : "p", null, ...inlineNodes(token.tokens))
    default:
      return inlineNodes([token])
  }
}

function listNode(list: ProseToken): VNode {
  const items = list.items?.map((item, at) => (
    <li key={at} class={item.task ? "task" : undefined}>
      {blockNodes(item.tokens ?? [])}
    </li>
  ))
  if (!list.ordered) return <ul>{items}</ul>
  return <ol start={list.start === "" || list.start === 1 ? undefined : list.start}>{items}</ol>
}

function TableView({ table }: { readonly table: ProseToken }): VNode {
  const cell = (name: "th" | "td") => (one: Cell, at: number) =>
    h(name, { key: at, class: one.align === null ? undefined : `to-${one.align}` }, ...inlineNodes(one.tokens))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard too.
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{table.header?.map(cell("th"))}</tr>
        </thead>
        <tbody>
          {table.rows?.map((row, at) => (
            <tr key={at}>{row.map(cell("td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
