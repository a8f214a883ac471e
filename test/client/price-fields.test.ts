/** price-fields.test.ts: prices as people write them in a form, and as the form shows stored prices. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { fieldsToLimits, limitsToFields } from "../../client/admin/budgets/budget-fields.ts"
import {
  fieldsToPrice,
  findPriceFlaw,
  findUnreadablePrice,
  NO_PRICE,
  priceToFields,
} from "../../client/admin/prices/price-fields.ts"
import { formatDecimal, parseDecimal } from "../../client/admin/usage/decimal-text.ts"

const fieldsWith = (input: string) => ({ ...NO_PRICE, model: "m", from: "2026-01-01", input, output: "1" })

test.each([
  ["0,25", 0.25],
  ["0.25", 0.25],
  [" 3 ", 3],
  ["0,125", 0.125],
  ["1234,5", 1234.5],
  ["0.0000001", 1e-7],
])("[AD17] %j is the price %d", (text, usd) => {
  const fields = fieldsWith(text)
  expect(findUnreadablePrice(fields)).toBeNull()
  expect(fieldsToPrice(fields).input).toBe(usd)
  expect(findPriceFlaw([fieldsToPrice(fields)], 0)).toBeNull()
})

test.each([
  ["1,000", "“Input” is “1,000”. Write it without a thousands separator, for example: 1000 or 0.25."],
  ["1,000.50", "“Input” is “1,000.50”. Write it without a thousands separator, for example: 1000 or 0.25."],
  ["1.000,5", "“Input” is “1.000,5”. Write it without a thousands separator, for example: 1000 or 0.25."],
  ["free", "“Input” is “free”. It must be a number, such as 3 or 0.25."],
  ["-1", "“Input” is “-1”. It must be a number, such as 3 or 0.25."],
  ["1e-7", "“Input” is “1e-7”. It must be a number, such as 3 or 0.25."],
])("[AD17] %j is refused with an explanation", (text, flaw) => {
  expect(findUnreadablePrice(fieldsWith(text))).toBe(flaw)
})

test("[AD17] a stored price is shown with all its digits and without an exponent, so that it can be saved again", () => {
  const price = { model: "m", from: "2026-01-01", input: 1e-7, output: 1.5e-9, cached: null, cache_write: 0 }
  const fields = priceToFields(price)
  expect([fields.input, fields.output, fields.cache_write]).toEqual(["0.0000001", "0.0000000015", "0"])
  expect(fieldsToPrice(fields)).toEqual(price)
  const limits = { cost_per_day: 1 }
  expect(limitsToFields(limits).cost_per_day).toBe("0.000000001")
  expect(fieldsToLimits(limitsToFields(limits))).toEqual(limits)
  expect(fieldsToLimits({ ...limitsToFields({}), cost_per_day: "0,5" })).toEqual({ cost_per_day: 500_000_000 })
})

test("[AD17] property: every number from 0 to 100,000 is unchanged after being formatted and parsed", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100_000, noNaN: true }), (number) => {
      const text = formatDecimal(number)
      expect(text).toMatch(/^\d+(?:\.\d+)?$/)
      expect(parseDecimal(text)).toBe(number)
    }),
    { numRuns: 300 },
  )
})
