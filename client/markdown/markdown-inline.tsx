/**
 * markdown-inline.tsx: tokens inside a paragraph become virtual nodes.
 *
 * tokens → NODES
 * Elements come from an allow-list, without attributes; `span` is invisible; any other raw HTML is shown as the text
 * it is. Remote images wait for a click (law 11). Source: SPEC MD4–MD6.
 */

import { type ComponentChildren, h } from "preact"
import { decodeEntities, decodeVisibleText } from "./html-entities.ts"
import type { ProseToken } from "./markdown-lexer.ts"
import { ImageView } from "../media/picture.tsx"
import { isOwnMediaUrl } from "../files/remote-media.ts"
import { parseHost, toSafeHref } from "../words/link-policy.ts"

/** Raw tags that become elements (DESIGN §5). */
const ALLOWED_TAGS: ReadonlySet<string> = new Set(
  (
    "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 " +
    "table thead tbody tr th td"
  ).split(" "),
)
const BLOCK_TAG = /^(?:pre|hr|p|ul|ol|li|blockquote|h[1-4]|table|thead|tbody|tr|th|td)$/
const BARE_TAG = /^<(\/?)([a-z][a-z0-9]*)\s*\/?>$/i
const SPAN_TAG = /^<\/?span(?:\s[^>]*)?>$/i

/** Raw elements inside one another. */
const MAX_OPEN_TAGS = 32

interface OpenTag {
  readonly name: string
  readonly children: ComponentChildren[]
}

/** The nodes of some inline tokens. A raw tag that is not closed ends with them. */
export function renderInline(tokens: readonly ProseToken[] = []): ComponentChildren[] {
  const root: ComponentChildren[] = []
  const openTags: OpenTag[] = []
  const appendNode = (node: ComponentChildren): void => void (openTags.at(-1)?.children ?? root).push(node)
  const closeTag = (): void => {
    const tag = openTags.pop()
    if (tag !== undefined) appendNode(h(tag.name, null, ...tag.children))
  }
  for (const token of tokens) {
    if (token.type !== "html") {
      appendNode(renderInlineToken(token))
      continue
    }
    if (SPAN_TAG.test(token.raw)) continue
    const [, slash, tag = ""] = BARE_TAG.exec(token.raw) ?? []
    const name = tag.toLowerCase()
    if (!ALLOWED_TAGS.has(name)) appendNode(token.raw)
    else if (name === "br" || name === "hr") appendNode(h(name, null))
    else if (slash === "") {
      if (openTags.length < MAX_OPEN_TAGS) openTags.push({ name, children: [] })
    } else if (openTags.some((one) => one.name === name)) {
      while (openTags.at(-1)?.name !== name) closeTag()
      closeTag()
    }
  }
  while (openTags.length > 0) closeTag()
  return root
}

/** Does this paragraph hold raw block elements? Then it is no `p`. */
export function hasBlockElements(tokens: readonly ProseToken[] = []): boolean {
  return tokens.some(
    (token) => token.type === "html" && BLOCK_TAG.test(BARE_TAG.exec(token.raw)?.[2]?.toLowerCase() ?? ""),
  )
}

function renderInlineToken(token: ProseToken): ComponentChildren {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return h(token.type, null, ...renderInline(token.tokens))
    case "codespan":
      return <code>{token.text}</code>
    case "br":
      return <br />
    case "link":
      return renderLink(token)
    case "image":
      return renderImage(token)
    case "escape":
      return token.text
    case "checkbox":
      return <input type="checkbox" disabled checked={token.checked === true} />
    default:
      return token.tokens === undefined ? decodeVisibleText(token.text ?? token.raw) : renderInline(token.tokens)
  }
}

function renderLink(token: ProseToken): ComponentChildren {
  const isLiteral = token.autolink === true
  const href = toSafeHref(isLiteral ? (token.href ?? "") : decodeEntities(token.href ?? ""))
  const children = isLiteral ? [token.text] : renderInline(token.tokens)
  if (href === null) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** As a media segment: one of ours at once, another when it is clicked. What can be fetched by no one is a link at most. */
function renderImage(token: ProseToken): ComponentChildren {
  const address = decodeEntities(token.href ?? "")
  const href = toSafeHref(address)
  const label = decodeVisibleText(token.text ?? "") || "image"
  const url = isOwnMediaUrl(address) ? address : href
  if (url !== null && (isOwnMediaUrl(url) || url.startsWith("https:"))) {
    return <ImageView key={url} url={url} label={label} isInline />
  }
  if (href === null || !href.startsWith("http:")) return label
  return (
    <a class="picture" href={href} target="_blank" rel="noopener noreferrer">
      {label} <small>{parseHost(href)}</small>
    </a>
  )
}
