/**
 * markdown-blocks.ts: splits growing text into blocks without parsing finished blocks again.
 *
 * The result depends only on the text, not on how it grew. Blocks that don't change keep their identity, so their
 * components don't render again. SPEC MD3.
 */

import { splitFences } from "../../shared/text/code-tracker.ts"
import { type LinkDefinitions, findDefinitions, lexProse, type ProseToken } from "./markdown-lexer.ts"
import { MAX_MATH_CHARS } from "./syntax/math-syntax.ts"

export interface CodeSource {
  readonly type: "code"
  readonly lang: string
  readonly text: string
}

export type Block = CodeSource | { readonly type: "prose"; readonly token: ProseToken }

/** Code, or the text between code, and its blocks. */
interface Section {
  readonly text: string
  readonly blocks: readonly Block[]
}

/** Parses some text. When it is called again with a longer version of the same text, only the end is parsed again. */
export type BlockReader = (text: string) => readonly Block[]

/**
 * Parses only the end of prose that has grown, given the tokens of its beginning; null if it must be parsed as a whole.
 */
export type GrownLexer = (
  text: string,
  known: readonly ProseToken[],
  definitions: LinkDefinitions,
) => readonly ProseToken[] | null

/** Creates a parser. The result is the same with and without `getGrownLexer`, which may be loaded later. */
export function createBlockReader(getGrownLexer: () => GrownLexer | undefined = () => undefined): BlockReader {
  let before = ""
  let reader = new GrowingBlocks({}, getGrownLexer)
  return (text) => {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text
    if (!source.startsWith(before)) reader = new GrowingBlocks({}, getGrownLexer)
    before = source
    const blocks = reader.read(source)
    const definitions = reader.findNewDefinitions()
    if (definitions === null) return blocks
    // A definition that appears, changes or disappears may change any block.
    reader = new GrowingBlocks(definitions, getGrownLexer)
    return reader.read(source)
  }
}

/**
 * Finds the blocks of one text, with the given definitions. Each call of `read` receives a longer version of that text.
 */
class GrowingBlocks {
  readonly #definitions: LinkDefinitions
  readonly #definitionsKey: string
  readonly #getGrownLexer: () => GrownLexer | undefined
  /** The blocks that no further text can change, and the number of code units that they take up. */
  readonly #finished: Block[] = []
  #finishedChars = 0
  #finishedDefinitions: ProseToken[] = []
  /** The sections after the finished blocks. */
  #open: readonly Section[] = []

  constructor(definitions: LinkDefinitions, getGrownLexer: () => GrownLexer | undefined) {
    this.#definitions = definitions
    this.#getGrownLexer = getGrownLexer
    this.#definitionsKey = JSON.stringify(definitions)
  }

  read(text: string): readonly Block[] {
    const parts = splitFences(text.slice(this.#finishedChars))
    this.#open = parts.map((part, at) => {
      const before = this.#open[at]
      return part.type === "code" ? readCode(part.info, part.text, before) : this.#readProse(part.text, before)
    })
    const blocks = [...this.#finished, ...this.#open.flatMap((section) => section.blocks)]
    this.#finishBlocks(text, parts.at(-1)?.type === "text")
    return blocks
  }

  /** Returns the definitions in the text that was read last, or null if the text was read with the same definitions. */
  findNewDefinitions(): LinkDefinitions | null {
    const open = this.#open.flatMap((section) => section.blocks.flatMap(listDefinitions))
    if (open.length + this.#finishedDefinitions.length === 0 && this.#definitionsKey === "{}") return null
    const found = findDefinitions([...this.#finishedDefinitions, ...open])
    return JSON.stringify(found) === this.#definitionsKey ? null : found
  }

  #readProse(text: string, before: Section | undefined): Section {
    if (before?.text === text && before.blocks[0]?.type !== "code") return before
    const known = before?.blocks.flatMap((block) => (block.type === "prose" ? [block] : [])) ?? []
    const knownTokens = known.map((block) => block.token)
    const isGrown = known.length > 0 && text.startsWith(before?.text ?? "")
    const grown = isGrown ? this.#getGrownLexer()?.(text, knownTokens, this.#definitions) : null
    const tokens = grown ?? lexProse(text, this.#definitions)
    // A token with the same source keeps its identity.
    const blocks = tokens.map((token, at): Block => {
      const same = known[at]
      return same?.token.type === token.type && same.token.raw === token.raw ? same : { type: "prose", token }
    })
    return { text, blocks }
  }

  /**
   * If the text ends with prose, all sections before that prose are finished, and so are all blocks of the prose except
   * the last few.
   */
  #finishBlocks(text: string, isProseOpen: boolean): void {
    const last = this.#open.at(-1)
    if (last === undefined || !isProseOpen) return
    const isDone = takeFinishedBlocks(last.blocks)
    const chars = isDone.reduce((sum, block) => sum + getRawText(block).length, 0)
    const start = text.length - last.text.length
    // Fences are recognised only at the start of a line.
    if (start + chars === 0 || text[start + chars - 1] !== "\n") return
    const finished = [...this.#open.slice(0, -1).flatMap((section) => section.blocks), ...isDone]
    this.#finished.push(...finished)
    this.#finishedDefinitions = [...this.#finishedDefinitions, ...finished.flatMap(listDefinitions)]
    this.#finishedChars = start + chars
    this.#open = [{ text: last.text.slice(chars), blocks: last.blocks.slice(isDone.length) }]
  }
}

function readCode(info: string, text: string, before: Section | undefined): Section {
  const lang = info.split(/\s/, 1)[0] ?? ""
  const block = before?.blocks[0]
  if (before !== undefined && block?.type === "code" && block.text === text && block.lang === lang) return before
  return { text, blocks: [{ type: "code", lang, text }] }
}

function listDefinitions(block: Block): readonly ProseToken[] {
  return block.type === "prose" && block.token.type === "def" ? [block.token] : []
}

/**
 * Returns all blocks except the last two that aren't whitespace. The last line may still become something else (`---`
 * is a thematic break, `---a` is not) and then belong to the block before it.
 */
function takeFinishedBlocks(blocks: readonly Block[]): readonly Block[] {
  const isVisible = (block: Block): boolean => block.type === "prose" && block.token.type !== "space"
  const last = blocks.findLastIndex(isVisible)
  const before = blocks.slice(0, Math.max(last, 0)).findLastIndex(isVisible)
  return blocks.slice(0, findOpenMath(blocks, Math.max(before, 0)))
}

/**
 * Returns the index of the block in which an incomplete formula may have begun, or `end` if there is none. Once the
 * formula is complete, the text after that block belongs to it. A formula contains no blank line and at most
 * MAX_MATH_CHARS.
 */
function findOpenMath(blocks: readonly Block[], end: number): number {
  let open = end
  let chars = 0
  for (let at = end - 1; at >= 0 && chars < MAX_MATH_CHARS; at--) {
    const block = blocks[at]
    if (block === undefined || block.type === "code" || block.token.type === "space") break
    chars += block.token.raw.length
    if (/\\\[|\$\$/.test(block.token.raw.slice(0, MAX_MATH_CHARS))) open = at
  }
  return open
}

function getRawText(block: Block): string {
  return block.type === "prose" ? block.token.raw : ""
}
