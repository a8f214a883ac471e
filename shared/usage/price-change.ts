/** price-change.ts: the schema of the body of `PUT /v1/prices`. Pure. */

import * as v from "valibot"
import { MAX_MODEL_NAME_CHARS } from "./call-usage.ts"
import { isDay } from "./period.ts"
import { type PriceEntry, type TokenPrices, usdToNano } from "./price-entry.ts"

/** A day that exists, such as `2026-01-31`. */
export const daySchema = v.pipe(v.string(), v.check(isDay))

/** Maximum number of entries that a tenant can set. */
export const MAX_PRICES = 200

/** Highest price, in USD per million tokens. */
export const MAX_PRICE_USD = 100_000

const priceSchema = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(MAX_PRICE_USD), v.transform(usdToNano))

/** A name in the form that is stored with calls: one line, trimmed, without control characters. */
const nameSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(MAX_MODEL_NAME_CHARS),
  v.check((name) => !/[\p{C}\n]|^\s|\s$/u.test(name)),
)

/** Prices in USD per million tokens. */
const tokenPrices = {
  input: priceSchema,
  output: priceSchema,
  cached: v.optional(v.nullable(priceSchema)),
  cache_write: v.optional(v.nullable(priceSchema)),
}

/** The price of one model, without the model's name and the days. */
export const modelPriceSchema = v.strictObject(tokenPrices)

const priceEntrySchema = v.pipe(
  v.strictObject({
    provider: v.optional(nameSchema),
    model: nameSchema,
    from: daySchema,
    until: v.optional(v.nullable(daySchema)),
    ...tokenPrices,
  }),
  v.forward(
    v.check(({ from, until }) => typeof until !== "string" || from <= until),
    ["until"],
  ),
)

/** The body of `PUT /v1/prices`. Strict, because a misspelt field would otherwise silently change a price. */
export const pricesSchema = v.strictObject({
  prices: v.pipe(
    v.array(priceEntrySchema),
    v.maxLength(MAX_PRICES),
    v.check((entries) => new Set(entries.map(priceKey)).size === entries.length),
  ),
  /** The revision of the list that the client has read. If it is absent, the list is replaced whatever its revision. */
  revision: v.optional(v.pipe(v.string(), v.maxLength(64))),
})

/** Returns a key for finding duplicates: two entries for the same model with the same first day would both apply. */
function priceKey({ provider, model, from }: v.InferOutput<typeof priceEntrySchema>): string {
  return JSON.stringify([provider ?? null, model, from])
}

export function toPriceEntries({ prices }: v.InferOutput<typeof pricesSchema>): PriceEntry[] {
  return prices.map(({ provider, model, from, until, ...price }) => ({
    ...(provider === undefined ? {} : { provider }),
    model,
    from,
    ...(typeof until === "string" ? { until } : {}),
    ...toTokenPrices(price),
  }))
}

function toTokenPrices({ input, output, cached, cache_write }: ModelPrice): TokenPrices {
  return {
    input,
    output,
    ...(typeof cached === "number" ? { cached } : {}),
    ...(typeof cache_write === "number" ? { cacheWrite: cache_write } : {}),
  }
}

export type ModelPrice = v.InferOutput<typeof modelPriceSchema>

/** Returns the list with this price for the model from the given day on. The model's later entries are removed. */
export function withModelPrice(
  prices: readonly PriceEntry[],
  { provider, model, from }: Required<Pick<PriceEntry, "provider" | "model" | "from">>,
  price: ModelPrice,
): PriceEntry[] {
  const isReplaced = (entry: PriceEntry): boolean =>
    entry.model === model && (entry.provider === provider || entry.provider === undefined) && entry.from >= from
  return [...prices.filter((entry) => !isReplaced(entry)), { provider, model, from, ...toTokenPrices(price) }]
}
