/** feedback-text.ts: the strings of the admin page's feedback section. Pure. */

import { writingText } from "../writing-text.ts"

const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" })
const PERCENT = new Intl.NumberFormat("en", { style: "percent" })

export const feedbackText = {
  lead: "How users rated your agents' answers, and the reasons that they gave. Their comments are stored only with their conversations.",
  empty: "No answer has been rated yet.",
  month: "Month",
  allMonths: "All months",
  /** `2026-11` → "November 2026" */
  monthOf: (month: string) => MONTH.format(Date.parse(`${month}-01T00:00:00Z`)),
  agent: "Agent",
  up: "Good",
  down: "Bad",
  share: "% good",
  shareOf: (up: number, all: number) => PERCENT.format(up / all),
  reasons: "Reasons",
  /** If this version of the page doesn't know a reason, it shows the reason's code. */
  reasonCount: (reason: string, count: string) =>
    `${Object.entries(writingText.reasons).find(([name]) => name === reason)?.[1] ?? reason}: ${count}`,
} as const
