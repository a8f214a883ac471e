/** violation.ts: the violations that the suite reports. */

/** Each rule with its text in the report. */
export const RULES = {
  stored_once: "every acknowledged message is stored exactly once",
  none_doubled: "no message is stored twice",
  words_kept: "a message is stored with the text that was sent",
  refused_away: "a refused message is not stored",
  seq_in_order: "a socket's frames have no gap and no duplicate",
  answers_in_order: "the frames of a socket are answered in order",
  order_kept: "messages are stored in the order in which they were acknowledged",
  live_is_history: "what a tab shows is what a reload shows",
  history_is_rows: "what a reload shows is what the rows contain",
  rows_whole: "the stored rows can be read",
  seq_is_rows: "the seq that is sent is the highest stored one",
  turn_ends: "every turn ends, within the time limit after the last restart",
  ends_rightly: "an answer's final status matches what ended it: the model, a cancel or a kill",
  nothing_later: "nothing changes once every turn has ended",
  ends_once: "an answer that has ended does not change any more",
  shown_is_stored: "every state that was shown is a prefix of what is stored",
  once_dispatched: "a call with side effects is dispatched at most once, and exactly once if it succeeded",
  cancel_holds: "a cancelled answer stays cancelled and keeps the seq that acknowledged the cancel",
  answered: "every request is answered",
  late_in_place: "a late answer of an agent begins one turn, below the version that asked, once that version is active",
  records_once: "each record of an external producer takes effect once",
  ledger_is_sum: "usage is counted once, in the user's and the tenant's totals",
  files_kept: "an uploaded file is stored, and belongs to the message that was sent with it",
  budget_kept: "a budget counts each turn once, and no turn begins without a lease once the budget is used up",
} as const

export type Rule = keyof typeof RULES

export interface Violation {
  readonly rule: Rule
  readonly session: string
  readonly detail: string
}

/** Returns the beginning of a text, long enough to recognise it. */
export function clipText(text: string, max = 400): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length})`
}

/** Returns one line per violation. A failed comparison with "" then shows them, unlike a list of objects. */
export function listViolations(violations: readonly Violation[]): string {
  return violations.map(({ rule, session, detail }) => `${rule}: ${session}: ${detail}`).join("\n")
}
