/**
 * title.ts: the stored form of a session's title: one line without characters that would change how the title is
 * displayed.
 */

import { MAX_TITLE_CHARS } from "../limits.ts"
import { replaceLoneSurrogates } from "./characters.ts"
import { cutText } from "./cut-text.ts"

/** Matches line breaks and tabs. */
const BREAKS = /[\t-\r\x85\p{Zl}\p{Zp}]+/gu

/** Matches control characters, and those that change the direction of the text around them. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu

/** Returns the text on one line, without control and bidi control characters. */
export function removeControls(text: string): string {
  return replaceLoneSurrogates(text).replace(BREAKS, " ").replace(CONTROLS, "")
}

/**
 * Returns the title as it is stored: at most MAX_TITLE_CHARS on one line. Applying the function twice has the same
 * effect as applying it once. SPEC RT13.
 */
export function toTitle(text: string): string {
  return cutText(removeControls(text), MAX_TITLE_CHARS)
}
