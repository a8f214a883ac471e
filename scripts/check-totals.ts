/**
 * check-totals.ts: formats the last lines of `npm run check`, which say how many checks passed, failed and were
 * skipped. Pure.
 */

/** A step that can't run in this copy prints a line that begins like this. */
const NOT_CHECKED = /^Not checked: .*$/m

export interface Totals {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Returns the totals of some steps, such as `212 passed, 0 failed` or `206 passed, 0 failed, 6 skipped`. */
export function formatTotals(steps: readonly Totals[]): string {
  const sumSteps = (key: keyof Totals): number => steps.reduce((total, step) => total + step[key], 0)
  const skipped = sumSteps("skipped")
  return `${sumSteps("passed")} passed, ${sumSteps("failed")} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
}

/** Returns the reason why a successful step checked nothing; null if it did check something. */
export function findSkipReason(output: string): string | null {
  return NOT_CHECKED.exec(output)?.[0] ?? null
}
