/** usage-page.ts: a page of `GET /v1/usage`. */

import type { UsageTotals } from "./usage-totals.ts"

export const USAGE_GROUPS = ["day", "model", "user", "agent"] as const

/** The subject of each row of a page. */
export type UsageBy = (typeof USAGE_GROUPS)[number]

export interface UsageQuery {
  /** First and last day, in UTC: `2026-01-31`. */
  readonly from: string
  readonly to: string
  readonly by: UsageBy
  /** The `next` of the previous page. */
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
  /** The total of the whole range. */
  readonly total: UsageTotals
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}
