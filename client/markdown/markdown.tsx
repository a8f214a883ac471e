/**
 * markdown.tsx: renders a Markdown text, one component per block.
 *
 * A block whose token is the same object as before isn't rendered again. SPEC MD1–MD16.
 */

import { Component, type ComponentChildren, type VNode } from "preact"
import { markdownText } from "../words/transcript-text.ts"
import { CodeBlock } from "./blocks/code-block.tsx"
import { createFootnoteFinder, FootnoteContext, FootnoteList } from "./blocks/footnotes.tsx"
import { type Block, createBlockReader } from "./markdown-blocks.ts"
import { renderInGroups } from "./blocks/part-groups.tsx"
import { renderBlock, renderBlocks } from "./blocks/prose-blocks.tsx"
import { ShowMoreButton } from "./show-more-button.tsx"
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
  readonly #findFootnotes = createFootnoteFinder()

  override shouldComponentUpdate(next: { readonly text: string }): boolean {
    return next.text !== this.props.text
  }

  override render({ text }: { readonly text: string }): ComponentChildren {
    const blocks = this.#readBlocks(text)
    const footnotes = this.#findFootnotes(text, blocks)
    return (
      <FootnoteContext.Provider value={footnotes.numbers}>
        <div class="prose">
          {renderInGroups(blocks, renderBlockView)}
          <FootnoteList footnotes={footnotes} renderBlocks={renderBlocks} />
        </div>
      </FootnoteContext.Provider>
    )
  }
}

function renderBlockView(block: Block, at: number): VNode {
  return <BlockView key={at} block={block} />
}

class BlockView extends Component<{ readonly block: Block }> {
  override shouldComponentUpdate(next: { readonly block: Block }): boolean {
    return next.block !== this.props.block
  }

  override render({ block }: { readonly block: Block }): ComponentChildren {
    return block.type === "code" ? <CodeBlock lang={block.lang} text={block.text} /> : renderBlock(block.token)
  }
}
