/**
 * block-parser.ts: parses the blocks of prose, line by line.
 *
 * A line first continues the open quotes and items, then opens new ones, and the rest belongs to a leaf: a paragraph,
 * heading, table or thematic break. This is the algorithm of the CommonMark specification. Code fences have already
 * been removed (shared/text/code-tracker.ts); indented code and HTML blocks are paragraphs. Cost: linear in the length
 * of the text. SPEC MD1, MD3, MD8, MD9, MD15.
 */

import type { TableCell } from "../markdown-lexer.ts"
import { readFootnote } from "../syntax/footnote-syntax.ts"
import { matchMathBlock, MAX_MATH_CHARS } from "../syntax/math-syntax.ts"
import {
  HEADING,
  LIST_MARKER,
  OTHER_START,
  readDefinition,
  readHeadingText,
  readTableRule,
  splitBodyRow,
  splitRow,
  TASK,
  THEMATIC_BREAK,
  UNDERLINE,
} from "./block-syntax.ts"
import { type Container, createContainer } from "./container.ts"
import type { DraftToken, LinkTargets } from "./draft-token.ts"
import { CODE_INDENT, RestOfLine } from "./rest-of-line.ts"

/** Maximum nesting depth of quotes and items. Markers nested deeper are text. */
export const MAX_BLOCK_DEPTH = 24

/** The state that all blocks of one text share. */
export interface BlockContext {
  readonly links: LinkTargets
  /** The texts that are parsed once all link definitions are known, and the arrays that receive their tokens. */
  readonly texts: { readonly tokens: DraftToken[]; readonly text: string }[]
  readonly lists: DraftToken[]
}

/** `isTop` is false for the text of a footnote, which contains no definitions or footnotes. */
export function parseBlocks(text: string, context: BlockContext, isTop: boolean): DraftToken[] {
  return new BlockParser(text, context, isTop).parse()
}

class BlockParser {
  readonly #src: string
  readonly #context: BlockContext
  readonly #isTop: boolean
  readonly #root: Container = createContainer([], 0)
  readonly #stack: Container[] = [this.#root]
  /** The lines of the open paragraph, its token, and the position at which its last line begins. */
  #lines: string[] | null = null
  #paragraph: DraftToken | null = null
  #lastLineStart = 0
  #table: DraftToken | null = null
  #aligns: readonly TableCell["align"][] = []
  #lineStart = 0
  #nextLine = 0
  /** The current line without the markers of the containers that it continues. */
  readonly #line = new RestOfLine()
  /** The depth of the innermost quote that the current line continues, or 0. */
  #lastQuote = 0
  /** The positions of the root's last block, and of the last item in that block. */
  #blockStart = 0
  #blockEnd = 0
  #itemStart = 0
  /** For each closing delimiter, a position before which no formula ends. */
  readonly #noMathBefore: Record<string, number> = {}

  constructor(src: string, context: BlockContext, isTop: boolean) {
    this.#src = src
    this.#context = context
    this.#isTop = isTop
  }

  parse(): DraftToken[] {
    while (this.#nextLine < this.#src.length) {
      this.#lineStart = this.#nextLine
      const line = this.#readLine(this.#lineStart)
      this.#nextLine += line.length + 1
      this.#parseLine(line)
    }
    this.#lineStart = this.#src.length
    this.#closeLeaf()
    this.#finishBlock()
    return this.#root.tokens
  }

  #readLine(start: number): string {
    const end = this.#src.indexOf("\n", start)
    return this.#src.slice(start, end < 0 ? this.#src.length : end)
  }

  #parseLine(line: string): void {
    const matched = this.#matchContainers(line, this.#stack.length)
    // A blank line in a quote is a blank line only inside the quote.
    const quote = this.#lastQuote
    const isBlank = this.#line.isBlank()
    if (isBlank) {
      this.#closeTo(matched)
      for (const container of this.#stack.slice(quote)) container.hasBlank = true
      if (quote === 0) return
    } else this.#parseContent(matched)
    this.#blockEnd = Math.min(this.#nextLine, this.#src.length)
    for (const container of isBlank ? this.#stack.slice(0, quote) : this.#stack) container.hasBlank = false
  }

  /** Returns the number of open containers that the line continues. Sets `#line`. */
  #matchContainers(line: string, limit: number): number {
    this.#line.start(line)
    this.#lastQuote = 0
    let depth = 1
    for (; depth < limit; depth++) {
      const container = this.#at(depth)
      if (container.indent === 0) {
        if (!this.#line.isQuote()) break
        this.#line.takeQuoteMarker()
        this.#lastQuote = depth
      } else if (this.#line.isBlank()) {
        if (container.tokens.length === 0) break
      } else if (this.#line.indent < container.indent) break
      else this.#line.take(container.indent)
    }
    return depth
  }

  #parseContent(matched: number): void {
    let depth = matched
    while (this.#line.indent < CODE_INDENT && !this.#line.isBlank()) {
      if (this.#line.isQuote() && this.#stack.length <= MAX_BLOCK_DEPTH) {
        const token: DraftToken = { type: "blockquote", raw: "", text: "", tokens: [] }
        this.#add(depth, token)
        this.#line.takeQuoteMarker()
        token.text = this.#line.text
        this.#stack.push(createContainer(token.tokens ?? [], 0))
      } else if (this.#parseLeaf(depth)) return
      else if (!this.#openItem(depth)) break
      depth = this.#stack.length
    }
    if (!this.#line.isBlank()) this.#parseText(depth)
  }

  /** Parses a block of one line, a line that turns a paragraph into a heading or a table, or a formula or footnote. */
  #parseLeaf(depth: number): boolean {
    const line = this.#line.text.slice(this.#line.indent)
    const char = line[0] ?? ""
    if (char === "#") {
      const level = HEADING.exec(line)?.[1]?.length ?? 0
      if (level > 0) this.#addText(depth, "heading", readHeadingText(line, level)).depth = level
      return level > 0
    }
    if ("=-|:".includes(char) && this.#lines !== null && depth === this.#stack.length) {
      if (UNDERLINE.test(line)) return this.#makeHeading(char === "=" ? 1 : 2)
      if (this.#openTable(depth, line)) return true
    }
    if ("*-_".includes(char) && THEMATIC_BREAK.test(line)) {
      this.#add(depth, { type: "hr", raw: "" })
      return true
    }
    if (char === "$" || char === "\\") return this.#parseMath(depth, line)
    return char === "[" && depth === 1 && this.#isTop && this.#parseDefinition(line)
  }

  /** Adds the rest of the line to the open table as a row, or to a paragraph. */
  #parseText(depth: number): void {
    const isOpen = depth === this.#stack.length
    if (this.#lines !== null) this.#lines.push(this.#line.text)
    else if (this.#table !== null && isOpen && this.#line.indent < CODE_INDENT) this.#addRow(this.#table)
    else this.#openParagraph(depth, this.#line.text)
    this.#lastLineStart = this.#lineStart
  }

  #openParagraph(depth: number, text: string): void {
    // A paragraph in an item becomes a paragraph element only if its list is loose.
    const token: DraftToken = { type: this.#at(depth - 1).indent > 0 ? "text" : "paragraph", raw: "", tokens: [] }
    this.#add(depth, token)
    this.#paragraph = token
    this.#lines = [text]
  }

  #makeHeading(level: number): boolean {
    const text = this.#lines?.join("\n").trim() ?? ""
    if (this.#paragraph !== null) {
      Object.assign(this.#paragraph, { type: "heading", depth: level })
      this.#parseLater(this.#paragraph, text)
    }
    this.#lines = null
    return true
  }

  /**
   * Opens a table if the paragraph's last line is the header of one. The other lines remain a paragraph. The result
   * must be the same as if parsing began at the header.
   */
  #openTable(depth: number, line: string): boolean {
    const lines = this.#lines ?? []
    const header = lines.at(-1) ?? ""
    const aligns = readTableRule(line, header)
    if (aligns === null || (lines.length > 1 && OTHER_START.test(header.trimStart()))) return false
    const token: DraftToken = { type: "table", raw: "", header: [], rows: [] }
    token.header = this.#readCells(splitRow(header), aligns)
    if (lines.length > 1) {
      lines.pop()
      this.#blockEnd = this.#lastLineStart
      this.#lineStart = this.#lastLineStart
      this.#add(depth, token)
    } else {
      this.#lines = null
      this.#at(depth - 1).tokens.splice(-1, 1, token)
    }
    this.#table = token
    this.#aligns = aligns
    return true
  }

  #addRow(table: DraftToken): void {
    table.rows?.push(this.#readCells(splitBodyRow(this.#line.text, this.#aligns.length), this.#aligns))
  }

  #readCells(texts: readonly string[], aligns: readonly TableCell["align"][]): TableCell[] {
    return texts.map((text, at) => {
      const cell = { tokens: [], align: aligns[at] ?? null }
      this.#parseLater(cell, text)
      return cell
    })
  }

  #openItem(depth: number): boolean {
    const line = this.#line.text.slice(this.#line.indent)
    const [marker, number] = LIST_MARKER.exec(line) ?? []
    if (marker === undefined || this.#stack.length > MAX_BLOCK_DEPTH) return false
    const isEmpty = line.slice(marker.length).trim() === ""
    const interrupts = this.#lines !== null && depth === this.#stack.length
    if (interrupts && (isEmpty || (number !== undefined && Number(number) !== 1))) return false
    const markerIndent = this.#line.indent + marker.length
    const list = this.#findList(depth, marker.slice(-1), number)
    this.#line.take(markerIndent)
    const spaces = isEmpty || this.#line.indent > CODE_INDENT ? 1 : this.#line.indent
    this.#line.take(spaces)
    const item: DraftToken = { type: "list_item", raw: "", task: false, loose: false, tokens: [] }
    list.items?.push(item)
    this.#stack.push(createContainer(item.tokens ?? [], markerIndent + spaces, list))
    return true
  }

  /** Returns the list that a new item continues, or a new list. */
  #findList(depth: number, delimiter: string, number: string | undefined): DraftToken {
    this.#closeTo(depth)
    const parent = this.#at(depth - 1)
    const last = parent.tokens.at(-1)
    if (last?.type === "list" && parent.delimiter === delimiter) {
      if (parent.hasBlank) last.loose = true
      const item = last.items?.at(-1)
      if (depth === 1) this.#finishItem(item, this.#lineStart)
      return last
    }
    const ordered = number !== undefined
    const list: DraftToken = {
      type: "list",
      raw: "",
      ordered,
      start: ordered ? Number(number) : "",
      loose: false,
      items: [],
    }
    this.#context.lists.push(list)
    this.#add(depth, list)
    parent.delimiter = delimiter
    return list
  }

  #parseDefinition(line: string): boolean {
    if (line[1] === "^") {
      const footnote = readFootnote(this.#src.slice(this.#lineStart))
      if (footnote === null) return false
      const tokens = parseBlocks(footnote.body, this.#context, false)
      this.#add(1, { type: "footnote", raw: "", text: footnote.label, tokens })
      this.#nextLine = this.#lineStart + footnote.raw.length
      return true
    }
    const definition = this.#lines === null ? readDefinition(line) : null
    if (definition === null) return false
    const { tag, href } = definition
    this.#context.links[tag] ??= { href }
    this.#add(1, { type: "def", raw: "", tag, href })
    return true
  }

  /** Parses a formula of several lines as a paragraph of its own, because its lines may look like other blocks. */
  #parseMath(depth: number, line: string): boolean {
    const opener = line.slice(0, 2)
    const interrupts = this.#lines !== null
    // Only an opener that is alone on its line ends a paragraph.
    if (interrupts && (line.trim() !== opener || this.#nextLine > this.#src.length)) return false
    const closer = opener === "$$" ? opener : opener === "\\[" ? "\\]" : null
    if (closer === null || line.includes(closer, 2)) return false
    const [text, end] = this.#readMathLines(depth, line, closer)
    const isMath = matchMathBlock(text) !== null
    if (!isMath && !interrupts) return false
    this.#openParagraph(depth, isMath ? text : this.#line.text)
    if (!isMath) return true
    this.#closeLeaf()
    this.#nextLine = end
    return true
  }

  /** Returns the lines through the one that ends the formula, and the position after them. */
  #readMathLines(depth: number, first: string, closer: string): readonly [string, number] {
    let text = first
    let at = this.#nextLine
    const isNear = this.#src.slice(at, at + MAX_MATH_CHARS).includes(closer)
    if (!isNear || at < (this.#noMathBefore[closer] ?? 0)) return ["", at]
    const rest = this.#line.text
    while (at < this.#src.length) {
      const line = this.#readLine(at)
      const isInside = this.#matchContainers(line, depth) === depth && !this.#line.isBlank()
      if (!isInside) {
        this.#noMathBefore[closer] = at
        break
      }
      at += line.length + 1
      text += `\n${this.#line.text}`
      if (this.#line.text.includes(closer)) break
    }
    this.#line.start(rest)
    return [text, at]
  }

  #addText(depth: number, type: string, text: string): DraftToken {
    const token: DraftToken = { type, raw: "", depth: 0, tokens: [] }
    this.#add(depth, token)
    this.#parseLater(token, text)
    return token
  }

  /** Adds a block to the container at `depth - 1`, after closing all open blocks inside that container. */
  #add(depth: number, token: DraftToken): void {
    this.#closeTo(depth)
    const parent = this.#at(depth - 1)
    if (depth === 1) {
      this.#finishBlock()
      this.#blockStart = this.#lineStart
      this.#itemStart = this.#lineStart
    } else if (parent.hasBlank && parent.tokens.length > 0) {
      parent.tokens.push({ type: "space", raw: "\n\n" })
      if (parent.list !== undefined) parent.list.loose = true
    }
    parent.tokens.push(token)
  }

  /** Sets the source of the root's last block, and adds the blank lines that follow it. */
  #finishBlock(): void {
    const { tokens } = this.#root
    const last = tokens.at(-1)
    if (last !== undefined) last.raw = this.#src.slice(this.#blockStart, this.#blockEnd)
    this.#finishItem(last?.items?.at(-1), this.#blockEnd)
    if (this.#blockEnd < this.#lineStart) {
      tokens.push({ type: "space", raw: this.#src.slice(this.#blockEnd, this.#lineStart) })
    }
  }

  #finishItem(item: DraftToken | undefined, end: number): void {
    if (item !== undefined) item.raw = this.#src.slice(this.#itemStart, end)
    this.#itemStart = end
  }

  #closeTo(depth: number): void {
    this.#closeLeaf()
    this.#stack.length = depth
  }

  #closeLeaf(): void {
    this.#table = null
    if (this.#lines === null || this.#paragraph === null) return
    let text = this.#lines.join("\n")
    this.#lines = null
    const parent = this.#stack.at(-1)
    if (parent?.list !== undefined && parent.tokens.length === 1) text = this.#takeCheckbox(parent.list, text)
    this.#parseLater(this.#paragraph, text)
  }

  /** Marks an item that begins with a checkbox as a task. Returns the text without the checkbox. */
  #takeCheckbox(list: DraftToken, text: string): string {
    const [marker, state] = TASK.exec(text) ?? []
    const item = list.items?.at(-1)
    if (marker === undefined || item === undefined) return text
    item.task = true
    item.checked = state !== " "
    return text.slice(marker.length)
  }

  #parseLater({ tokens }: { readonly tokens?: DraftToken[] }, text: string): void {
    if (tokens !== undefined) this.#context.texts.push({ tokens, text })
  }

  #at(depth: number): Container {
    return this.#stack[depth] ?? this.#root
  }
}
