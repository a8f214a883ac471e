/** link-syntax.ts: recognises the targets of links, URLs and email addresses without markup, and HTML tags. Pure. */

import { unescapeMarkup } from "./draft-token.ts"

const EMAIL_HOST = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
/** Matches autolinks, such as `<https://example.com>` and `<a@example.com>`. */
export const AUTOLINK = new RegExp(
  `<(?:([a-z][a-z0-9+.-]{1,31}:[^\\s<>]*)|([a-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${EMAIL_HOST}(?:\\.${EMAIL_HOST})*))>`,
  "iy",
)
const ATTRIBUTE = `\\s+[a-z:_][\\w.:-]*(?:\\s*=\\s*(?:"[^"]*"|'[^']*'|[^\\s"'=<>\`]+))?`
export const HTML_TAG = new RegExp(
  `</[a-z][a-z0-9-]*\\s*>|<[a-z][a-z0-9-]*(?:${ATTRIBUTE})*\\s*/?>|<!--(?:-?>|[\\s\\S]*?-->)|<\\?[\\s\\S]*?\\?>|<![a-z][^>]*>|<!\\[CDATA\\[[\\s\\S]*?\\]\\]>`,
  "iy",
)
/**
 * Match URLs and email addresses in text. Because of the lookbehinds, a match isn't attempted at every character of a
 * word.
 */
const ADDRESS =
  /(?<![a-z0-9])(?:https?|ftp):\/\/[a-z0-9-][^\s<]*|(?<![^\s*_~(])www\.[a-z0-9-][^\s<]*|(?<![\w.+-])(?:mailto:|xmpp:)?[\w.+-]+@[\w-]+(?:\.[\w-]*[a-z0-9])+(?![\w-])/gi

const SPACES = /[ \t\n]*/y
const BRACKETED = /<((?:[^<>\n\\]|\\.)*)>/y
const TITLE = /[ \t\n]+(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\))/y
const MAX_PARENTHESES = 32
const ENTITY_END = /&[a-z0-9]+;$/i
const MAX_ENTITY_CHARS = 33

/** Matches a sticky regular expression at a position. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function skip(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0)
}

export interface LinkTarget {
  readonly href: string
  /** The position after the closing parenthesis or bracket. */
  readonly end: number
}

/** Reads `(target "title")` at a position. */
export function readLinkTarget(text: string, at: number): LinkTarget | null {
  if (text[at] !== "(") return null
  const start = skip(SPACES, text, at + 1)
  const bracketed = matchAt(BRACKETED, text, start)
  if (bracketed === null && text[start] === "<") return null
  const end = bracketed === null ? findTargetEnd(text, start) : start + bracketed[0].length
  const close = skip(SPACES, text, skip(TITLE, text, end))
  if (text[close] !== ")") return null
  return { href: unescapeMarkup(bracketed?.[1] ?? text.slice(start, end)), end: close + 1 }
}

/** Returns the end of a target without `<>`: whitespace, or a closing parenthesis without an opening one. */
function findTargetEnd(text: string, start: number): number {
  let at = start
  for (let open = 0; at < text.length; at++) {
    const char = text[at] ?? ""
    if (char <= " ") break
    if (char === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) at++
    else if (char === "(" && ++open > MAX_PARENTHESES) break
    else if (char === ")" && --open < 0) break
  }
  return at
}

export interface Address {
  readonly start: number
  readonly text: string
  readonly href: string
}

/** Returns whether text may contain a URL or an email address. This is much faster than searching for one. */
export function mayHaveAddress(text: string): boolean {
  return text.includes("://") || text.includes("@") || /www\./i.test(text)
}

/** Finds the first URL or email address at or after a position. */
export function findAddress(text: string, from: number): Address | null {
  const found = matchAt(ADDRESS, text, from)
  if (found === null) return null
  const isEmail = found[0].includes("@") && !/^(?:https?:|ftp:|www\.)/i.test(found[0])
  const address = isEmail ? found[0] : trimAddress(found[0])
  const prefix = isEmail
    ? /^(?:mailto|xmpp):/i.test(address)
      ? ""
      : "mailto:"
    : /^www/i.test(address)
      ? "http://"
      : ""
  return { start: found.index, text: address, href: prefix + address }
}

/**
 * Removes trailing punctuation, and closing parentheses without an opening one, because they belong to the sentence.
 */
export function trimAddress(address: string): string {
  let end = address.length
  let unopened = address.split(")").length - address.split("(").length
  for (; end > 0; end--) {
    const char = address[end - 1] ?? ""
    if (char === ")" && unopened > 0) unopened--
    else if (char === ";")
      end -= (ENTITY_END.exec(address.slice(Math.max(end - MAX_ENTITY_CHARS, 0), end))?.[0].length ?? 1) - 1
    else if (!"?!.,:*_~'\"".includes(char)) break
  }
  return address.slice(0, end)
}
