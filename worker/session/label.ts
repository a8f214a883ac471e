/**
 * label.ts: what a file is called, for people: safe to show, to put into a header, and to save under.
 *
 * name of an upload, title of a tool → LABEL
 * Pure.
 */

import { MAX_LABEL_CHARS } from "../../shared/limits.ts"

/** Controls, line separators, and what turns or hides text: a name must look like what it is. */
const UNSEEN = /[\0-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff]/g

/** Longest ending that is kept of a name that is cut. */
const MAX_EXTENSION = 12

/** The last part of a path, without what is not seen; `fallback` where nothing is left. */
export function labelOf(name: string, fallback: string): string {
  const last =
    name
      .toWellFormed()
      .normalize("NFC")
      .split(/[/\\]/)
      .filter((part) => part.trim() !== "")
      .at(-1) ?? ""
  const label = last
    .replace(UNSEEN, "")
    .replace(/\s+/g, " ")
    .replace(/^[.\s]+/, "")
    .trim()
  return label === "" ? fallback : shorten(label)
}

function shorten(label: string): string {
  if (label.length <= MAX_LABEL_CHARS) return label
  const extension = /\.[A-Za-z0-9]+$/.exec(label.slice(-MAX_EXTENSION))?.[0] ?? ""
  const head = label.slice(0, MAX_LABEL_CHARS - extension.length)
  // Not in the middle of a character.
  return (/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head) + extension
}
