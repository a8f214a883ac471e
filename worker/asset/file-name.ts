/**
 * file-name.ts: what a file is called, for people: safe to show, to put into a header, and to save under.
 *
 * name of an upload, title of a tool → LABEL
 * Pure.
 */

import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import { MAX_LABEL_CHARS } from "../../shared/limits.ts"

/** Longest ending that is kept of a name that is cut. */
const MAX_EXTENSION_CHARS = 12

/** The last part of a path, without what is not seen; `fallback` where nothing is left. */
export function fileNameToLabel(name: string, fallback: string): string {
  const last =
    name
      .toWellFormed()
      .normalize("NFC")
      .split(/[/\\]/)
      .filter((part) => part.trim() !== "")
      .at(-1) ?? ""
  const label = stripInvisible(last).replace(/^[.\s]+/, "")
  return label === "" ? fallback : truncateLabel(label)
}

/** A title as a name: it is no path, so what stands before a stroke or behind a first point is a part of it. */
export function titleToLabel(title: string, fallback: string): string {
  const text = title.toWellFormed().normalize("NFC").replace(/\s+/g, " ")
  const label = stripInvisible(text.replace(/ *[/\\]+ */g, "-"))
  return label === "" ? fallback : truncateLabel(label)
}

function stripInvisible(text: string): string {
  return text.replace(INVISIBLE_CHARS, "").replace(/\s+/g, " ").trim()
}

function truncateLabel(label: string): string {
  if (label.length <= MAX_LABEL_CHARS) return label
  const extension = /\.[A-Za-z0-9]+$/.exec(label.slice(-MAX_EXTENSION_CHARS))?.[0] ?? ""
  const head = label.slice(0, MAX_LABEL_CHARS - extension.length)
  // Not in the middle of a character.
  return (/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head) + extension
}
