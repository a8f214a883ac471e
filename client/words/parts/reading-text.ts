/** reading-text.ts: the strings of the reading tools, of sources and of Markdown that is read aloud. Pure. */

import { translate } from "../languages/language.ts"

export const readingText = translate("markdown", {
  sources: "Sources",
  moreSources: (hidden: number) => `Show ${hidden} more`,
  copyCode: "Copy code",
  /** Announced in place of a code block. */
  spokenCode: "Code.",
  wrapLines: "Wrap long lines",
  lineNumbers: "Line numbers",
  downloadCode: "Download code",
  copyTable: "Copy table",
  copyCsv: "Copy table as CSV",
  csv: "CSV",
  footnotes: "Footnotes",
  backToText: (number: number) => `Back to reference ${number}`,
  alerts: { note: "Note", tip: "Tip", important: "Important", warning: "Warning", caution: "Caution" },
})
