/**
 * whole-text.ts: computes what a whole text adds to the text that was streamed before.
 *
 * raw events → STREAMED TEXT ← whole text of a response or of a part
 * Producers send the deltas of a response and then its whole text, across all parts (SPEC IR3). Some send only the last
 * part's whole text instead. Whitespace is ignored in comparisons, because producers trim text. Pure.
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

  /**
   * Creates the state for a stored answer. Its text is sanitised, so whole texts are sanitised before they are
   * compared.
   */
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

  /** Discards the text so far and reads these events, some of which have been completed since they were added. */
  restart(events: readonly TurnEvent[]): void {
    this.#parts.text = []
    this.#parts.thinking = []
    this.#openKind = null
    for (const event of events) this.addEvent(event)
  }

  /**
   * Adds the answer's next event. Every `tool_call` event is assumed to be its call's first and so ends the open part.
   */
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

  /**
   * Returns whether lost text may still be placed between the deltas. Each call counts as an attempt. The number of
   * attempts is limited, because the cost of each is linear in the length of the text.
   */
  canFillGaps(kind: TextKind): boolean {
    return this.#gapsFilled++ < MAX_GAP_FILLS && this.hasText(kind)
  }

  /** Returns the last part's text, or an empty string. */
  readLastPart(kind: TextKind): string {
    return this.#parts[kind].at(-1) ?? ""
  }

  /**
   * Returns the last part's text, given that `whole` is either that text or the text of the whole response; null if
   * `whole` appears to be the response's text but does not begin with the earlier parts.
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
   * Returns whether a part of this kind is open. If so, whole text that does not match it is another version of that
   * part; otherwise it is new text.
   */
  isOpen(kind: TextKind): boolean {
    return this.#openKind === kind
  }

  /**
   * Returns what a whole text adds at the end of the answer, as the text of the response, of the open or last part, or
   * of a new part.
   *
   * Cost: linear in the length of `whole`, plus the number of parts.
   */
  findRest(kind: TextKind, whole: string): string {
    const rest = this.findRestOfResponse(kind, whole)
    if (rest !== null) return rest
    const restOfPart = this.findRestOfPart(kind, whole)
    if (this.isOpen(kind)) return restOfPart ?? ""
    return restOfPart === "" ? "" : whole
  }

  /** Returns what the response's whole text adds at the end; null if it doesn't match the streamed text. */
  findRestOfResponse(kind: TextKind, whole: string): string | null {
    return whole.trim() === "" ? "" : findRest(this.#parts[kind], this.#isSanitized ? clean(whole) : whole)
  }

  /** Returns what the last part's whole text adds at the end; null if it doesn't match that part. */
  findRestOfPart(kind: TextKind, whole: string): string | null {
    const last = this.readLastPart(kind)
    return last.trim() === "" ? null : findRest([last], this.#isSanitized ? clean(whole) : whole)
  }
}

/**
 * Returns the rest of `whole` after `parts`; null if neither text begins with the other. Whitespace is ignored.
 */
function findRest(parts: readonly string[], whole: string): string | null {
  let at = 0
  // The streamed text may consist only of whitespace, and reading all of it for every short `whole` would take
  // quadratic time.
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
 * Fills in text that was lost between deltas, by finding the deltas one after another in the whole text. Returns each
 * delta with the missing text before it, and the text after the last delta. Returns null if the deltas are not pieces
 * of this text, or make up less than half of it, because a few letters can be found in any text.
 *
 * Cost: linear in the length of `whole`.
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
