/**
 * turn-texts.ts: reads the text of a session's finished turns in the form in which the user's directory indexes it.
 *
 * stored messages of the active path → TURN TEXTS → directory
 * A question and its answer are one entry, so a turn writes three rows.
 */

import type { Message } from "../../shared/protocol/message.ts"
import { plainText } from "../../shared/segment/segmenter.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import type { MessageText, SearchUpdate, TurnText } from "../platform/rpc/search-types.ts"
import { type PathMessage, type PathReader, readFinishedTip } from "./finished-tip.ts"

/** Maximum length of a message's searchable text, in UTF-16 code units. Searches don't find anything beyond that. */
export const MAX_MESSAGE_TEXT_CHARS = 32 * 1024

/**
 * Maximum number of messages and characters that are read for one call. A session with more is read in several calls.
 */
const MAX_READ_MESSAGES = 64
const MAX_READ_CHARS = 512 * 1024

/**
 * Where the entries of a call begin. `after`: after an entry at this position. `fork`: at the first entry that differs
 * after the path has changed below this position. `newest`: at the newest entry.
 */
export type TextsStart = { readonly after: number } | { readonly fork: number } | "newest"

/**
 * Returns the entries of the active path from a start, up to the limits of one call. If the start is not on the path,
 * the entries begin at the beginning of the path.
 */
export function readTurnTexts(store: PathReader, from: TextsStart): SearchUpdate {
  const tip = readFinishedTip(store)
  const start = findStart(store, tip, from)
  const found: PathMessage[] = []
  let chars = 0
  let isCut = false
  for (const pos of store.listPathAfter(start, MAX_READ_MESSAGES)) {
    const stored = pos > tip ? null : store.findMessageAt(pos)
    if (stored === null) break
    chars += countStoredChars(stored.message)
    isCut = found.length > 1 && chars > MAX_READ_CHARS
    if (isCut) break
    found.push(stored)
  }
  const turns = groupTurns(found)
  // The answer to the last question may follow in the next call.
  const isPartial = found.at(-1)?.message.role !== "assistant" && found.at(-1)?.pos !== tip && turns.length > 1
  return { tip, after: start, turns: isPartial ? turns.slice(0, -1) : turns }
}

/** Returns the position before the first entry. */
function findStart(store: PathReader, tip: number, from: TextsStart): number {
  if (from === "newest") return skipQuestion(store, store.findMessageAt(tip)?.parent ?? 0)
  const at = "fork" in from ? from.fork : from.after
  if (at === 0 || !store.isOnPath(at)) return 0
  return "fork" in from ? skipQuestion(store, at) : at
}

/**
 * Returns the position before a question, because an entry contains a question with its answer. Any other position is
 * returned unchanged.
 */
function skipQuestion(store: PathReader, pos: number): number {
  const stored = store.findMessageAt(pos)
  return stored === null || stored.message.role === "assistant" ? pos : (stored.parent ?? 0)
}

/** Counts the characters that are read with a message, including those that are not searched, such as tool results. */
export function countStoredChars({ words, parts }: Message): number {
  return parts.reduce((sum, part) => {
    if (part.type !== "tool_call") return sum + part.text.length
    const { args, output, result } = part.call
    return sum + args.length + output.length + (result?.length ?? 0)
  }, words.length)
}

function groupTurns(messages: readonly PathMessage[]): TurnText[] {
  const turns: TurnText[] = []
  for (const { pos, message } of messages) {
    const text = toMessageText(message)
    const last = turns.at(-1)
    if (message.role === "assistant" && last !== undefined && last.answer === null)
      turns[turns.length - 1] = { ...last, pos, answer: text }
    else if (message.role === "assistant") turns.push({ pos, question: null, answer: text })
    else turns.push({ pos, question: text, answer: null })
  }
  return turns
}

/** Returns the plain text of a message and the names of its files, without cards, tags and thinking. */
export function toMessageText(message: Message): MessageText {
  const { id, role, timestamp, attachments } = message
  const text = [plainText(message), ...attachments.map(({ label }) => label)].filter((line) => line !== "").join("\n")
  return { id, role, at: Date.parse(timestamp), text: cutText(text, MAX_MESSAGE_TEXT_CHARS) }
}
