/**
 * usage-report.ts: the reports that carry usage from a session to its user's directory, and from there to the tenant.
 *
 * A report contains the name of its sender's ledger and a number. In one transaction, the receiver adds the report and
 * stores its number. The receiver ignores a report whose number it has already stored. A report can therefore be
 * repeated after any failure and still counts once.
 */

import type { SessionLease } from "./user-account.ts"
import type { UsageEntry } from "./usage-totals.ts"

export interface UsageReport {
  /** Random, so that a session or user created again under the same id gets a different ledger. */
  readonly ledger: string
  /** The report's number in its ledger: 1, 2, 3 … */
  readonly n: number
  readonly entries: readonly UsageEntry[]
}

/** The reply of a directory to a session. */
export interface UsageReceipt {
  /** The number of the report that the directory has added, now or earlier; null if the request contained no report. */
  readonly n: number | null
  /**
   * The lease for the next turn after a report; null if no budget applies to the user. Absent if nothing has changed.
   */
  readonly lease?: SessionLease | null
}
