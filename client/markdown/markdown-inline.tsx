/**
 * markdown-inline.tsx: tokens inside a paragraph become virtual nodes.
 *
 * tokens → NODES
 * Elements come from an allow-list, without attributes; `span` is invisible; any other raw HTML is shown as the text
 * it is. Remote images wait for a click (law 11). Source: SPEC MD4–MD6.
 */

import { type ComponentChildren, h } from "preact"
import { decodeEntities, decodeWords } from "./html-entities.ts"
import type { ProseToken } from "./markdown-lexer.ts"
import { PictureView } from "../media/picture.tsx"
import { isOwn } from "../files/remote-media.ts"
import { hostOf, safeHref } from "../words/link-policy.ts"

/** Raw tags that become elements (DESIGN §5). */
const KEPT: ReadonlySet<string> = new Set(
  (
    "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 " +
    "table thead tbody tr th td"
  ).split(" "),
)
const BLOCKS = /^(?:pre|hr|p|ul|ol|li|blockquote|h[1-4]|table|thead|tbody|tr|th|td)$/
const BARE_TAG = /^<(\/?)([a-z][a-z0-9]*)\s*\/?>$/i
const SPAN_TAG = /^<\/?span(?:\s[^>]*)?>$/i

/** Raw elements inside one another. */
const MAX_OPEN_TAGS = 32

interface OpenTag {
  readonly name: string
  readonly children: ComponentChildren[]
}

/** The nodes of some inline tokens. A raw tag that is not closed ends with them. */
export function inlineNodes(tokens: readonly ProseToken[] = []): ComponentChildren[] {
  const root: ComponentChildren[] = []
  const open: OpenTag[] = []
  const put = (node: ComponentChildren): void => void (open.at(-1)?.children ?? root).push(node)
  const close = (): void => {
    const tag = open.pop()
    if (tag !== undefined) put(h(tag.name, null, ...tag.children))
  }
  for (const token of tokens) {
    if (token.type !== "html") {
      put(inlineNode(token))
      continue
    }
    if (SPAN_TAG.test(token.raw)) continue
    const [, slash, tag = ""] = BARE_TAG.exec(token.raw) ?? []
    const name = tag.toLowerCase()
    if (!KEPT.has(name)) put(token.raw)
    else if (name === "br" || name === "hr") put(h(name, null))
    else if (slash === "") {
      if (open.length < MAX_OPEN_TAGS) open.push({ name, children: [] })
    } else if (open.some((one) => one.name === name)) {
      while (open.at(-1)?.name !== name) close()
      close()
    }
  }
  while (open.length > 0) close()
  return root
}

/** Does this paragraph hold raw block elements? Then it is no `p`. */
export function holdsBlocks(tokens: readonly ProseToken[] = []): boolean {
  return tokens.some(
    (token) => token.type === "html" && BLOCKS.test(BARE_TAG.exec(token.raw)?.[2]?.toLowerCase() ?? ""),
  )
}

function inlineNode(token: ProseToken): ComponentChildren {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return h(token.type, null, ...inlineNodes(token.tokens))
    case "codespan":
      return <code>{token.text}</code>
    case "br":
      return <br />
    case "link":
      return linkNode(token)
    case "image":
      return imageNode(token)
    case "escape":
      return token.text
    case "checkbox":
      return <input type="checkbox" disabled checked={token.checked === true} />
    default:
      return token.tokens === undefined ? decodeWords(token.text ?? token.raw) : inlineNodes(token.tokens)
  }
}

function linkNode(token: ProseToken): ComponentChildren {
  const isLiteral = token.autolink === true
  const href = safeHref(isLiteral ? (token.href ?? "") : decodeEntities(token.href ?? ""))
  const children = isLiteral ? [token.text] : inlineNodes(token.tokens)
  if (href === null) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** As a media segment: one of ours at once, another when it is clicked. What can be fetched by no one is a link at most. */
function imageNode(token: ProseToken): ComponentChildren {
  const address = decodeEntities(token.href ?? "")
  const href = safeHref(address)
  const words = decodeWords(token.text ?? "") || "image"
  const url = isOwn(address) ? address : href
  if (url !== null && (isOwn(url) || url.startsWith("https:"))) {
    return <PictureView key={url} url={url} label={words} isInline />
  }
  if (href === null || !href.startsWith("http:")) return words
  return (
    <a class="picture" href={href} target="_blank" rel="noopener noreferrer">
      {words} <small>{hostOf(href)}</small>
    </a>
  )
}
