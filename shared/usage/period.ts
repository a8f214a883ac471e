/**
 * period.ts: the days and months, in UTC, by which usage is counted, and when they end. Pure: time is an argument.
 */

const DAY_MS = 24 * 60 * 60_000

/**
 * The last millisecond that belongs to a period, on 9999-12-31. A later time, or one before 1970, is treated as the
 * nearest valid time.
 */
const MAX_MS = 253_402_300_799_999

export type PeriodKind = "day" | "month"

interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** Returns the day that contains a time, as `2026-11-22`. Sorting days as text sorts them by date. */
export function toDay(ms: number): string {
  const { year, month, day } = toCivilDate(ms)
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
}

/** Returns whether a string is an existing day from 1970 on, such as `2026-01-31`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number)
  return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= countDays(year, month)
}

/** Returns the month that contains a time, as `2026-11`. */
export function toMonth(ms: number): string {
  return toDay(ms).slice(0, 7)
}

/** Returns the day or the month that contains a time, as `toDay` and `toMonth` do. */
export function toPeriod(kind: PeriodKind, ms: number): string {
  return kind === "day" ? toDay(ms) : toMonth(ms)
}

/** Returns when the period that contains a time ends and the next begins, in milliseconds since 1970. */
export function findPeriodEnd(kind: PeriodKind, ms: number): number {
  const today = Math.floor(clampTime(ms) / DAY_MS)
  if (kind === "day") return (today + 1) * DAY_MS
  const { year, month, day } = toCivilDate(ms)
  return (today - day + 1 + countDays(year, month)) * DAY_MS
}

/** Returns when the period that contains a time began, in milliseconds since 1970. */
export function findPeriodStart(kind: PeriodKind, ms: number): number {
  const today = Math.floor(clampTime(ms) / DAY_MS)
  return (kind === "day" ? today : today - toCivilDate(ms).day + 1) * DAY_MS
}

/** Returns the number of days in a month. */
function countDays(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function clampTime(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(Math.floor(ms), 0), MAX_MS) : 0
}

/**
 * Returns the Gregorian date that contains a time, by Howard Hinnant's algorithm `civil_from_days`, for days from 1970
 * on.
 */
function toCivilDate(ms: number): CivilDate {
  const shifted = Math.floor(clampTime(ms) / DAY_MS) + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  // Counted from March, so that the leap day is the last of its year.
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0")
}
