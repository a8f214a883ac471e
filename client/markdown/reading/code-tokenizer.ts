/**
 * code-tokenizer.ts: splits lines of code into typed tokens, by the rules of a language.
 *
 * Each line is tokenized separately, starting in the state in which the previous line ended. Every rule matches at one
 * position and in linear time, and text that no rule matches is plain, so hostile text costs no more than any other.
 * Pure. SPEC MD17.
 */

/** The names of the types are also class names in reading.css. */
export type TokenType =
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "function"
  | "type"
  | "name"
  | "meta"
  | "added"
  | "removed"

export interface CodeToken {
  /** Null for plain text. */
  readonly type: TokenType | null
  readonly text: string
}

/**
 * The source of a regular expression, the type of what it matches, and what a match does: `>state` enters a state,
 * `=state` replaces the current one, `<` leaves it. For the types "word" and "call", the match is looked up in the
 * words of the language; an unknown call is a function.
 */
export type Rule = readonly [source: string, type: TokenType | "word" | "call" | null, action?: string]

export interface Language {
  /** The name shown on the page, for example "TypeScript". */
  readonly name: string
  /** The file extension, without the dot. */
  readonly extension: string
  /** The rules of each state. The first line begins in `root`. */
  readonly states: Readonly<Record<string, readonly Rule[]>>
  readonly words: ReadonlyMap<string, TokenType>
  readonly isCaseInsensitive?: boolean
}

/** The open states, innermost last, separated by spaces. The first line begins in `root`. */
export type OpenStates = string
export const INITIAL_STATE: OpenStates = "root"

/** Maximum length of a line that is tokenized, in UTF-16 code units. Longer lines are plain. */
export const MAX_LINE_CHARS = 1_000
/** Maximum number of tokens in one line. The rest of the line is plain. */
const MAX_LINE_TOKENS = 300
/** Maximum number of open states. A state nested deeper isn't entered. */
const MAX_OPEN_STATES = 12

export interface TokenizedLine {
  readonly tokens: readonly CodeToken[]
  readonly after: OpenStates
}

interface CompiledState {
  /** Has one group per rule, and a last group for a word or character that no rule matches. */
  readonly pattern: RegExp
  readonly rules: readonly Rule[]
}

const compiledStates = new WeakMap<readonly Rule[], CompiledState>()

export function tokenizeLine(language: Language, line: string, before: OpenStates): TokenizedLine {
  if (line.length > MAX_LINE_CHARS) return { tokens: [{ type: null, text: line }], after: before }
  const open = before.split(" ")
  const tokens: CodeToken[] = []
  let at = 0
  while (at < line.length && tokens.length < MAX_LINE_TOKENS) {
    const { pattern, rules } = compileState(language, open.at(-1) ?? "")
    pattern.lastIndex = at
    const match = pattern.exec(line)
    const text = match?.[0] ?? ""
    if (match === null || text === "") break
    at += text.length
    const rule = rules[match.indexOf(text, 1) - 1]
    appendToken(tokens, rule === undefined ? null : getType(language, rule[1], text, line, at), text)
    changeState(language, open, rule?.[2])
  }
  if (at < line.length) appendToken(tokens, null, line.slice(at))
  return { tokens, after: open.join(" ") }
}

function compileState(language: Language, name: string): CompiledState {
  const rules = language.states[name] ?? []
  const known = compiledStates.get(rules)
  if (known !== undefined) return known
  const sources = [...rules.map(([source]) => source), "[\\p{L}\\p{N}_$]+|\\s+|."]
  const flags = language.isCaseInsensitive === true ? "yui" : "yu"
  const compiled = { pattern: new RegExp(sources.map((source) => `(${source})`).join("|"), flags), rules }
  compiledStates.set(rules, compiled)
  return compiled
}

/** Merges adjacent tokens of the same type. */
function appendToken(tokens: CodeToken[], type: TokenType | null, text: string): void {
  const last = tokens.at(-1)
  if (last?.type === type) tokens[tokens.length - 1] = { type, text: last.text + text }
  else tokens.push({ type, text })
}

function getType(language: Language, type: Rule[1], text: string, line: string, end: number): TokenType | null {
  if (type !== "word" && type !== "call") return type
  const known = language.words.get(language.isCaseInsensitive === true ? text.toLowerCase() : text)
  if (known !== undefined) return known
  if (type === "call" || /^\s{0,8}\(/.test(line.slice(end, end + 9))) return "function"
  return language.isCaseInsensitive !== true && /^\p{Lu}[\p{L}\d]*\p{Ll}/u.test(text) ? "type" : null
}

function changeState(language: Language, open: string[], action: string | undefined): void {
  if (action === undefined) return
  const name = action.slice(1)
  if (action === "<") {
    if (open.length > 1) open.pop()
  } else if (language.states[name] === undefined) return
  else if (action.startsWith("=")) open[open.length - 1] = name
  else if (open.length < MAX_OPEN_STATES) open.push(name)
}
