/** usage-profile.ts: the assumed usage behind the cost model and the simulated day, and its mean cost. */

import { type Operation, toAmounts } from "./operation-costs.ts"
import { type BilledAmounts, PRICE_PER_GB_MONTH, sumAmounts } from "./prices.ts"

export const PROFILE = {
  /** Mean number of turns per session. */
  turns: 4,
  /**
   * Mean time from the end of an answer to the next question, and from the last answer until the tab closes, in
   * seconds.
   */
  thinkSeconds: 45,
  readSeconds: 90,
  /** Mean number of sessions per active user and day. */
  sessionsPerUser: 2,
  /** A page's token expires after this time, in seconds. The page opens its socket again with the next token. */
  tokenSeconds: 600,
  /** The name and role are requested from the tenant again after this time, in seconds. */
  admissionSeconds: 12 * 3_600,
  /**
   * The directory reports usage to the tenant after this many turns, at least `batchSeconds` later, and up to
   * `batchSpreadSeconds` more, evenly distributed. The month's remainder is reported after its end.
   */
  batchTurns: 8,
  batchSeconds: 900,
  batchSpreadSeconds: 3_600,
} as const

/**
 * Bytes of a session's database: empty, and after PROFILE.turns turns. The bytes were counted together with the rows.
 */
export const SESSION_BYTES = { empty: 147_456, afterTurns: 196_608 } as const

/**
 * How often each operation occurs on average in one session, including the tokens of its user. A test compares these
 * means with the simulated day, which draws each operation.
 */
export const MEAN_OPERATIONS: Readonly<Partial<Record<Operation, number>>> = {
  firstToken: 0.46,
  nextToken: 0.66,
  listSessions: 1,
  createSession: 1,
  openSocket: 1,
  renewSocket: 0.11,
  firstTurn: 1,
  turn: PROFILE.turns - 1,
  usageBatch: PROFILE.turns / PROFILE.batchTurns,
}

export function sumOperations(operations: Readonly<Partial<Record<Operation, number>>>): BilledAmounts {
  const entries = Object.entries(operations) as [Operation, number][]
  return sumAmounts(...entries.map(([operation, count]) => [count, toAmounts(operation)] as const))
}

/** The operations when the page is reloaded in a session. */
export const RELOAD: Readonly<Partial<Record<Operation, number>>> = {
  nextToken: 1,
  listSessions: 1,
  readHistory: 1,
  reopenSocket: 1,
}

/** The operations of a tab that is open for a day without being used. */
export const IDLE_DAY: Readonly<Partial<Record<Operation, number>>> = {
  firstToken: (24 * 3600) / PROFILE.admissionSeconds,
  nextToken: (24 * 3600) / PROFILE.tokenSeconds - (24 * 3600) / PROFILE.admissionSeconds,
  renewSocket: (24 * 3600) / PROFILE.tokenSeconds,
}

/** US dollars for keeping one session of the profile for a month. */
export const SESSION_MONTH_PRICE = (SESSION_BYTES.afterTurns / 1e9) * PRICE_PER_GB_MONTH
