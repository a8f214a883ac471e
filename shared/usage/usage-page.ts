/** usage-page.ts: a page of `GET /v1/usage`. */

import type { UsageTotals } from "./usage-totals.ts"

export const USAGE_GROUPS = ["day", "model", "user", "agent"] as const

/** What the rows of a page are grouped by. */
export type UsageBy = (typeof USAGE_GROUPS)[number]

export interface UsageQuery {
  /** First and last day, in UTC: `2026-01-31`. */
  readonly from: string
  readonly to: string
  readonly by: UsageBy
  /** The `next` value of the previous page. */
  readonly after?: string | undefined
}

/** Totals with the fields that `by` names: `day`, `model` and `provider`, `user` or `agent`. */
export interface UsageRow extends UsageTotals {
  readonly day?: string
  readonly model?: string
  readonly provider?: string
  readonly user?: string
  readonly agent?: string
}

export interface UsagePage extends Pick<UsageQuery, "from" | "to" | "by"> {
  readonly rows: readonly UsageRow[]
  /** The total over the whole range. */
  readonly total: UsageTotals
  /** The cursor for the next page; null on the last page. */
  readonly next: string | null
}
