/** violation.ts: the violations that the suite reports. */

/** The rules that the suite checks, with their descriptions in the report. */
export const RULES = {
  stored_once: "every acknowledged message is stored exactly once",
  no_duplicates: "no message is stored twice",
  words_kept: "a message is stored with the text that was sent",
  refused_not_stored: "a refused message is not stored",
  seq_in_order: "a socket's frames have no gaps and no duplicates",
  answers_in_order: "a socket's frames are answered in order",
  order_kept: "messages are stored in the order in which they were acknowledged",
  live_is_history: "a tab shows the same as a reload",
  history_is_rows: "a reload shows the same as the rows contain",
  rows_whole: "the stored rows can be read",
  seq_is_rows: "the seq that is sent is the highest stored one",
  turn_ends: "every turn ends, within the time limit after the last restart",
  ends_correctly: "an answer's final status matches what ended it: the model, a cancel or a kill",
  nothing_later: "nothing changes once every turn has ended",
  ends_once: "an answer does not change after it has ended",
  shown_is_stored: "every state that was shown is a prefix of what is stored",
  once_dispatched: "a call with side effects is dispatched at most once, and exactly once if it succeeded",
  cancel_holds: "a cancelled answer stays cancelled and keeps the seq with which the cancel was acknowledged",
  answered: "every request is answered",
  late_in_place:
    "an agent's late answer starts exactly one turn, under the version that asked, once that version is active",
  records_once: "each record of an external producer takes effect once",
  ledger_is_sum: "usage is counted exactly once in the user's totals and once in the tenant's",
  files_kept: "an uploaded file is stored, and belongs to the message that was sent with it",
  budget_kept: "a budget counts each turn once, and no turn begins without a lease once the budget is used up",
} as const

export type Rule = keyof typeof RULES

export interface Violation {
  readonly rule: Rule
  readonly session: string
  readonly detail: string
}

/** Returns the beginning of a text, up to a length at which the text can still be identified. */
export function clipText(text: string, max = 400): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length})`
}

/**
 * Returns one line per violation. Comparing it with "" makes a failed assertion print the violations, which a list of
 * objects would not.
 */
export function listViolations(violations: readonly Violation[]): string {
  return violations.map(({ rule, session, detail }) => `${rule}: ${session}: ${detail}`).join("\n")
}
