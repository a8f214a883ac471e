/** budget-period.test.ts: tests days and months in UTC by comparing them with the platform's dates. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { findPeriodEnd, toDay, toMonth } from "../../shared/usage/period.ts"
import { assertProperty } from "../support/seeded.ts"

const instant = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })

test("[BU1] the day and the month of an instant are those of its UTC date", () => {
  assertProperty(
    fc.property(instant, (ms) => {
      const iso = new Date(ms).toISOString()
      expect([toDay(ms), toMonth(ms)]).toEqual([iso.slice(0, 10), iso.slice(0, 7)])
    }),
  )
})

test("[BU1] a period ends at the first instant of the next one, at 00:00 UTC", () => {
  assertProperty(
    fc.property(instant, fc.constantFrom("day" as const, "month" as const), (ms, kind) => {
      const end = findPeriodEnd(kind, ms)
      const length = kind === "day" ? 10 : 7
      const periodOf = (at: number): string => new Date(at).toISOString().slice(0, length)
      expect(end).toBeGreaterThan(ms)
      expect(periodOf(end - 1)).toBe(periodOf(ms))
      if (end < Date.UTC(9999, 11, 31)) expect(periodOf(end)).not.toBe(periodOf(ms))
    }),
  )
})

test.each([
  [Date.UTC(2028, 1, 28, 23, 59, 59, 999), "2028-02-28", Date.UTC(2028, 1, 29), Date.UTC(2028, 2, 1)],
  [Date.UTC(2028, 1, 29), "2028-02-29", Date.UTC(2028, 2, 1), Date.UTC(2028, 2, 1)],
  [Date.UTC(2026, 11, 31, 12), "2026-12-31", Date.UTC(2027, 0, 1), Date.UTC(2027, 0, 1)],
  [-1, "1970-01-01", Date.UTC(1970, 0, 2), Date.UTC(1970, 1, 1)],
  [Number.NaN, "1970-01-01", Date.UTC(1970, 0, 2), Date.UTC(1970, 1, 1)],
])("[BU1] the day of %s, and the ends of its day and month", (ms, day, dayEnd, monthEnd) => {
  expect([toDay(ms), findPeriodEnd("day", ms), findPeriodEnd("month", ms)]).toEqual([day, dayEnd, monthEnd])
})
