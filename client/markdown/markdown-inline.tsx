/**
 * markdown-inline.tsx: renders the inline tokens of a paragraph.
 *
 * Raw HTML becomes elements only if the tag is on an allow-list and has no attributes. `span` tags are dropped, and any
 * other raw HTML is shown as text. Images from other hosts load like any remote media (remote-media.ts). SPEC MD4–MD6.
 */

import { type ComponentChildren, h } from "preact"
import { decodeEntities, decodeVisibleText } from "./html-entities.ts"
import { FootnoteReference } from "./blocks/footnotes.tsx"
import { renderLongText } from "./long-text.tsx"
import type { ProseToken } from "./markdown-lexer.ts"
import { MathView } from "./blocks/math-view.tsx"
import { InlineImage } from "../media/media-view.tsx"
import { isAssetUrl } from "../files/remote-media.ts"
import { ProseLink } from "./sources/prose-link.tsx"
import { parseHost, toSafeHref } from "../words/format/link-policy.ts"
import { markdownText } from "../words/transcript-text.ts"

/** Raw HTML tags that become elements. Any attribute makes a tag plain text. */
const ALLOWED_TAGS: ReadonlySet<string> = new Set(
  (
    "b i u s em strong code pre kbd mark sub sup br hr p ul ol li blockquote h1 h2 h3 h4 " +
    "table thead tbody tr th td"
  ).split(" "),
)
const BLOCK_TAG = /^(?:pre|hr|p|ul|ol|li|blockquote|h[1-4]|table|thead|tbody|tr|th|td)$/
const BARE_TAG = /^<(\/?)([a-z][a-z0-9]*)\s*\/?>$/i
const SPAN_TAG = /^<\/?span(?:\s[^>]*)?>$/i

/** Maximum nesting depth of raw HTML elements. Deeper tags are dropped. */
const MAX_OPEN_TAGS = 32

interface OpenTag {
  readonly name: string
  readonly children: ComponentChildren[]
}

/** Renders inline tokens. A raw tag without a closing tag is closed after the last token. */
export function renderInline(tokens: readonly ProseToken[] = []): ComponentChildren[] {
  const builder = new InlineBuilder()
  for (const token of tokens) {
    if (token.type === "html") builder.appendRawTag(token.raw)
    else builder.appendNode(renderInlineToken(token))
  }
  return builder.finish()
}

/** Nests nodes by the raw HTML tags between them. */
class InlineBuilder {
  readonly #root: ComponentChildren[] = []
  readonly #openTags: OpenTag[] = []

  appendNode(node: ComponentChildren): void {
    const children = this.#openTags.at(-1)?.children ?? this.#root
    children.push(node)
  }

  appendRawTag(raw: string): void {
    if (SPAN_TAG.test(raw)) return
    const [, slash, tag = ""] = BARE_TAG.exec(raw) ?? []
    const name = tag.toLowerCase()
    if (!ALLOWED_TAGS.has(name)) this.appendNode(raw)
    else if (name === "br" || name === "hr") this.appendNode(h(name, null))
    else if (slash !== "") this.#closeThrough(name)
    else if (this.#openTags.length < MAX_OPEN_TAGS) this.#openTags.push({ name, children: [] })
  }

  finish(): ComponentChildren[] {
    while (this.#openTags.length > 0) this.#closeInnermost()
    return this.#root
  }

  /** Closes the innermost tag of this name and everything inside it. A closing tag without an open one is dropped. */
  #closeThrough(name: string): void {
    const index = this.#openTags.findLastIndex((tag) => tag.name === name)
    if (index < 0) return
    while (this.#openTags.length > index) this.#closeInnermost()
  }

  #closeInnermost(): void {
    const tag = this.#openTags.pop()
    if (tag === undefined) return
    const level = /^h([1-6])$/.exec(tag.name)?.[1]
    this.appendNode(h(level === undefined ? tag.name : toHeadingTag(Number(level)), null, ...tag.children))
  }
}

/** The level of a heading in an answer. The page itself has the only `h1`, and its sections have `h2`. SPEC AX4. */
export function toHeadingTag(depth: number): string {
  return `h${Math.min(depth + 2, 6)}`
}

/** Returns whether a paragraph contains raw block elements, which can't be inside a `p`. */
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
      return <code>{renderLongText(token.text ?? "")}</code>
    case "br":
      return <br />
    case "link":
      return renderLink(token)
    case "image":
      return renderImage(token)
    case "escape":
      return renderLongText(token.text ?? "")
    case "math":
      return <MathView source={token.raw} />
    case "footnote_ref":
      return <FootnoteReference token={token} />
    case "checkbox":
      return (
        <input
          type="checkbox"
          disabled
          checked={token.checked === true}
          aria-label={token.checked === true ? markdownText.taskDone : markdownText.taskOpen}
        />
      )
    default:
      return token.tokens === undefined
        ? renderLongText(decodeVisibleText(token.text ?? token.raw))
        : renderInline(token.tokens)
  }
}

function renderLink(token: ProseToken): ComponentChildren {
  const isLiteral = token.autolink === true
  const href = toSafeHref(isLiteral ? (token.href ?? "") : decodeEntities(token.href ?? ""))
  const children = isLiteral ? [token.text] : renderInline(token.tokens)
  if (href === null) return children
  return <ProseLink href={href}>{children}</ProseLink>
}

/**
 * Stored images and https images are rendered like those of media segments. An http image becomes a link, because the
 * server doesn't fetch http. For any other URL, only the label is shown.
 */
function renderImage(token: ProseToken): ComponentChildren {
  const address = decodeEntities(token.href ?? "")
  const href = toSafeHref(address)
  const label = decodeVisibleText(token.text ?? "") || markdownText.imageFallbackLabel
  const url = isAssetUrl(address) ? address : href
  if (url !== null && (isAssetUrl(url) || url.startsWith("https:"))) {
    return <InlineImage key={url} url={url} label={label} />
  }
  if (href === null || !href.startsWith("http:")) return label
  return (
    <a class="picture" href={href} target="_blank" rel="noopener noreferrer">
      {label} <small>{parseHost(href)}</small>
    </a>
  )
}
