/**
 * markdown.tsx: renders Markdown text, with one component per block.
 *
 * A block whose token is the same object as before isn't rendered again. SPEC MD1–MD18.
 */

import { Component, type ComponentChildren, type VNode } from "preact"
import { markdownText } from "../words/transcript-text.ts"
import { CodeBlock } from "./blocks/code-block.tsx"
import { type ReadingTools, readingTools, useReadingTools } from "./blocks/deferred-tools.ts"
import { FootnoteContext, NO_NUMBERS } from "./blocks/footnotes.tsx"
import { type Block, createBlockReader } from "./markdown-blocks.ts"
import { renderInGroups } from "./blocks/part-groups.tsx"
import { renderBlock, renderBlocks } from "./blocks/prose-blocks.tsx"
import { ShowMoreButton } from "./show-more-button.tsx"
import { useTextPart } from "./use-text-part.ts"

export function Markdown({ text }: { readonly text: string }): VNode {
  const { shown, hiddenChars, showMore } = useTextPart(text)
  const hasFootnotes = shown.includes("[^")
  useReadingTools(hasFootnotes)
  return (
    <>
      <Prose text={shown} tools={hasFootnotes ? readingTools.module.value : null} />
      {hiddenChars > 0 && <ShowMoreButton text={markdownText.showMore(hiddenChars)} showMore={showMore} />}
    </>
  )
}

interface ProseProps {
  readonly text: string
  /** Set if the text may have footnotes and the code for them is loaded. */
  readonly tools: ReadingTools | null
}

class Prose extends Component<ProseProps> {
  readonly #readBlocks = createBlockReader(() => readingTools.module.peek()?.lexGrownProse)
  #findFootnotes: ReturnType<ReadingTools["createFootnoteFinder"]> | null = null

  override shouldComponentUpdate(next: ProseProps): boolean {
    return next.text !== this.props.text || next.tools !== this.props.tools
  }

  /** Growing text needs the code that parses only its end. */
  override componentDidUpdate(): void {
    if (readingTools.module.peek() === null) void readingTools.load()
  }

  override render({ text, tools }: ProseProps): ComponentChildren {
    const blocks = this.#readBlocks(text)
    this.#findFootnotes ??= tools?.createFootnoteFinder() ?? null
    const footnotes = tools === null ? undefined : this.#findFootnotes?.(blocks)
    return (
      <FootnoteContext.Provider value={footnotes?.numbers ?? NO_NUMBERS}>
        <div class="prose">
          {renderInGroups(blocks, renderBlockView)}
          {footnotes !== undefined && tools !== null && (
            <tools.FootnoteList footnotes={footnotes} renderBlocks={renderBlocks} />
          )}
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
