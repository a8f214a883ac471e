/**
 * budget-meter.ts: one metered budget: the amount spent in the current period, and the remainder. Pure.
 *
 * A meter keeps the latest time that it has seen, so a clock that runs backwards neither reopens a period nor resets
 * one.
 */

import type { BudgetFault } from "../fault.ts"
import { type BudgetLimit, METERED_BUDGETS, type MeteredBudget } from "./budget-limits.ts"
import type { UsageEntry } from "./usage-totals.ts"
import { findPeriodEnd, toPeriod } from "./period.ts"

/** The amounts used. A call whose price is unknown adds nothing to `cost`. */
export interface Spending {
  readonly tokens: number
  /** Nano-dollars (1e-9 USD). */
  readonly cost: number
}

export const NO_SPENDING: Spending = { tokens: 0, cost: 0 }

export interface Meter extends BudgetLimit<MeteredBudget> {
  /** The amount spent in the period that contains `at`. */
  readonly spent: number
  /** The latest time at which usage was added or read, in milliseconds since 1970. */
  readonly at: number
}

/** A budget that allows no further turn. */
export type BudgetRefusal = Omit<BudgetFault, "reason">

/** Converts any number to a count that can be added: a non-negative integer. */
export function toCount(value: number): number {
  if (Number.isNaN(value) || value <= 0) return 0
  return Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER)
}

/** Returns the sum of two counts, at most the largest safe integer. */
export function addCounts(one: number, other: number): number {
  return Math.min(toCount(one) + toCount(other), Number.MAX_SAFE_INTEGER)
}

export function addSpending(one: Spending, other: Spending): Spending {
  return { tokens: addCounts(one.tokens, other.tokens), cost: addCounts(one.cost, other.cost) }
}

/** Returns the sum of ledger entries. */
export function sumSpending(entries: readonly Pick<UsageEntry, "input" | "output" | "cost">[]): Spending {
  return entries.reduce(
    (sum, { input, output, cost }) => addSpending(sum, { tokens: addCounts(input, output), cost }),
    NO_SPENDING,
  )
}

/** Returns the meter at a given time. If a new period has begun, its amount spent is 0. */
export function rollMeter(meter: Meter, now: number): Meter {
  if (!(now > meter.at)) return meter
  const { period } = METERED_BUDGETS[meter.budget]
  const isSamePeriod = toPeriod(period, now) === toPeriod(period, meter.at)
  return { ...meter, at: now, spent: isSamePeriod ? meter.spent : 0 }
}

/** Returns the meter after adding usage at a given time. */
export function addToMeter(meter: Meter, use: Spending, now: number): Meter {
  const rolled = rollMeter(meter, now)
  return { ...rolled, spent: addCounts(rolled.spent, use[METERED_BUDGETS[meter.budget].unit]) }
}

/** Returns the amount that remains at a given time; never negative. */
export function readLeft(meter: Meter, now: number): number {
  const { limit, spent } = rollMeter(meter, now)
  return Math.max(limit - spent, 0)
}

/** Returns when the period of the meter ends, in milliseconds since 1970. */
export function findMeterReset(meter: Meter, now: number): number {
  return findPeriodEnd(METERED_BUDGETS[meter.budget].period, rollMeter(meter, now).at)
}

/**
 * Returns the budget that is used up; if there are several, the one that resets last. Returns null if none is used up.
 */
export function findExhausted(meters: readonly Meter[], now: number): BudgetRefusal | null {
  const refusals = meters
    .filter((meter) => readLeft(meter, now) === 0)
    .map((meter) => ({ budget: meter.budget, scope: meter.scope, resets: findMeterReset(meter, now) }))
  const [first, ...others] = refusals
  return first === undefined ? null : others.reduce((last, next) => (next.resets > last.resets ? next : last), first)
}

/** Returns whether every budget has more left than `turns` turns of this size would use. */
export function hasRoomFor(meters: readonly Meter[], turns: number, size: Spending, now: number): boolean {
  return meters.every((meter) => readLeft(meter, now) > turns * size[METERED_BUDGETS[meter.budget].unit])
}
