/**
 * feedback-counts.ts: counts feedback per agent and month. Source: SPEC WR13.
 *
 * The feedback itself is stored in the transcripts. A change that couldn't be delivered to the tenant object isn't
 * counted.
 */

import type { Feedback, FeedbackCount, FeedbackReason } from "../../../shared/protocol/writing/feedback.ts"
import type { FeedbackChange } from "../../platform/rpc/session-types.ts"
import type { TenantHost } from "../tenant-host.ts"

/** Number of months that are listed and kept. */
const MAX_FEEDBACK_MONTHS = 24

/** `reason` is empty in the row that counts a rating. */
const FEEDBACK_COUNT_TABLE = `CREATE TABLE IF NOT EXISTS feedback_count (
  month TEXT NOT NULL, agent TEXT NOT NULL, rating TEXT NOT NULL, reason TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (month, agent, rating, reason)) WITHOUT ROWID`

type CountRow = { month: string; agent: string; rating: string; reason: string; n: number }

export class FeedbackCounts {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  add({ agent, before, after, isCounted }: FeedbackChange): void {
    const { storage, tables } = this.#host
    if (!isCounted || this.#host.isErased()) return
    tables.create()
    storage.transactionSync(() => {
      this.#host.sql.exec(FEEDBACK_COUNT_TABLE)
      if (before !== null) this.#addRating(agent, before, -1)
      if (after !== null) this.#addRating(agent, after, 1)
    })
  }

  /** Returns the counts of the last MAX_FEEDBACK_MONTHS months with feedback, newest month first, then by agent. */
  list(): FeedbackCount[] {
    if (!this.#hasTable()) return []
    const query = `SELECT month, agent, rating, reason, n FROM feedback_count WHERE n > 0 AND month IN (
      SELECT DISTINCT month FROM feedback_count ORDER BY month DESC LIMIT ${MAX_FEEDBACK_MONTHS})
      ORDER BY month DESC, agent`
    return rowsToCounts(this.#host.sql.exec<CountRow>(query).toArray())
  }

  #hasTable(): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'feedback_count'"
    return this.#host.tables.exist() && this.#host.sql.exec(query).toArray().length > 0
  }

  /** Adds `n` to the counts of the month in which the feedback was given. */
  #addRating(agent: string, { at, rating, reason }: Feedback, n: 1 | -1): void {
    const month = at.slice(0, 7)
    for (const counted of reason === null ? [""] : ["", reason]) {
      this.#host.sql.exec(
        `INSERT INTO feedback_count (month, agent, rating, reason, n) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET n = n + excluded.n`,
        month,
        agent,
        rating,
        counted,
        n,
      )
    }
    this.#removeOldMonths()
  }

  #removeOldMonths(): void {
    this.#host.sql.exec(
      `DELETE FROM feedback_count WHERE month < (
         SELECT DISTINCT month FROM feedback_count ORDER BY month DESC LIMIT 1 OFFSET ?)`,
      MAX_FEEDBACK_MONTHS - 1,
    )
  }
}

function rowsToCounts(rows: readonly CountRow[]): FeedbackCount[] {
  const groups = Map.groupBy(rows, ({ month, agent }) => `${month} ${agent}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const countRating = (rating: string): number =>
      group.find((row) => row.rating === rating && row.reason === "")?.n ?? 0
    const reasons: Partial<Record<FeedbackReason, number>> = {}
    for (const { reason, n } of group) {
      if (reason !== "") reasons[reason as FeedbackReason] = (reasons[reason as FeedbackReason] ?? 0) + n
    }
    const { month, agent } = first
    return { agent, month, up: countRating("up"), down: countRating("down"), reasons }
  })
}
