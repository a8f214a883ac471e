/**
 * code-lines.ts: the tokenized lines of a growing code block. Pure. SPEC MD17.
 *
 * Lines that are finished keep their identity and aren't tokenized again.
 */

import { type CodeToken, INITIAL_STATE, type Language, tokenizeLine } from "./code-tokenizer.ts"

/** Maximum length of code that is shown in colour, in UTF-16 code units. */
export const MAX_HIGHLIGHTED_CHARS = 100_000

export interface CodeLine {
  readonly tokens: readonly CodeToken[]
}

export class CodeLines {
  #language: Language | null = null
  #text = ""
  /** The lines that end with a line break. */
  #finished: CodeLine[] = []
  /** The number of code units in these lines, and the state after them. */
  #finishedChars = 0
  #state = INITIAL_STATE

  /**
   * Splits text into lines, each with its line break. If the text continues the text that was read last, only the rest
   * is read.
   */
  read(language: Language | null, text: string): readonly CodeLine[] {
    const used = text.length > MAX_HIGHLIGHTED_CHARS ? null : language
    if (used !== this.#language || !text.startsWith(this.#text)) this.#reset(used)
    this.#text = text
    for (let end = text.indexOf("\n", this.#finishedChars); end >= 0; end = text.indexOf("\n", this.#finishedChars)) {
      const { tokens, after } = this.#tokenize(text.slice(this.#finishedChars, end))
      this.#finished.push({ tokens: [...tokens, { type: null, text: "\n" }] })
      this.#finishedChars = end + 1
      this.#state = after
    }
    const rest = text.slice(this.#finishedChars)
    return rest === "" ? this.#finished : [...this.#finished, { tokens: this.#tokenize(rest).tokens }]
  }

  #reset(language: Language | null): void {
    this.#language = language
    this.#finished = []
    this.#finishedChars = 0
    this.#state = INITIAL_STATE
  }

  #tokenize(line: string) {
    if (this.#language === null) return { tokens: [{ type: null, text: line }], after: this.#state }
    return tokenizeLine(this.#language, line, this.#state)
  }
}
