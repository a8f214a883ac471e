/** html-tags.ts: reads the tags and the text of an HTML source, from the tokens of htmlparser2. Pure. */

import type { Tokenizer } from "htmlparser2"

export interface OpenTag {
  /** In lower case. */
  readonly name: string
  readonly isSelfClosing: boolean
  /** Whether its attributes hide it from readers. */
  readonly isHidden: boolean
  /** The attributes in KEPT_ATTRIBUTES, undecoded. */
  readonly attributes: { readonly [name: string]: string }
}

interface TagHandler {
  open(tag: OpenTag): void
  close(name: string): void
  /** With undecoded references such as `&amp;`. */
  text(text: string): void
}

type Callbacks = ConstructorParameters<typeof Tokenizer>[1]

const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set(["name", "property", "content", "hidden", "aria-hidden", "style"])

/** Longer values are cut. A description is shorter. */
const MAX_VALUE_CHARS = 2_000

/** Creates the callbacks of a tokenizer that gets the whole source in one piece. */
export function createTagReader(source: string, handler: TagHandler): Callbacks {
  let name = ""
  let attribute = ""
  let value = ""
  let attributes: Record<string, string> = {}
  const endTag = (isSelfClosing: boolean): void => {
    handler.open({ name, isSelfClosing, isHidden: isHidden(attributes), attributes })
  }
  const ignore = (): void => {}
  return {
    onopentagname(start, end) {
      name = source.slice(start, end).toLowerCase()
      attributes = {}
    },
    onattribname(start, end) {
      const written = source.slice(start, end).toLowerCase()
      attribute = KEPT_ATTRIBUTES.has(written) ? written : ""
      value = ""
    },
    onattribdata(start, end) {
      if (attribute !== "") value = source.slice(start, Math.min(end, start + MAX_VALUE_CHARS))
    },
    onattribend() {
      if (attribute !== "" && !Object.hasOwn(attributes, attribute)) attributes[attribute] = value
      attribute = ""
    },
    onopentagend: () => endTag(false),
    onselfclosingtag: () => endTag(true),
    onclosetag: (start, end) => handler.close(source.slice(start, end).trim().toLowerCase()),
    ontext: (start, end) => handler.text(source.slice(start, end)),
    oncdata: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onprocessinginstruction: ignore,
    onattribentity: ignore,
    ontextentity: ignore,
    onend: ignore,
  }
}

function isHidden(attributes: { readonly [name: string]: string }): boolean {
  if (Object.hasOwn(attributes, "hidden") || attributes["aria-hidden"] === "true") return true
  return /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes["style"] ?? "")
}
