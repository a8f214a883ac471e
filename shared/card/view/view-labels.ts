/**
 * view-labels.ts: the labels that a card's template can use instead of texts of its own. Pure. SPEC CV14.
 *
 * The page has them in each of its languages (client/words/parts/view-text.ts). `#` stands for a value of the result.
 */

/** By name. */
export const ENGLISH_LABELS = {
  yes: "Yes",
  no: "No",
  done: "Done",
  open: "Open",
  openCount: "# open",
  calculation: "Calculation",
  resultsFor: "Results for #",
  timer: "Timer: #",
  endsAt: "Ends at #",
  timeIsUp: "Time is up",
}

export type ViewLabels = Readonly<typeof ENGLISH_LABELS>
