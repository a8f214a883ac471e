/**
 * asset-label.ts: creates an asset's label, which is safe to display, to put into a header, and to use as a file name.
 *
 * The label is derived from an upload's file name or from the title that a tool provides (SPEC AS6).
 */

import { MAX_LABEL_CHARS } from "../../shared/limits.ts"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import { cutText } from "../../shared/text/cut-text.ts"

/** Maximum length of an extension, including the dot, that is preserved when a label is cut. */
const MAX_EXTENSION_CHARS = 12

/** Returns the last component of a path without invisible characters, or `fallback` if nothing is left. */
export function fileNameToLabel(name: string, fallback: string): string {
  const lastComponent =
    name
      .toWellFormed()
      .normalize("NFC")
      .split(/[/\\]/)
      .filter((component) => component.trim() !== "")
      .at(-1) ?? ""
  const label = stripInvisible(lastComponent).replace(/^[.\s]+/, "")
  return label === "" ? fallback : truncateLabel(label)
}

/**
 * Returns a title without invisible characters, or `fallback` if nothing is left. A title is not a path, so slashes
 * become hyphens.
 */
export function titleToLabel(title: string, fallback: string): string {
  const text = title.toWellFormed().normalize("NFC").replace(/\s+/g, " ")
  const label = stripInvisible(text.replace(/ *[/\\]+ */g, "-"))
  return label === "" ? fallback : truncateLabel(label)
}

function stripInvisible(text: string): string {
  return text.replace(INVISIBLE_CHARS, "").replace(/\s+/g, " ").trim()
}

/** Shortens a label by cutting text before its extension. */
function truncateLabel(label: string): string {
  if (label.length <= MAX_LABEL_CHARS) return label
  const extension = /\.[A-Za-z0-9]+$/.exec(label.slice(-MAX_EXTENSION_CHARS))?.[0] ?? ""
  return cutText(label, MAX_LABEL_CHARS - extension.length) + extension
}
