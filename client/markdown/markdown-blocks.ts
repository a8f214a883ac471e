/**
 * markdown-blocks.ts: splits a growing text into blocks without parsing finished blocks again.
 *
 * The result depends on the text alone, not on how it grew. Blocks that don't change keep their identity, so their
 * components don't render again. SPEC MD3.
 */

import { splitFences } from "../../shared/text/code-tracker.ts"
import { type LinkDefinitions, findDefinitions, lexProse, MAX_MATH_CHARS, type ProseToken } from "./markdown-lexer.ts"

export type Block =
  | { readonly type: "code"; readonly lang: string; readonly text: string }
  | { readonly type: "prose"; readonly token: ProseToken }

interface ParsedSection {
  readonly type: "code" | "prose"
  readonly lang: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** Parses a text. When it is called again with a longer version of the same text, only the end is parsed again. */
export type BlockReader = (text: string) => readonly Block[]

export function createBlockReader(): BlockReader {
  let sections: readonly ParsedSection[] = []
  let definitions: LinkDefinitions = {}
  let definitionsKey = ""
  return (text) => {
    const parts = splitFences(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text)
    const parseParts = (before: readonly ParsedSection[]): readonly ParsedSection[] =>
      parts.map((part, at) => {
        if (part.type === "code") return parseCodeSection(part.info, part.text, before[at])
        return parseProseSection(part.text, before[at], definitions)
      })
    sections = parseParts(sections)
    const foundDefinitions = collectDefinitions(sections)
    const key = JSON.stringify(foundDefinitions)
    // A definition that appears, changes or disappears may change any block.
    if (key !== definitionsKey) {
      definitionsKey = key
      definitions = foundDefinitions
      sections = parseParts([])
    }
    return sections.flatMap((section) => section.blocks)
  }
}

function collectDefinitions(sections: readonly ParsedSection[]): LinkDefinitions {
  const tokens = sections.flatMap((section) =>
    section.blocks.flatMap((block) => (block.type === "prose" ? [block.token] : [])),
  )
  return findDefinitions(tokens)
}

function parseCodeSection(info: string, text: string, before: ParsedSection | undefined): ParsedSection {
  const lang = info.split(/\s/, 1)[0] ?? ""
  if (before?.type === "code" && before.text === text && before.lang === lang) return before
  return { type: "code", lang, text, blocks: [{ type: "code", lang, text }] }
}

function parseProseSection(
  text: string,
  before: ParsedSection | undefined,
  definitions: LinkDefinitions,
): ParsedSection {
  if (before?.type === "prose" && before.text === text) return before
  const keptBlocks = before?.type === "prose" && text.startsWith(before.text) ? takeFinishedBlocks(before.blocks) : []
  const keptChars = keptBlocks.reduce((sum, block) => sum + getRawText(block).length, 0)
  const newBlocks = lexProse(text.slice(keptChars), definitions).map((token): Block => ({ type: "prose", token }))
  return { type: "prose", lang: "", text, blocks: [...keptBlocks, ...newBlocks] }
}

/**
 * All blocks except the last two that aren't white space. The last line may still become something else (`---` is a
 * thematic break, `---a` is not) and then belong to the block before it.
 */
function takeFinishedBlocks(blocks: readonly Block[]): readonly Block[] {
  const isVisible = (block: Block): boolean => block.type === "prose" && block.token.type !== "space"
  const last = blocks.findLastIndex(isVisible)
  const before = blocks.slice(0, Math.max(last, 0)).findLastIndex(isVisible)
  return blocks.slice(0, findOpenMath(blocks, Math.max(before, 0)))
}

/**
 * The index of the block in which an incomplete formula may have begun, or `end` if there is none. Once the formula is
 * complete, the text after that block belongs to it. A formula contains no blank line and at most MAX_MATH_CHARS.
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
