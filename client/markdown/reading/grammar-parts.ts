/** grammar-parts.ts: rules that many languages share. No rule matches beyond the end of a line. Pure. */

import type { Language, Rule, TokenType } from "./code-tokenizer.ts"

export const SLASH_COMMENT: Rule = ["\\/\\/.*", "comment"]
export const HASH_COMMENT: Rule = ["#.*", "comment"]
export const DASH_COMMENT: Rule = ["--.*", "comment"]
export const DOUBLE_QUOTED: Rule = ['"(?:[^"\\\\]|\\\\.)*"?', "string"]
export const SINGLE_QUOTED: Rule = ["'(?:[^'\\\\]|\\\\.)*'?", "string"]
/** Matches `'a'` and `'\n'`, but not the `'` of a lifetime or a type variable. */
export const CHARACTER: Rule = ["'(?:[^'\\\\]|\\\\.[^']{0,8})'", "string"]
export const NUMBER: Rule = [
  "0[xX][\\da-fA-F_]+\\w*|0[bBoO][\\d_]+|(?:\\d[\\d_]*(?:\\.\\d[\\d_]*)?|\\.\\d[\\d_]*)(?:[eE][+-]?\\d+)?\\w*",
  "number",
]
export const WORD: Rule = ["[\\p{L}_][\\p{L}\\p{N}_]*", "word"]
export const ANNOTATION: Rule = ["@[\\p{L}_][\\p{L}\\p{N}_.]*", "meta"]

/** The rules and states of a comment or string that may span lines. */
export interface LongText {
  readonly opener: Rule
  readonly states: Readonly<Record<string, readonly Rule[]>>
}

/** `open` and `close` are sources of regular expressions, and `inside` matches a run of text that isn't `close`. */
export function longText(state: string, open: string, inside: string, close: string, type: TokenType): LongText {
  return {
    opener: [open, type, `>${state}`],
    states: {
      [state]: [
        [close, type, "<"],
        [inside, type],
      ],
    },
  }
}

export const BLOCK_COMMENT = longText("comment", "\\/\\*", "(?:[^*]|\\*(?!\\/))+", "\\*\\/", "comment")

/** Returns each word with its type, as in `toWords("keyword", "if else")`. */
export function toWords(type: TokenType, words: string): readonly (readonly [string, TokenType])[] {
  return words.split(" ").map((word) => [word, type] as const)
}

export interface LanguageSource {
  readonly name: string
  readonly extension: string
  readonly keywords: string
  /** Words such as `true` and `null`. */
  readonly constants?: string
  readonly types?: string
  /** The rules that are tried before numbers and words, in this order. */
  readonly rules: readonly Rule[]
  readonly longTexts?: readonly LongText[]
  readonly states?: Language["states"]
  readonly word?: Rule
  readonly isCaseInsensitive?: boolean
}

/** Returns a language with one main state, whose comments and strings may span lines. */
export function defineLanguage(source: LanguageSource): Language {
  const { longTexts = [], states = {}, constants = "true false null", types = "", word = WORD } = source
  const root = [...longTexts.map((text) => text.opener), ...source.rules, NUMBER, word]
  return {
    name: source.name,
    extension: source.extension,
    isCaseInsensitive: source.isCaseInsensitive ?? false,
    words: new Map([
      ...toWords("keyword", source.keywords),
      ...toWords("number", constants),
      ...toWords("type", types),
    ]),
    states: Object.assign({ root }, ...longTexts.map((text) => text.states), states),
  }
}
