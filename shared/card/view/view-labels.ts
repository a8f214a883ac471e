/**
 * view-labels.ts: the labels that a card template can use instead of its own text. Pure. SPEC CV14.
 *
 * The page has these labels in each of its languages (client/words/parts/view-text.ts). `#` stands for a value.
 */

/** The English labels, by name. */
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
