/** prices.ts: the platform's list prices, and sums of billed amounts. */

/** The date when the prices were read from Cloudflare's pricing pages for Durable Objects and Workers. */
export const PRICES_AS_OF = "2026-11-22"

/** US dollars per million units, ignoring the amounts that the paid plan includes. */
export const PRICES_PER_MILLION = {
  /** Requests to the Worker. The page's files and socket frames are free. */
  workerRequests: 0.3,
  /** Milliseconds of processor time of the Worker. */
  workerCpuMs: 0.02,
  /** Requests to objects: calls, fetches and alarms. Twenty incoming socket frames count as one. */
  objectRequests: 0.15,
  /** Gigabyte-seconds of an active object. An idle object that can hibernate costs nothing. */
  objectGbSeconds: 12.5,
  rowsRead: 0.001,
  /** Rows of tables and indexes. Setting an alarm counts as one. */
  rowsWritten: 1,
} as const

/** US dollars per month for each gigabyte of an object's database. */
export const PRICE_PER_GB_MONTH = 0.2

/** Memory that every object is billed for, whatever it uses, in gigabytes. */
export const OBJECT_GB = 0.128

export type BilledAmounts = Readonly<Record<keyof typeof PRICES_PER_MILLION, number>>

export const NOTHING: BilledAmounts = {
  workerRequests: 0,
  workerCpuMs: 0,
  objectRequests: 0,
  objectGbSeconds: 0,
  rowsRead: 0,
  rowsWritten: 0,
}

const UNITS = Object.keys(PRICES_PER_MILLION) as (keyof BilledAmounts)[]

function mapUnits(toAmount: (unit: keyof BilledAmounts) => number): BilledAmounts {
  return Object.fromEntries(UNITS.map((unit) => [unit, toAmount(unit)])) as Record<keyof BilledAmounts, number>
}

/** Returns the sum of amounts, each multiplied by a count. */
export function sumAmounts(...terms: readonly (readonly [count: number, amounts: BilledAmounts])[]): BilledAmounts {
  return mapUnits((unit) => terms.reduce((sum, [count, amounts]) => sum + count * amounts[unit], 0))
}

/** Returns the price of some amounts, in US dollars. */
export function priceOf(amounts: BilledAmounts): number {
  return UNITS.reduce((sum, unit) => sum + (amounts[unit] * PRICES_PER_MILLION[unit]) / 1e6, 0)
}
