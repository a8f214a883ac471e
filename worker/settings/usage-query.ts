/** usage-query.ts: the query of `GET /v1/usage` and the body of `PUT /v1/prices`. Pure. */

import * as v from "valibot"
import { MAX_MODEL_NAME_CHARS } from "../../shared/usage/call-usage.ts"
import { type PriceEntry, usdToNano } from "../../shared/usage/price-entry.ts"
import { USAGE_GROUPS } from "../../shared/usage/usage-page.ts"
import { toDay } from "../../shared/usage/period.ts"

/** Longest range, in days: a leap year. Each day can have a row per model, agent and user. */
export const MAX_USAGE_DAYS = 366

/** Longest cursor: the names of a provider and a model as JSON. */
const MAX_CURSOR_CHARS = 4 * MAX_MODEL_NAME_CHARS

const MS_PER_DAY = 86_400_000

/** A day that exists, as `2026-01-31`. */
const daySchema = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/),
  v.check((day) => !Number.isNaN(Date.parse(day)) && toDay(Date.parse(day)) === day),
)

export const usageQuerySchema = v.pipe(
  v.object({
    from: daySchema,
    to: daySchema,
    by: v.optional(v.picklist(USAGE_GROUPS), "day"),
    after: v.optional(v.pipe(v.string(), v.maxLength(MAX_CURSOR_CHARS))),
    format: v.optional(v.picklist(["json", "csv"])),
  }),
  v.forward(
    v.check(({ from, to }) => from <= to && Date.parse(to) - Date.parse(from) < MAX_USAGE_DAYS * MS_PER_DAY),
    ["to"],
  ),
)

/** Most entries that a tenant can set. */
export const MAX_PRICES = 200

/** Highest price, in USD per million tokens. */
const MAX_PRICE_USD = 100_000

const priceSchema = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(MAX_PRICE_USD), v.transform(usdToNano))

/** A name as it is stored with calls: one line, trimmed, without control characters. */
const nameSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(MAX_MODEL_NAME_CHARS),
  v.check((name) => !/[\p{C}\n]|^\s|\s$/u.test(name)),
)

const priceEntrySchema = v.strictObject({
  provider: v.optional(nameSchema),
  model: nameSchema,
  from: daySchema,
  /** USD per million tokens. */
  input: priceSchema,
  output: priceSchema,
  cached: v.optional(v.nullable(priceSchema)),
  cache_write: v.optional(v.nullable(priceSchema)),
})

/** The body of `PUT /v1/prices`. Strict: a misspelt field must be an error, or its price would silently be another. */
export const pricesSchema = v.strictObject({
  prices: v.pipe(
    v.array(priceEntrySchema),
    v.maxLength(MAX_PRICES),
    v.check((entries) => new Set(entries.map(priceKey)).size === entries.length),
  ),
})

/** Two entries of one model with the same first day would both be valid. */
function priceKey({ provider, model, from }: v.InferOutput<typeof priceEntrySchema>): string {
  return JSON.stringify([provider ?? null, model, from])
}

export function toPriceEntries({ prices }: v.InferOutput<typeof pricesSchema>): PriceEntry[] {
  return prices.map(({ provider, model, from, input, output, cached, cache_write }) => ({
    ...(provider === undefined ? {} : { provider }),
    model,
    from,
    input,
    output,
    ...(typeof cached === "number" ? { cached } : {}),
    ...(typeof cache_write === "number" ? { cacheWrite: cache_write } : {}),
  }))
}
