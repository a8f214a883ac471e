/** price-fields.ts: converts prices to form fields and back, and checks them with the server's schema. Pure. */

import * as v from "valibot"
import { MAX_PRICES, pricesSchema, toPriceEntries } from "../../../shared/usage/price-change.ts"
import type { PriceEntry } from "../../../shared/usage/price-entry.ts"
import type { PricesView, PriceView } from "../../../shared/usage/price-view.ts"
import {
  createParser,
  hasShape,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../../shared/protocol/shape-check.ts"
import { pricesText } from "../../words/usage-text.ts"
import { isNullOr } from "../admin-responses.ts"
import { formatDecimal, hasSeparator, parseDecimal } from "../usage/decimal-text.ts"

export const PRICES_PATH = "/v1/prices"

const isPriceList = isListOf(
  hasShape<PriceView>({
    provider: isOptional(isString),
    model: isString,
    from: isString,
    until: isOptional(isString),
    input: isNumber,
    output: isNumber,
    cached: isNullOr(isNumber),
    cache_write: isNullOr(isNumber),
  }),
)

export const parsePrices = createParser<PricesView>({
  prices: isPriceList,
  built_in: isPriceList,
  revision: isOptional(isString),
})

/**
 * The form's fields. An empty `provider` means any provider, an empty `until` means no end date, and an empty cache
 * price means that the input price applies.
 */
export type PriceFields = Readonly<
  Record<"provider" | "model" | "from" | "until" | "input" | "output" | "cached" | "cache_write", string>
>

export const NO_PRICE: PriceFields = {
  provider: "",
  model: "",
  from: "",
  until: "",
  input: "",
  output: "",
  cached: "",
  cache_write: "",
}

export function priceToFields(price: PriceView): PriceFields {
  const toText = (usd: number | null): string => (usd === null ? "" : formatDecimal(usd))
  return {
    provider: price.provider ?? "",
    model: price.model,
    from: price.from,
    until: price.until ?? "",
    input: toText(price.input),
    output: toText(price.output),
    cached: toText(price.cached),
    cache_write: toText(price.cache_write),
  }
}

/** A price that isn't a number becomes NaN, which the schema rejects. */
export function fieldsToPrice(fields: PriceFields): PriceView {
  const { provider, model, from, until } = fields
  const toOptional = (text: string): number | null => (text.trim() === "" ? null : parseDecimal(text))
  return {
    ...(provider.trim() === "" ? {} : { provider: provider.trim() }),
    model: model.trim(),
    from,
    ...(until === "" ? {} : { until }),
    input: parseDecimal(fields.input),
    output: parseDecimal(fields.output),
    cached: toOptional(fields.cached),
    cache_write: toOptional(fields.cache_write),
  }
}

const PRICE_LABELS = {
  input: pricesText.input,
  output: pricesText.output,
  cached: pricesText.cached,
  cache_write: pricesText.cacheWrite,
} as const

/** The names of the fields that contain a price. */
type PriceName = keyof typeof PRICE_LABELS

/** Says which price isn't a valid number, and how to write it. Returns null if all prices are valid numbers. */
export function findUnreadablePrice(fields: PriceFields): string | null {
  for (const name of Object.keys(PRICE_LABELS) as PriceName[]) {
    const text = fields[name].trim()
    if (text === "" || !Number.isNaN(parseDecimal(text))) continue
    const { separator, number } = pricesText.invalid
    return (hasSeparator(text) ? separator : number)(PRICE_LABELS[name], text)
  }
  return null
}

/**
 * Whether two prices are the same entry in the list. Each model of a provider may have only one price per start date.
 */
export function isSamePrice(a: PriceView, b: PriceView): boolean {
  return a.provider === b.provider && a.model === b.model && a.from === b.from
}

/** Whether all fields of two prices are equal. */
export function isEqualPrice(a: PriceView, b: PriceView): boolean {
  return JSON.stringify(priceToFields(a)) === JSON.stringify(priceToFields(b))
}

/** Says why the server would refuse the list; null if it would accept it. `at` is the index of the changed price. */
export function findPriceFlaw(prices: readonly PriceView[], at: number): string | null {
  const parsed = v.safeParse(pricesSchema, { prices })
  if (parsed.success) return null
  const ofPrice = parsed.issues.find(({ path }) => path?.[1]?.key === at)
  if (ofPrice !== undefined) return describeField(String(ofPrice.path?.[2]?.key))
  return prices.length > MAX_PRICES ? pricesText.invalid.full(MAX_PRICES) : pricesText.invalid.twice
}

function describeField(field: string): string {
  const { invalid } = pricesText
  if (field === "provider" || field === "model" || field === "from" || field === "until") return invalid[field]
  return invalid.price(PRICE_LABELS[field as PriceName])
}

/**
 * Converts prices to the entries that the server uses to compute costs. Returns an empty list if a price isn't valid.
 */
export function viewsToEntries(prices: readonly PriceView[]): readonly PriceEntry[] {
  const parsed = v.safeParse(pricesSchema, { prices })
  return parsed.success ? toPriceEntries(parsed.output) : []
}

/**
 * Returns whether a price is past, current or future on the given day. A price ends after its last day, or when a later
 * price for the same model begins.
 */
export function findPriceState(
  price: PriceView,
  prices: readonly PriceView[],
  day: string,
): keyof typeof pricesText.state {
  if (price.from > day) return "future"
  const isReplaced = prices.some(
    ({ provider, model, from }) =>
      provider === price.provider && model === price.model && from > price.from && from <= day,
  )
  return isReplaced || (price.until !== undefined && price.until < day) ? "past" : "current"
}

/** Sorts prices by model and provider, then newest first. */
export function sortPrices(prices: readonly PriceView[]): readonly PriceView[] {
  const nameOf = ({ provider = "", model }: PriceView): string => `${model}\n${provider}`
  return [...prices].sort((a, b) => nameOf(a).localeCompare(nameOf(b)) || (a.from < b.from ? 1 : -1))
}

/** Returns the URL hash that opens the form for a model. */
export function priceHash(provider: string | undefined, model: string): string {
  const query = new URLSearchParams({ ...(provider === undefined ? {} : { provider }), model })
  return `#prices?${query.toString()}`
}

/** Returns the model named in the URL hash, or null if there is none. */
export function parsePriceHash(hash: string): Pick<PriceFields, "provider" | "model"> | null {
  if (!hash.startsWith("#prices?")) return null
  const query = new URLSearchParams(hash.slice(hash.indexOf("?")))
  const model = query.get("model")
  return model === null ? null : { model, provider: query.get("provider") ?? "" }
}
