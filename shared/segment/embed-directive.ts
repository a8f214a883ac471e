/**
 * embed-directive.ts: `[embed …/]`, and the canvas that a reader sees in its place.
 *
 * scan → EMBED → piece → segment
 * Which other origins may be framed is the tenant's to say, and decided before this (DESIGN §5).
 * Pure.
 */

import { canvasUrl } from "../protocol/asset.ts"
import type { Segment } from "../protocol/frame.ts"
import { MAX_EMBED_HEIGHT, MAX_HELD, MAX_ID_CHARS, MIN_EMBED_HEIGHT } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { checkPublicUrl } from "../text/public-url.ts"
import { prefixes } from "../text/scanner.ts"

export type CanvasSegment = Extract<Segment, { type: "canvas" }>

/** Its attributes, as written; of one that comes twice the first. */
export type EmbedAttributes = ReadonlyMap<string, string>

const ATTRIBUTE = `\\s+[a-z][a-z0-9_-]*\\s*=\\s*(?:"[^"]*"|'[^']*')`
const EMBED = new RegExp(`^\\[embed((?:${ATTRIBUTE})+)\\s*/\\]`, "i")
const PART_OF_ATTRIBUTE = `\\s+(?:[a-z][a-z0-9_-]*(?:\\s*(?:=\\s*(?:"[^"]*|'[^']*)?)?)?)?`
const EMBED_PART = new RegExp(`^${prefixes("[embed", `(?:${ATTRIBUTE})*(?:${PART_OF_ATTRIBUTE}|\\s*/)?`)}$`, "i")

/**
 * Reads the shortcode that may stand at `at`.
 *
 * Shapes  → its text and attributes, null if there is none, or WAIT.
 * Cost    linear in it, which is at most MAX_HELD.
 * Source  SPEC DR6.
 */
export function embedAt(
  text: string,
  at: number,
  final: boolean,
): { readonly raw: string; readonly attributes: EmbedAttributes } | typeof WAIT | null {
  const start = text.slice(at, at + MAX_HELD)
  const found = EMBED.exec(start)
  if (found !== null) return { raw: found[0], attributes: attributesIn(found[1] ?? "") }
  if (final || start.length === MAX_HELD) return null
  return EMBED_PART.test(start) ? WAIT : null
}

function attributesIn(text: string): EmbedAttributes {
  const attributes = new Map<string, string>()
  for (const [, name = "", double, single] of text.matchAll(/([a-z][a-z0-9_-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) {
    const key = name.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? "")
  }
  return attributes
}

const REF = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_ID_CHARS}}$`)
/** A document of our own: nothing lies beside it. */
const OWN_CANVAS = new RegExp(`^/canvas/documents/([A-Za-z0-9_-]{1,${MAX_ID_CHARS}})/index\\.html$`)

/** The canvas that it stands for; null if it names none, another surface, or an origin that is not allowed. */
export function canvasOf(attributes: EmbedAttributes, isOrigin: (origin: string) => boolean): CanvasSegment | null {
  const target = attributes.get("target") ?? "assistant_message"
  if (target.trim().toLowerCase() !== "assistant_message") return null
  const place = placeOf(attributes.get("ref")?.trim(), attributes.get("url")?.trim(), isOrigin)
  if (place === null) return null
  const title = attributes.get("title")?.trim()
  const height = heightOf(attributes.get("height"))
  const preview = {
    ...({ kind: "canvas", surface: "assistant_message", render: "url" } as const),
    ...place,
    ...(title === undefined || title === "" ? {} : { title }),
    ...(height === null ? {} : { preferredHeight: height }),
  }
  return { type: "canvas", preview }
}

type Place = Pick<CanvasSegment["preview"], "viewId" | "url">

/** `url` wins, also where it is refused. */
function placeOf(
  ref: string | undefined,
  url: string | undefined,
  isOrigin: (origin: string) => boolean,
): Place | null {
  const isRef = ref !== undefined && REF.test(ref)
  if (url === undefined || url === "") return isRef ? { viewId: ref, url: canvasUrl({ id: ref }) } : null
  const own = OWN_CANVAS.exec(url)?.[1]
  if (own !== undefined) return { viewId: own, url }
  const checked = checkPublicUrl(url)
  if (!checked.ok || !isOrigin(checked.value.origin)) return null
  return { ...(isRef ? { viewId: ref } : {}), url: checked.value.href }
}

function heightOf(written: string | undefined): number | null {
  if (written === undefined || !/^\s*\d{1,9}(?:\.\d{1,9})?(?:px)?\s*$/i.test(written)) return null
  const height = Math.trunc(Number.parseFloat(written))
  return height < MIN_EMBED_HEIGHT ? null : Math.min(height, MAX_EMBED_HEIGHT)
}
