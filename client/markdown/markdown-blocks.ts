/**
 * markdown-blocks.ts: a text that grows becomes blocks, and finished blocks are not read again.
 *
 * text → BLOCKS → one component per block
 * What comes out is a function of the text alone, however it grew: a test compares both.
 * Blocks that did not change keep their identity. Source: SPEC MD3.
 */

import { splitFences } from "../../shared/text/code-tracker.ts"
import { type Definitions, definitionsIn, lexProse, type ProseToken } from "./markdown-lexer.ts"

export type Block =
  | { readonly type: "code"; readonly lang: string; readonly text: string }
  | { readonly type: "prose"; readonly token: ProseToken }

interface Piece {
  readonly type: "code" | "prose"
  readonly lang: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** Reads a text as it is now. Call it again with more of the same text: only the end is read anew. */
export type BlockReader = (text: string) => readonly Block[]

export function createBlockReader(): BlockReader {
  let pieces: readonly Piece[] = []
  let elsewhere: Definitions = {}
  let known = ""
  return (text) => {
    const cut = splitFences(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text)
    const read = (before: readonly Piece[]): readonly Piece[] =>
      cut.map((part, at) => {
        if (part.type === "code") return codePiece(part.info, part.text, before[at])
        return prosePiece(part.text, before[at], elsewhere)
      })
    pieces = read(pieces)
    const found = definitionsOf(pieces)
    const key = JSON.stringify(found)
    // A target that came, changed or went may change any block.
    if (key !== known) {
      known = key
      elsewhere = found
      pieces = read([])
    }
    return pieces.flatMap((piece) => piece.blocks)
  }
}

function definitionsOf(pieces: readonly Piece[]): Definitions {
  const tokens = pieces.flatMap((piece) =>
    piece.blocks.flatMap((block) => (block.type === "prose" ? [block.token] : [])),
  )
  return definitionsIn(tokens)
}

function codePiece(info: string, text: string, before: Piece | undefined): Piece {
  const lang = info.split(/\s/, 1)[0] ?? ""
  if (before?.type === "code" && before.text === text && before.lang === lang) return before
  return { type: "code", lang, text, blocks: [{ type: "code", lang, text }] }
}

function prosePiece(text: string, before: Piece | undefined, elsewhere: Definitions): Piece {
  if (before?.type === "prose" && before.text === text) return before
  const kept = before?.type === "prose" && text.startsWith(before.text) ? finished(before.blocks) : []
  const done = kept.reduce((sum, block) => sum + rawOf(block).length, 0)
  const fresh = lexProse(text.slice(done), elsewhere).map((token): Block => ({ type: "prose", token }))
  return { type: "prose", lang: "", text, blocks: [...kept, ...fresh] }
}

/**
 * All but the last two blocks that are not white space. The last line may still turn into something else
 * (`---` is a rule, `---a` is not), and then belong to the block before it.
 */
function finished(blocks: readonly Block[]): readonly Block[] {
  const isWords = (block: Block): boolean => block.type === "prose" && block.token.type !== "space"
  const last = blocks.findLastIndex(isWords)
  const before = blocks.slice(0, Math.max(last, 0)).findLastIndex(isWords)
  return blocks.slice(0, Math.max(before, 0))
}

function rawOf(block: Block): string {
  return block.type === "prose" ? block.token.raw : ""
}
