/** markdown-html.ts: prints the page's Markdown tokens as the HTML of the CommonMark specification, for comparisons. */

import { decodeEntities } from "../../client/markdown/html-entities.ts"
import type { ProseToken, TableCell } from "../../client/markdown/markdown-lexer.ts"

/** Prints a link without its title, which the page doesn't show. */
export function printTokens(tokens: readonly ProseToken[] = []): string {
  return tokens.map(printToken).join("")
}

function printToken(token: ProseToken): string {
  switch (token.type) {
    case "space":
    case "def":
      return ""
    case "paragraph":
      return `<p>${printTokens(token.tokens)}</p>`
    case "heading":
      return `<h${token.depth}>${printTokens(token.tokens)}</h${token.depth}>`
    case "hr":
      return "<hr />"
    case "br":
      return "<br />"
    case "list":
      return printList(token)
    case "table":
      return printTable(token)
    case "codespan":
      return `<code>${escapeHtml(token.text ?? "")}</code>`
    case "link":
      return printLink(token)
    case "image":
      return `<img src="${printHref(token)}" alt="${escapeHtml(decodeEntities(toPlainText(token.tokens)))}" />`
    case "html":
      return token.raw
    case "escape":
    case "math":
      return escapeHtml(token.text ?? "")
    case "checkbox":
      return token.checked === true ? "[x]" : "[ ]"
    case "blockquote":
    case "strong":
    case "em":
    case "del":
      return `<${token.type}>${printTokens(token.tokens)}</${token.type}>`
    default:
      return token.tokens === undefined
        ? escapeHtml(decodeEntities(token.text ?? token.raw))
        : printTokens(token.tokens)
  }
}

function printList(list: ProseToken): string {
  const items = (list.items ?? []).map((item) => `<li>${printTokens(item.tokens)}</li>`).join("")
  if (list.ordered !== true) return `<ul>${items}</ul>`
  return `<ol${list.start === 1 ? "" : ` start="${list.start}"`}>${items}</ol>`
}

function printTable({ header = [], rows = [] }: ProseToken): string {
  const printRow = (row: readonly TableCell[]): string =>
    `<tr>${row.map((cell) => `<td align="${cell.align}">${printTokens(cell.tokens)}</td>`).join("")}</tr>`
  return `<table>${[header, ...rows].map(printRow).join("")}</table>`
}

function printLink(token: ProseToken): string {
  const text = token.autolink === true ? escapeHtml(token.text ?? "") : printTokens(token.tokens)
  return `<a href="${printHref(token)}">${text}</a>`
}

function printHref({ href = "", autolink }: ProseToken): string {
  const address = autolink === true ? href : decodeEntities(href)
  // Encode the characters that a URL can't contain, as the specification's examples do.
  return escapeHtml(encodeURI(address.toWellFormed()).replace(/%25(?=[\da-f]{2})/gi, "%"))
}

function toPlainText(tokens: readonly ProseToken[] = []): string {
  return tokens
    .map((token) => (token.tokens === undefined ? (token.text ?? token.raw) : toPlainText(token.tokens)))
    .join("")
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")
}

/** Removes what browsers ignore from HTML, and also the titles of links and images. */
export function normalizeHtml(html: string): string {
  return html
    .replace(/ title="[^"]*"/g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?(<\/?(?:p|h\d|hr|br|ul|ol|li|blockquote|table|tr|td)(?: [^>]*)?>) ?/g, "$1")
    .trim()
}
