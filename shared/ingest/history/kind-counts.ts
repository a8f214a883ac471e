/**
 * kind-counts.ts: counts the content of an imported history that cannot be shown in its original form.
 *
 * The summary of an import lists these kinds (SPEC IH9). Pure.
 */

/**
 * The kinds for which the summary has its own wording. Any other kind is a type without a mapping: `block:<type>`,
 * `message:<role>` or `line:<type>`.
 */
export type KnownKind =
  | "image"
  | "audio"
  | "video"
  | "file"
  /** A document whose text is shown. */
  | "document"
  | "canvas"
  /** Thinking that the provider encrypted or removed. */
  | "hidden_thinking"
  /** Messages that the other system wrote to the model: prompts, notes, summaries. */
  | "system"
  /** Messages on other branches of the conversation, and alternative answers. */
  | "branch"
  /** Questions that were shortened because they exceeded the maximum length of a message. */
  | "long_question"
  /** Messages from a subagent. */
  | "subagent"
  /** Tool calls and results that exceed the limits of an answer. */
  | "call"
  | LostKind

/**
 * The kinds of content that is dropped while messages are assembled, because it exceeds the limits of an answer or
 * comes after its end (SPEC RE46).
 */
export type LostKind =
  /** Pieces of text and thinking, and whole texts that do not match the streamed text. */
  | "text"
  | "call"
  /** Results that follow the one that is shown. */
  | "result"
  /** Pieces of a call's output. */
  | "output"
  /** Starts and approvals of calls. */
  | "start"
  /** Attachments. */
  | "file"

/** The number of occurrences by kind. */
export type KindTotals = Readonly<Record<string, number>>

/**
 * Maximum number of kinds that are counted separately. The types come from the file, so their number must be limited.
 */
const MAX_KINDS = 32
/** Maximum length of a type's name, in UTF-16 code units. */
const MAX_KIND_CHARS = 48
/** The kind that stands for all types beyond MAX_KINDS. */
const OTHER_KIND = "other"

export class KindCounts {
  readonly #counts = new Map<string, number>()

  addKnown(kind: KnownKind, count = 1): void {
    this.#add(kind, count)
  }

  addUnknown(place: "block" | "message" | "line", type: string): void {
    this.#add(`${place}:${type.replace(/[^\w.-]/g, "").slice(0, MAX_KIND_CHARS)}`, 1)
  }

  toTotals(): KindTotals {
    return Object.fromEntries(this.#counts)
  }

  #add(kind: string, count: number): void {
    const key = this.#counts.has(kind) || this.#counts.size < MAX_KINDS ? kind : OTHER_KIND
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count)
  }
}

/** Adds the totals of several parts of a file. */
export function addTotals(totals: readonly KindTotals[]): KindTotals {
  const sums = new Map<string, number>()
  for (const [kind, count] of totals.flatMap((one) => Object.entries(one))) {
    sums.set(kind, (sums.get(kind) ?? 0) + count)
  }
  return Object.fromEntries(sums)
}
