/**
 * markdown.tsx: renders a Markdown text, one component per block.
 *
 * A block whose token is the same object as before isn't rendered again. SPEC MD1–MD8.
 */

import { Component, type ComponentChildren, h, type VNode } from "preact"
import { CopyButton } from "../ui/copy-button.tsx"
import { actionText, markdownText } from "../words/transcript-text.ts"
import { type Block, createBlockReader } from "./markdown-blocks.ts"
import { hasBlockElements, renderInline, toHeadingTag } from "./markdown-inline.tsx"
import type { TableCell, ProseToken } from "./markdown-lexer.ts"
import { ShowMoreButton } from "./show-more-button.tsx"
import { findAutoDirection, findDirection } from "./text-direction.ts"
import { useTextPart } from "./use-text-part.ts"

export function Markdown({ text }: { readonly text: string }): VNode {
  const { shown, hiddenChars, showMore } = useTextPart(text)
  return (
    <>
      <Prose text={shown} />
      {hiddenChars > 0 && <ShowMoreButton text={markdownText.showMore(hiddenChars)} showMore={showMore} />}
    </>
  )
}

class Prose extends Component<{ readonly text: string }> {
  readonly #readBlocks = createBlockReader()

  override shouldComponentUpdate(next: { readonly text: string }): boolean {
    return next.text !== this.props.text
  }

  override render({ text }: { readonly text: string }): ComponentChildren {
    return (
      <div class="prose">
        {this.#readBlocks(text).map((block, at) => (
          <BlockView key={at} block={block} />
        ))}
      </div>
    )
  }
}

class BlockView extends Component<{ readonly block: Block }> {
  override shouldComponentUpdate(next: { readonly block: Block }): boolean {
    return next.block !== this.props.block
  }

  override render({ block }: { readonly block: Block }): ComponentChildren {
    return block.type === "code" ? <CodeBlock lang={block.lang} text={block.text} /> : renderBlock(block.token)
  }
}

export function CodeBlock({ lang, text }: { readonly lang: string; readonly text: string }): VNode {
  return (
    <figure class="code">
      <figcaption>
        <span>{lang}</span>
        <CopyButton
          getText={() => text}
          label={markdownText.copyCode}
          text={actionText.copy}
          doneText={actionText.copied}
        />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must scroll with the keyboard. */}
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
      return h(toHeadingTag(token.depth ?? 6), { dir: findAutoDirection(token.tokens) }, ...renderInline(token.tokens))
    case "hr":
      return <hr />
    case "blockquote":
      return <blockquote dir={findDirection([token])}>{renderBlocks(token.tokens ?? [])}</blockquote>
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

function renderList(list: ProseToken): VNode {
  const items = list.items?.map((item, at) => (
    <li key={at} dir={findDirection([item])} class={item.task ? "task" : undefined}>
      {renderBlocks(item.tokens ?? [])}
    </li>
  ))
  const dir = findDirection([list])
  if (!list.ordered) return <ul dir={dir}>{items}</ul>
  return (
    <ol dir={dir} start={list.start === "" || list.start === 1 ? undefined : list.start}>
      {items}
    </ol>
  )
}

function TableView({ table }: { readonly table: ProseToken }): VNode {
  const renderCell = (name: "th" | "td") => (cell: TableCell, at: number) =>
    h(
      name,
      { key: at, dir: findAutoDirection(cell.tokens), class: cell.align === null ? undefined : `to-${cell.align}` },
      ...renderInline(cell.tokens),
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table must scroll with the keyboard.
    <div class="table" dir={findDirection([table])} tabIndex={0}>
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
