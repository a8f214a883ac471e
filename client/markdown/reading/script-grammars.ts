/** script-grammars.ts: JavaScript, TypeScript, JSON, HTML and CSS, which contain each other. Pure. */

import type { Language, Rule } from "./code-tokenizer.ts"
import {
  ANNOTATION,
  BLOCK_COMMENT,
  defineLanguage,
  DOUBLE_QUOTED,
  longText,
  NUMBER,
  SINGLE_QUOTED,
  SLASH_COMMENT,
  toWords,
} from "./grammar-parts.ts"

const SCRIPT_KEYWORDS =
  "as async await break case catch class const continue debugger default delete do else export extends finally for from " +
  "function get if import in instanceof let new of return set static super switch this throw try typeof var void while " +
  "with yield"
const TYPE_KEYWORDS =
  "abstract asserts declare enum implements infer interface is keyof namespace override private protected public readonly " +
  "satisfies type unique"
const SCRIPT_CONSTANTS = "true false null undefined NaN Infinity"
const BASIC_TYPES = "any bigint boolean never number object string symbol unknown"

const SCRIPT_WORD: Rule = ["[\\p{L}_$][\\p{L}\\p{N}_$]*", "word"]
/** A slash after a value is a division. After anything else, it begins a regular expression. */
const REGULAR_EXPRESSION: Rule = [
  "(?<=(?:^|[=(,:;!&|?{}\\[+*%~^<>-]|\\breturn)\\s*)\\/(?![*\\/])(?:[^\\\\\\/\\[]|\\\\.|\\[(?:[^\\]\\\\]|\\\\.)*\\])+\\/\\w*",
  "string",
]
const MARKUP_IN_SCRIPT: Rule = ["(?<![\\p{L}\\p{N}_$)\\]])<\\/?[A-Za-z][\\w.-]*(?=[\\s\\/>]|$)", "function"]

/** The rules of a script outside strings and comments. */
const SCRIPT_RULES: readonly Rule[] = [
  SLASH_COMMENT,
  BLOCK_COMMENT.opener,
  ["`", "string", ">template"],
  DOUBLE_QUOTED,
  SINGLE_QUOTED,
  REGULAR_EXPRESSION,
  MARKUP_IN_SCRIPT,
  ANNOTATION,
  NUMBER,
  SCRIPT_WORD,
]

const SCRIPT_STATES: Language["states"] = {
  ...BLOCK_COMMENT.states,
  template: [
    ["`", "string", "<"],
    ["\\$\\{", "meta", ">expression"],
    ["(?:[^`\\\\$]|\\\\.|\\$(?!\\{))+", "string"],
  ],
  expression: [["\\}", "meta", "<"], ["\\{", null, ">braces"], ...SCRIPT_RULES],
  braces: [["\\}", null, "<"], ["\\{", null, ">braces"], ...SCRIPT_RULES],
}

const SCRIPT_WORDS = new Map([
  ...toWords("keyword", `${SCRIPT_KEYWORDS} ${TYPE_KEYWORDS}`),
  ...toWords("number", SCRIPT_CONSTANTS),
  ...toWords("type", BASIC_TYPES),
])

function defineScript(name: string, extension: string): Language {
  return { name, extension, words: SCRIPT_WORDS, states: { root: SCRIPT_RULES, ...SCRIPT_STATES } }
}

export const javascript = defineScript("JavaScript", "js")
export const typescript = defineScript("TypeScript", "ts")
export const jsx = defineScript("JSX", "jsx")
export const tsx = defineScript("TSX", "tsx")

export const json = defineLanguage({
  name: "JSON",
  extension: "json",
  keywords: "",
  rules: [SLASH_COMMENT, ['"(?:[^"\\\\]|\\\\.)*"(?=\\s{0,8}:)', "name"], DOUBLE_QUOTED],
  longTexts: [BLOCK_COMMENT],
})

const STYLE_VALUES: readonly Rule[] = [
  BLOCK_COMMENT.opener,
  SLASH_COMMENT,
  DOUBLE_QUOTED,
  SINGLE_QUOTED,
  ["@[\\w-]+", "keyword"],
  ["#[\\da-fA-F]{3,8}(?![\\w-])", "number"],
  ["[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:%|[a-zA-Z]+)?", "number"],
  ["--[\\w-]+|\\$[\\w-]+", "name"],
  ["!important", "keyword"],
  ["[a-zA-Z-]{1,60}(?=\\()", "function"],
]

const STYLE_STATES: Language["states"] = {
  ...BLOCK_COMMENT.states,
  rules: [
    ["\\}", null, "<"],
    ["\\{", null, ">rules"],
    ["[a-zA-Z-]{1,60}(?=\\s{0,9}:\\s)|[a-z-]{1,60}(?=:[\\w#\"'.-]{1,60};)", "name"],
    ["&?::?[a-zA-Z-]{1,60}(?=[^;{]{0,90}\\{)", "keyword"],
    ...STYLE_VALUES,
    ["[.#&][\\w-]+", "type"],
  ],
}

const STYLE_RULES: readonly Rule[] = [
  ["\\{", null, ">rules"],
  ["[.#][\\w-]+", "type"],
  ["::?[a-zA-Z-]+", "keyword"],
  ...STYLE_VALUES,
  ["[a-zA-Z][\\w-]*", "function"],
]

function defineStyle(name: string, extension: string): Language {
  return { name, extension, words: new Map(), states: { root: STYLE_RULES, ...STYLE_STATES } }
}

export const css = defineStyle("CSS", "css")
export const scss = defineStyle("SCSS", "scss")
export const less = defineStyle("Less", "less")

const MARKUP_COMMENT = longText("remark", "<!--", "(?:[^-]|-(?!->))+", "-->", "comment")

const ATTRIBUTES: readonly Rule[] = [
  ["[\\w:@.#*()\\[\\]-]{1,60}(?=\\s{0,9}=)", "name"],
  ['"[^"]*"?', "string"],
  ["'[^']*'?", "string"],
  ["[\\w:@.#-]+", "name"],
]

const MARKUP_RULES: readonly Rule[] = [
  MARKUP_COMMENT.opener,
  ["<[!?][^>]*>?", "meta"],
  ["<script(?![\\w:.-])", "function", ">script-tag"],
  ["<style(?![\\w:.-])", "function", ">style-tag"],
  ["<\\/?[a-zA-Z][\\w:.-]*", "function", ">tag"],
  ["&#?\\w+;", "number"],
]

function defineMarkup(name: string, extension: string): Language {
  const states: Language["states"] = {
    root: MARKUP_RULES,
    ...MARKUP_COMMENT.states,
    ...SCRIPT_STATES,
    ...STYLE_STATES,
    tag: [["\\/?>", "function", "<"], ...ATTRIBUTES],
    "script-tag": [["\\/>", "function", "<"], [">", "function", "=script"], ...ATTRIBUTES],
    "style-tag": [["\\/>", "function", "<"], [">", "function", "=style"], ...ATTRIBUTES],
    script: [["<\\/script", "function", "=tag"], ...SCRIPT_RULES],
    style: [["<\\/style", "function", "=tag"], ...STYLE_RULES],
  }
  return { name, extension, words: SCRIPT_WORDS, states }
}

export const html = defineMarkup("HTML", "html")
export const xml = defineMarkup("XML", "xml")
export const svg = defineMarkup("SVG", "svg")
export const vue = defineMarkup("Vue", "vue")
export const svelte = defineMarkup("Svelte", "svelte")
