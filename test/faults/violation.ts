/** violation.ts: what the suite can find wrong, as a value. */

/** Each rule with what it says, as the report prints it. */
export const RULES = {
  stored_once: "every acknowledged message is stored exactly once",
  none_doubled: "no message is stored twice",
  words_kept: "a message is stored with the words that were sent",
  refused_away: "a refused message is not stored",
  seq_in_order: "a socket's frames have no gap and no double",
  answers_in_order: "what is asked on a socket is answered in that order",
  order_kept: "messages begin in the order in which they were acknowledged",
  live_is_history: "what a tab shows is what a reload shows",
  history_is_rows: "what a reload shows is what the rows hold",
  rows_whole: "what is stored can be read",
  seq_is_rows: "the seq that is told is the highest that is stored",
  turn_ends: "every turn ends, soon after the last restart",
  ends_rightly: "an answer ends as its model, a cancel or a kill made it end",
  nothing_later: "nothing changes once every turn has ended",
  ends_once: "an answer that has ended does not change any more",
  shown_is_stored: "every state that was shown is a prefix of what is stored",
  once_dispatched: "a call with side effects is dispatched at most once, and once where it went well",
  cancel_holds: "a cancelled answer stays cancelled, with the seq that was told",
  answered: "every request is answered",
} as const

export type Rule = keyof typeof RULES

export interface Violation {
  readonly rule: Rule
  readonly session: string
  readonly detail: string
}

/** Enough of a text to recognise it by. */
export function clip(text: string, max = 400): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length})`
}
