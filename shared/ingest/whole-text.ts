/**
 * whole-text.ts: computes what a whole text adds to the text that was streamed before it.
 *
 * raw events → STREAMED TEXT ← whole text of a response or of a part
 * Producers send the deltas of a response and then its whole text, over all of its parts (SPEC IR3). Some send the whole text
 * of the last part instead. Texts are compared without whitespace, because producers trim them. Pure.
 */

import type { TurnEvent } from "../protocol/event.ts"
import type { Message } from "../protocol/message.ts"
import { clean } from "../sanitize/clean.ts"

export type TextKind = "text" | "thinking"

/** The raw text of one answer so far, by part. */
export class StreamedText {
  readonly #parts: Record<TextKind, string[]> = { text: [], thinking: [] }
  #openKind: TextKind | null = null
  #gapsFilled = 0
  /** Whether the text was sanitised before it was stored. */
  #isSanitized = false

  /** Returns the text of a stored answer, in which whole texts are sanitised before they are compared. */
  static fromMessage({ parts }: Pick<Message, "parts">): StreamedText {
    const streamed = new StreamedText()
    streamed.#isSanitized = true
    for (const part of parts) {
      if (part.type === "tool_call") continue
      streamed.#parts[part.type].push(part.text)
      streamed.#openKind = part.open ? part.type : null
    }
    return streamed
  }

  /** Follows the events from the beginning, after some of them were completed. */
  restart(events: readonly TurnEvent[]): void {
    this.#parts.text = []
    this.#parts.thinking = []
    this.#openKind = null
    for (const event of events) this.addEvent(event)
  }

  /** Follows the events of the answer. An event for a call counts as the call's first one. */
  addEvent(event: TurnEvent): void {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        return this.#append(event.type === "text_delta" ? "text" : "thinking", event.delta)
      case "step_start":
      case "text_done":
      case "thinking_done":
      case "tool_call":
      case "end":
        this.#openKind = null
        return
      case "tool_approval":
      case "tool_input":
      case "tool_call_start":
      case "tool_output_delta":
      case "tool_result":
      case "summary":
    }
  }

  #append(kind: TextKind, delta: string): void {
    if (delta === "") return
    const parts = this.#parts[kind]
    if (this.#openKind === kind) parts[parts.length - 1] += delta
    else parts.push(delta)
    this.#openKind = kind
  }

  /** Whether lost text may still be placed between the deltas. Only the first few attempts are made, because each is linear. */
  canFillGaps(kind: TextKind): boolean {
    return this.#gapsFilled++ < MAX_GAP_FILLS && this.hasText(kind)
  }

  /** Returns the last part, or an empty string. */
  readLastPart(kind: TextKind): string {
    return this.#parts[kind].at(-1) ?? ""
  }

  /**
   * Returns the text of the last part if `whole` is that text or the text of the response. Null if it may be the text
   * of the response but does not begin with the earlier parts.
   */
  findTextOfLastPart(kind: TextKind, whole: string): string | null {
    const [first, ...others] = this.#parts[kind].slice(0, -1)
    if (first === undefined) return whole
    return findRest([first, ...others], whole) ?? (whole.includes(first.trim()) ? null : whole)
  }

  hasText(kind: TextKind): boolean {
    return this.#parts[kind].length > 0
  }

  /**
   * Whether a part is open. If so, text that does not match is another version of that part; otherwise it is new text.
   */
  isOpen(kind: TextKind): boolean {
    return this.#openKind === kind
  }

  /**
   * Returns what a whole text adds at the end of the answer: to the text of the response, to the open or last part, or
   * as a new part.
   *
   * Cost: linear in `whole`, plus the number of parts.
   */
  findRest(kind: TextKind, whole: string): string {
    const rest = this.findRestOfResponse(kind, whole)
    if (rest !== null) return rest
    const restOfPart = this.findRestOfPart(kind, whole)
    if (this.isOpen(kind)) return restOfPart ?? ""
    return restOfPart === "" ? "" : whole
  }

  /** Returns what the whole text of the response adds at the end. Null if it is a different text. */
  findRestOfResponse(kind: TextKind, whole: string): string | null {
    return whole.trim() === "" ? "" : findRest(this.#parts[kind], this.#isSanitized ? clean(whole) : whole)
  }

  /** Returns the same for the last part. */
  findRestOfPart(kind: TextKind, whole: string): string | null {
    const last = this.readLastPart(kind)
    return last.trim() === "" ? null : findRest([last], this.#isSanitized ? clean(whole) : whole)
  }
}

/**
 * Returns the end of `whole` after `parts`, or null if neither text begins with the other. Whitespace is not compared.
 */
function findRest(parts: readonly string[], whole: string): string | null {
  let at = 0
  // The streamed text may be nothing but whitespace, and reading all of it for every short `whole` would be quadratic.
  let unitsLeft = 2 * whole.length + MIN_COMPARED_UNITS
  let last = ""
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) {
      if (unitsLeft-- <= 0) return null
      last = part.charAt(i)
      if (isWhiteSpace(last)) continue
      while (isWhiteSpace(whole.charAt(at))) at++
      if (at === whole.length) return ""
      if (whole.charAt(at) !== last) return null
      at++
    }
  }
  const rest = whole.slice(at)
  if (rest.trim() === "") return ""
  return isWhiteSpace(last) ? rest.trimStart() : rest
}

/** Maximum number of attempts to place lost text in one answer. */
const MAX_GAP_FILLS = 4

/** Smallest number of streamed UTF-16 code units that are compared with a whole text, even if that text is shorter. */
const MIN_COMPARED_UNITS = 64

function isWhiteSpace(char: string): boolean {
  return char !== "" && char.trim() === ""
}

/**
 * Places the text between deltas that was lost, by finding each delta in the whole text in order. Returns the deltas with
 * the missing text before each, and the text after the last one; null if they are not pieces of this text, or are less than
 * half of it: a few letters are found in any text.
 *
 * Cost: linear in `whole`.
 */
export function fillGaps(
  deltas: readonly string[],
  whole: string,
): { readonly deltas: readonly string[]; readonly rest: string } | null {
  const streamedUnits = deltas.reduce((sum, delta) => sum + delta.length, 0)
  if (2 * streamedUnits < whole.length || streamedUnits > whole.length) return null
  let at = 0
  const filled: string[] = []
  for (const delta of deltas) {
    const found = whole.indexOf(delta, at)
    if (found < 0) return null
    filled.push(whole.slice(at, found + delta.length))
    at = found + delta.length
  }
  return { deltas: filled, rest: whole.slice(at) }
}
