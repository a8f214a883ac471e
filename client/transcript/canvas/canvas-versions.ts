/**
 * canvas-versions.ts: the versions of a canvas document in the loaded messages, and the source of each. Pure.
 *
 * A model changes a document by saving a new one, so the documents with the same title are versions of each other. The
 * source is in the arguments of the call that saved the document. SPEC CP3, CP4.
 */

import type { Segment } from "../../../shared/protocol/segment.ts"
import type { CanvasSegment } from "../../words/media-descriptions.ts"

/** The messages' segments, oldest message first. */
export type SegmentLists = Iterable<readonly Segment[]>

/**
 * Returns the versions, oldest first and without duplicates. The list always contains the opened document, even if its
 * message is no longer loaded.
 */
export function listVersions(lists: SegmentLists, opened: CanvasSegment): readonly CanvasSegment[] {
  const versionsByUrl = new Map<string, CanvasSegment>()
  for (const segments of lists) {
    for (const segment of segments) {
      if (segment.type !== "canvas" || !isVersion(segment, opened)) continue
      if (!versionsByUrl.has(segment.preview.url)) versionsByUrl.set(segment.preview.url, segment)
    }
  }
  return versionsByUrl.has(opened.preview.url) ? [...versionsByUrl.values()] : [opened]
}

function isVersion({ preview }: CanvasSegment, { preview: opened }: CanvasSegment): boolean {
  if (preview.url === opened.url) return true
  const areStored = getDocumentId(preview) !== null && getDocumentId(opened) !== null
  return areStored && preview.title !== undefined && preview.title === opened.title
}

/** Returns the id of a stored document; null for another site's page, whose URL is absolute. */
export function getDocumentId({ url, viewId }: CanvasSegment["preview"]): string | null {
  return url.startsWith("/") ? (viewId ?? null) : null
}

/**
 * Returns the arguments of the call that saved the document; null for other sites' pages, or if the call isn't loaded.
 */
export function findSavingArgs(lists: SegmentLists, { preview }: CanvasSegment): string | null {
  const id = getDocumentId(preview)
  if (id === null) return null
  // Ids contain no character that JSON escapes.
  const reference = `"ref":"${id}"`
  for (const segments of lists) {
    for (const segment of segments) {
      if (segment.type === "tool" && segment.result?.includes(reference) === true) return segment.args
    }
  }
  return null
}

/** Returns the source in a call's arguments; null if the arguments contain none, or are shown only in part. */
export function readSource(args: string | null): string | null {
  try {
    const { html } = Object(JSON.parse(args ?? "null")) as { readonly html?: unknown }
    return typeof html === "string" ? html.trim() : null
  } catch {
    return null
  }
}

/** Maximum length of a saved file's name without its extension, in characters. File systems allow 255 bytes. */
const MAX_NAME_CHARS = 60

/** Returns a file name without characters that a file system or a shell treats specially. */
export function createHtmlFileName(title: string): string {
  const words = title.normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const name = Array.from(words.join("-")).slice(0, MAX_NAME_CHARS).join("")
  return `${name === "" ? "document" : name}.html`
}
