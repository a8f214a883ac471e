/**
 * cost-page.test.ts: checks that docs/cost.md shows the current cost model. `npx vitest run test/cost-page.test.ts -u`
 * updates the page.
 */

import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { expect, test } from "vitest"
import {
  OBJECT_CLASSES,
  OPERATION_COSTS,
  type Operation,
  type OperationCost,
  toAmounts,
} from "../scripts/cost/operation-costs.ts"
import {
  type BilledAmounts,
  PRICE_PER_GB_MONTH,
  PRICES_AS_OF,
  PRICES_PER_MILLION,
  priceOf,
} from "../scripts/cost/prices.ts"
import { meanDayPrice } from "../scripts/cost/simulate-day.ts"
import {
  IDLE_DAY,
  MEAN_OPERATIONS,
  RELOAD,
  SESSION_BYTES,
  SESSION_MONTH_PRICE,
  sumOperations,
} from "../scripts/cost/usage-profile.ts"
import { createTable, putTable } from "./support/doc-table.ts"

const PAGE = join(resolve(import.meta.dirname, ".."), "docs/cost.md")
const UNIT_NAMES: Readonly<Record<keyof BilledAmounts, string>> = {
  workerRequests: "requests to the Worker",
  workerCpuMs: "processor time of the Worker, in ms",
  objectRequests: "requests to objects; 20 frames count as one",
  objectGbSeconds: "GB-seconds of running objects",
  rowsRead: "rows read",
  rowsWritten: "rows written",
}

/** Formats an amount in millionths of a dollar. */
const toMicro = (price: number): string => (price * 1e6).toFixed(1)
const toDollars = (price: number): string => `$${price.toFixed(2)}`

function createOperationRow([name, cost]: [string, OperationCost]): string[] {
  const objects = OBJECT_CLASSES.map((objectClass) => {
    const one = cost[objectClass]
    return one === undefined ? "" : `${one.requests} / ${one.rowsRead} / ${one.rowsWritten}`
  })
  const price = priceOf(toAmounts(name as Operation))
  return [cost.what, `${cost.workerRequests}`, ...objects, toMicro(price)]
}

function createTotalRow(what: string, amounts: BilledAmounts): string[] {
  const { workerRequests, objectRequests, objectGbSeconds, rowsRead, rowsWritten } = amounts
  const figures = [workerRequests, objectRequests, objectGbSeconds, rowsRead, rowsWritten]
  return [what, ...figures.map((figure) => `${Number(figure.toFixed(2))}`), toMicro(priceOf(amounts))]
}

test("[CM7] docs/cost.md has the prices, operations and totals of the cost model", async () => {
  const prices = Object.entries(PRICES_PER_MILLION).map(([unit, price]) => [
    UNIT_NAMES[unit as keyof BilledAmounts],
    `$${price}`,
  ])
  const day = meanDayPrice(1_000_000)
  const tables: Readonly<Record<string, string>> = {
    prices: createTable(
      [`unit (${PRICES_AS_OF})`, "price per million"],
      [...prices, ["GB of storage per month (one GB, not a million)", `$${PRICE_PER_GB_MONTH}`]],
    ),
    operations: createTable(
      ["operation", "Worker", "session", "directory", "tenant", "10⁻⁶ $"],
      Object.entries(OPERATION_COSTS).map(createOperationRow),
    ),
    totals: createTable(
      ["", "requests to the Worker", "to objects", "GB-s", "rows read", "rows written", "10⁻⁶ $"],
      [
        createTotalRow("a turn of 4 s, not the first", toAmounts("turn")),
        createTotalRow("a reload", sumOperations(RELOAD)),
        createTotalRow("a tab left open and idle for a day", sumOperations(IDLE_DAY)),
        createTotalRow("a session of four turns, all included", sumOperations(MEAN_OPERATIONS)),
      ],
    ),
    day: createTable(
      ["one million sessions a day, with four turns each", ""],
      [
        ["one day", toDollars(day)],
        ["30 such days", toDollars(day * 30)],
        [
          `storing one day's sessions for a month (${(SESSION_BYTES.afterTurns / 1024).toFixed(0)} KiB each)`,
          toDollars(SESSION_MONTH_PRICE * 1e6),
        ],
      ],
    ),
  }
  const page = Object.entries(tables).reduce(
    (text, [name, table]) => putTable(text, name, table),
    readFileSync(PAGE, "utf8"),
  )
  await expect(page).toMatchFileSnapshot(PAGE)
})
