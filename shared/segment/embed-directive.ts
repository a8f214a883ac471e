/**
 * embed-directive.ts: parses `[embed …/]` and converts it to a canvas segment.
 *
 * The caller decides which documents and external origins may be framed (SPEC DR16, DR23, SE1). Pure.
 */

import { canvasUrl, isId, parseCanvasUrl } from "../protocol/asset-url.ts"
import type { Segment } from "../protocol/segment.ts"
import { MAX_EMBED_HEIGHT, MAX_PENDING_CHARS, MIN_EMBED_HEIGHT } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { checkPublicUrl } from "../text/public-url.ts"
import { buildPrefixPattern } from "../text/scanner.ts"

export type CanvasSegment = Extract<Segment, { type: "canvas" }>

/** Decides which documents and origins may be embedded (`Permit` in grant.ts). */
interface EmbedPermit {
  isOriginAllowed(origin: string): boolean
  isCanvasAllowed(id: string): boolean
}

/** The attributes as written. If a name is repeated, its first value counts. */
export type EmbedAttributes = ReadonlyMap<string, string>

const ATTRIBUTE = `\\s+[a-z][a-z0-9_-]*\\s*=\\s*(?:"[^"]*"|'[^']*')`
const EMBED = new RegExp(`^\\[embed((?:${ATTRIBUTE})+)\\s*/\\]`, "i")
const ATTRIBUTE_PREFIX = `\\s+(?:[a-z][a-z0-9_-]*(?:\\s*(?:=\\s*(?:"[^"]*|'[^']*)?)?)?)?`
const EMBED_PREFIX = new RegExp(
  `^${buildPrefixPattern("[embed", `(?:${ATTRIBUTE})*(?:${ATTRIBUTE_PREFIX}|\\s*/)?`)}$`,
  "i",
)

/**
 * Parses the directive at `at`, if there is one.
 *
 * Shapes: → the directive's text and attributes; null if there is none; WAIT if it is incomplete.
 * Cost: linear in the length of the directive, which is at most MAX_PENDING_CHARS.
 * Source: SPEC DR6, DR16.
 */
export function readEmbed(
  text: string,
  at: number,
  final: boolean,
): { readonly raw: string; readonly attributes: EmbedAttributes } | typeof WAIT | null {
  const head = text.slice(at, at + MAX_PENDING_CHARS)
  const found = EMBED.exec(head)
  if (found !== null) return { raw: found[0], attributes: parseAttributes(found[1] ?? "") }
  if (final || head.length === MAX_PENDING_CHARS) return null
  return EMBED_PREFIX.test(head) ? WAIT : null
}

function parseAttributes(text: string): EmbedAttributes {
  const attributes = new Map<string, string>()
  for (const [, name = "", double, single] of text.matchAll(/([a-z][a-z0-9_-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) {
    const key = name.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? "")
  }
  return attributes
}

/**
 * Returns the canvas segment; null if the directive names no document, another target, or a document or origin that is
 * not allowed.
 */
export function embedToCanvas(attributes: EmbedAttributes, permit: EmbedPermit): CanvasSegment | null {
  const target = attributes.get("target") ?? "assistant_message"
  if (target.trim().toLowerCase() !== "assistant_message") return null
  const location = resolveCanvasLocation(attributes.get("ref")?.trim(), attributes.get("url")?.trim(), permit)
  if (location === null) return null
  const title = attributes.get("title")?.trim()
  const height = parseHeight(attributes.get("height"))
  const preview = {
    kind: "canvas",
    surface: "assistant_message",
    render: "url",
    ...location,
    ...(title === undefined || title === "" ? {} : { title }),
    ...(height === null ? {} : { preferredHeight: height }),
  } as const
  return { type: "canvas", preview }
}

type CanvasLocation = Pick<CanvasSegment["preview"], "viewId" | "url">

/** Returns what to embed. `url` takes precedence over `ref`, even if the URL is refused. */
function resolveCanvasLocation(
  ref: string | undefined,
  url: string | undefined,
  permit: EmbedPermit,
): CanvasLocation | null {
  const isRef = ref !== undefined && isId(ref)
  if (url === undefined || url === "")
    return isRef && permit.isCanvasAllowed(ref) ? { viewId: ref, url: canvasUrl(ref) } : null
  const ownId = parseCanvasUrl(url)
  if (ownId !== null) return permit.isCanvasAllowed(ownId) ? { viewId: ownId, url } : null
  const checked = checkPublicUrl(url)
  if (!checked.ok || !permit.isOriginAllowed(checked.value.origin)) return null
  return { ...(isRef ? { viewId: ref } : {}), url: checked.value.href }
}

function parseHeight(text: string | undefined): number | null {
  if (text === undefined || !/^\s*\d{1,9}(?:\.\d{1,9})?(?:px)?\s*$/i.test(text)) return null
  const height = Math.trunc(Number.parseFloat(text))
  return height < MIN_EMBED_HEIGHT ? null : Math.min(height, MAX_EMBED_HEIGHT)
}
