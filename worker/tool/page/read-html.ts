/**
 * read-html.ts: extracts the readable text of an HTML page. Pure.
 *
 * HTML → tokens (htmlparser2) → blocks → text
 * Headings, paragraphs, list items and table rows become lines of plain text, in document order. What a reader doesn't
 * see is left out: scripts, styles, hidden elements, form fields. If the page has a main part, only that is returned,
 * and otherwise its navigation is left out. No tree is built, so time and memory are linear in the size of the source.
 * Source: SPEC BT6.
 */

import { decodeHTML } from "entities/decode"
import { Tokenizer } from "htmlparser2"
import { cleanPageText } from "./clean-page-text.ts"
import { createTagReader, type OpenTag } from "./html-tags.ts"

export interface PageText {
  readonly title: string
  readonly description: string
  readonly text: string
}

/** The part of the page to which a block belongs. */
type Zone = "main" | "article" | "body" | "chrome"

interface Block {
  readonly kind: "heading" | "paragraph" | "item" | "row"
  readonly zone: Zone
  readonly text: string
}

/** A part of the page is taken to be its content if it has at least this many characters. */
const MIN_CONTENT_CHARS = 200

const SKIPPED: ReadonlySet<string> = new Set(
  "script style noscript template svg iframe object video audio canvas button select textarea dialog datalist".split(
    " ",
  ),
)
/** Elements whose text is navigation or notes. */
const CHROME: ReadonlySet<string> = new Set(["nav", "aside", "footer", "menu"])
const BLOCKS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 " +
    "h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr ul"
  ).split(" "),
)
/** Elements that end when another element of the same name begins. */
const SELF_ENDING: ReadonlySet<string> = new Set(["p", "li", "dt", "dd", "tr", "td", "th"])
/** Elements without content, which are therefore never open. */
const VOID: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
)

/** Reads the text of a page. Cost: linear in the size of the source. */
export function readHtml(source: string): PageText {
  const reader = new PageReader()
  const tags = createTagReader(source, {
    open: (tag) => reader.open(tag),
    close: (name) => reader.close(name),
    text: (text) => reader.addText(text),
  })
  // The package's own decoder isn't part of the Worker (scripts/bundling/output-plugins.ts).
  const tokenizer = new Tokenizer({ decodeEntities: false }, tags)
  tokenizer.write(source)
  tokenizer.end()
  return reader.finish()
}

class PageReader {
  readonly #blocks: Block[] = []
  #parts: string[] = []
  #hasText = false
  #kind: Block["kind"] = "paragraph"
  #prefix = ""
  #title = ""
  #heading = ""
  #description = ""
  /** The element whose content is left out, and the number of open elements of that name, including itself. */
  #skip: { readonly name: string; depth: number } | null = null
  #isInTitle = false
  /** How many elements of these names are open. */
  readonly #open = { main: 0, article: 0, chrome: 0, pre: 0 }

  open(tag: OpenTag): void {
    const { name } = tag
    if (this.#skip !== null) return this.#openSkipped(name)
    if (name === "meta") return this.#readMeta(tag)
    if (VOID.has(name)) return this.#addVoid(name)
    if (SKIPPED.has(name) || tag.isHidden) {
      if (BLOCKS.has(name)) this.#endBlock()
      // In HTML, only SVG and MathML elements can be self-closing.
      if (!(tag.isSelfClosing && name === "svg")) this.#skip = { name, depth: 1 }
      return
    }
    if (name === "title") this.#isInTitle = this.#title === ""
    else if (name === "td" || name === "th") this.#addCell()
    else if (BLOCKS.has(name)) this.#openBlock(name)
    this.#count(name, 1)
  }

  close(name: string): void {
    if (this.#skip !== null) {
      if (this.#skip.name === name) this.#skip.depth -= 1
      if (this.#skip.depth === 0) this.#skip = null
      return
    }
    if (name === "title") this.#isInTitle = false
    if (BLOCKS.has(name)) this.#endBlock()
    this.#count(name, -1)
  }

  addText(raw: string): void {
    if (this.#skip !== null) return
    const text = raw.includes("&") ? decodeHTML(raw) : raw
    if (this.#isInTitle) {
      this.#title += text
      return
    }
    this.#hasText ||= text.trim() !== ""
    this.#parts.push(this.#open.pre > 0 ? text : text.replace(/\s+/g, " "))
  }

  finish(): PageText {
    this.#endBlock()
    return {
      title: toLine(this.#title) || this.#heading,
      description: this.#description,
      text: joinBlocks(chooseBlocks(this.#blocks)),
    }
  }

  #openSkipped(name: string): void {
    if (this.#skip?.name !== name) return
    if (SELF_ENDING.has(name)) this.#skip = null
    else this.#skip.depth += 1
  }

  #openBlock(name: string): void {
    this.#endBlock()
    const level = /^h([1-6])$/.exec(name)?.[1]
    this.#kind = level !== undefined ? "heading" : name === "li" ? "item" : name === "tr" ? "row" : "paragraph"
    this.#prefix = level !== undefined ? `${"#".repeat(Number(level))} ` : name === "li" ? "- " : ""
  }

  #addCell(): void {
    if (this.#hasText) this.#parts.push(" | ")
  }

  #addVoid(name: string): void {
    if (name === "hr") this.#endBlock()
    if (name === "br") this.#parts.push("\n")
  }

  #endBlock(): void {
    const joined = this.#parts.join("")
    const text = this.#open.pre > 0 ? cleanPageText(joined).trimEnd() : cleanLines(joined)
    if (text.trim() !== "") {
      this.#blocks.push({ kind: this.#kind, zone: this.#getZone(), text: `${this.#prefix}${text}` })
      if (this.#kind === "heading" && this.#heading === "") this.#heading = toLine(text)
      // A second paragraph of an item is part of the item.
      this.#prefix = ""
      if (this.#kind !== "item") this.#kind = "paragraph"
    }
    this.#parts = []
    this.#hasText = false
  }

  #getZone(): Zone {
    if (this.#open.chrome > 0) return "chrome"
    if (this.#open.main > 0) return "main"
    return this.#open.article > 0 ? "article" : "body"
  }

  #count(name: string, by: 1 | -1): void {
    const key = CHROME.has(name) ? "chrome" : name
    if (key !== "chrome" && key !== "main" && key !== "article" && key !== "pre") return
    this.#open[key] = Math.max(0, this.#open[key] + by)
  }

  #readMeta({ attributes }: OpenTag): void {
    const name = attributes["name"] ?? attributes["property"] ?? ""
    const content = toLine(decodeHTML(attributes["content"] ?? ""))
    if (/^(?:og:)?description$/i.test(name) && this.#description === "") this.#description = content
    if (/^og:title$/i.test(name) && this.#title === "") this.#title = content
  }
}

/**
 * Returns the blocks of the main part if it has text, otherwise those of the articles, otherwise all but the
 * navigation.
 */
function chooseBlocks(blocks: readonly Block[]): readonly Block[] {
  const zones: (readonly Zone[])[] = [["main"], ["article"], ["main", "article", "body"]]
  for (const zone of zones) {
    const chosen = blocks.filter((block) => zone.includes(block.zone))
    if (chosen.reduce((sum, { text }) => sum + text.length, 0) >= MIN_CONTENT_CHARS) return chosen
  }
  return blocks
}

/** Joins the blocks. Items and rows that follow each other are lines; other blocks are separated by an empty line. */
function joinBlocks(blocks: readonly Block[]): string {
  const pieces: string[] = []
  for (const [i, { kind, text }] of blocks.entries()) {
    const isListed = (kind === "item" || kind === "row") && blocks[i - 1]?.kind === kind
    if (i > 0) pieces.push(isListed ? "\n" : "\n\n")
    pieces.push(text)
  }
  return pieces.join("")
}

function toLine(text: string): string {
  return cleanPageText(text).replace(/\s+/g, " ").trim()
}

/** Removes the whitespace at the ends of lines. */
function cleanLines(text: string): string {
  return cleanPageText(text)
    .split("\n")
    .map((line) => line.replace(/ {2,}/g, " ").trim())
    .join("\n")
    .replace(/\n{2,}/g, "\n")
    .trim()
}
