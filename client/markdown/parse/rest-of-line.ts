/** rest-of-line.ts: the rest of a line, from which the markers of quotes and items are removed one after another. */

/** A line with at least this many columns of indentation doesn't begin a block. */
export const CODE_INDENT = 4

const TAB_COLUMNS = 4

export class RestOfLine {
  /** The part that has not been taken yet. It doesn't begin with a tab. */
  text = ""
  /** The number of spaces at the beginning of `text`. */
  indent = 0
  #column = 0

  start(line: string): void {
    this.text = line
    this.#column = 0
    this.#countSpaces()
  }

  take(columns: number): void {
    this.text = this.text.slice(columns)
    this.#column += columns
    this.#countSpaces()
  }

  isBlank(): boolean {
    return this.indent >= this.text.length
  }

  isQuote(): boolean {
    return this.indent < CODE_INDENT && this.text[this.indent] === ">"
  }

  takeQuoteMarker(): void {
    this.take(this.indent + 1)
    if (this.indent > 0) this.take(1)
  }

  /** Converts tabs at the beginning to spaces, and counts the spaces. */
  #countSpaces(): void {
    let at = 0
    let width = 0
    for (; ; at++) {
      const char = this.text[at]
      if (char === " ") width++
      else if (char === "\t") width += TAB_COLUMNS - ((this.#column + width) % TAB_COLUMNS)
      else break
    }
    if (width !== at) this.text = " ".repeat(width) + this.text.slice(at)
    this.indent = width
  }
}
