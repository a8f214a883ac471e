/** feedback-data.ts: parses feedback counts, and adds them up by agent. Pure. Source: SPEC AD23. */

import { createParser, hasShape, isListOf, isNumber, isString } from "../../../shared/protocol/shape-check.ts"
import { isCounts } from "../../../shared/protocol/responses.ts"
import type { FeedbackCount } from "../../../shared/protocol/writing/feedback.ts"

export interface FeedbackCounts {
  readonly counts: readonly FeedbackCount[]
}

export const parseFeedbackCounts = createParser<FeedbackCounts>({
  counts: isListOf(
    hasShape<FeedbackCount>({ agent: isString, month: isString, up: isNumber, down: isNumber, reasons: isCounts }),
  ),
})

/** The feedback counts of an agent. `reasons` is sorted by frequency. */
export interface AgentFeedback {
  readonly agent: string
  readonly up: number
  readonly down: number
  readonly reasons: readonly (readonly [reason: string, count: number])[]
}

/** Returns the months with feedback as YYYY-MM, newest first. */
export function listMonths(counts: readonly FeedbackCount[]): readonly string[] {
  return [...new Set(counts.map(({ month }) => month))].sort().reverse()
}

/** Adds up the counts of a month, or of all months if `month` is empty. The agents with the most ratings come first. */
export function sumByAgent(counts: readonly FeedbackCount[], month: string): readonly AgentFeedback[] {
  const byAgent = new Map<string, FeedbackCount[]>()
  for (const count of counts) {
    if (month === "" || count.month === month) byAgent.set(count.agent, [...(byAgent.get(count.agent) ?? []), count])
  }
  return [...byAgent]
    .map(([agent, all]): AgentFeedback => {
      const reasons = new Map<string, number>()
      for (const [reason, count] of all.flatMap((entry) => Object.entries<number>(entry.reasons)))
        reasons.set(reason, (reasons.get(reason) ?? 0) + count)
      const sorted = [...reasons].sort(([, a], [, b]) => b - a)
      return { agent, up: sum(all, "up"), down: sum(all, "down"), reasons: sorted }
    })
    .filter(({ up, down }) => up + down > 0)
    .sort((a, b) => b.up + b.down - a.up - a.down || (a.agent < b.agent ? -1 : 1))
}

function sum(counts: readonly FeedbackCount[], rating: "up" | "down"): number {
  return counts.reduce((total, count) => total + count[rating], 0)
}
