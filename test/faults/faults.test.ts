/** faults.test.ts: runs a short form of `npm run faults`, which injects seeded faults into a real workerd. */

import process from "node:process"
import { expect, test } from "vitest"
import { IS_FULL, IS_LONG } from "../support/seeded.ts"
import { playUntil } from "./series.ts"
import { tableOf, totalOf, violationLines } from "./table.ts"

/** The number of faults: fewer in `npm run check`, and fewest in `npm test`. `npm run faults` injects 1,000. */
const FAULTS = Number(process.env["FAULTS"] ?? (IS_LONG ? 200 : IS_FULL ? 60 : 12))
/** The first seed. The default is the same on every machine, so that any failure is caused by the change under test. */
const FROM = Number(process.env["FAULT_FROM"] ?? 1)

test(`[FS1] [FS2] [FS3] [FS6] [FS7] [FS8] [FS9] [FS11] [FS12] ${FAULTS} seeded faults: no message is lost or duplicated, and every turn ends`, async () => {
  const started = performance.now()
  const reports = await playUntil(FAULTS, FROM, () => {})
  const total = totalOf(reports, performance.now() - started)
  console.log(tableOf(total))
  expect(violationLines(total)).toBe("")
})
