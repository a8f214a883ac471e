/**
 * price-table.ts: finds the price of a model call in price lists.
 *
 * A model or a day without an entry has an unknown price; it is never guessed.
 */

import type { PriceEntry, TokenPrices } from "./price-entry.ts"

/** Price lists in order of precedence, for example the tenant's own prices and the built-in ones. */
export type PriceLists = readonly (readonly PriceEntry[])[]

/** Returns the prices of a model on a day (`2026-01-31`), from the first list that contains them. Null if unknown. */
export function findPrice(
  call: { readonly provider: string; readonly model: string },
  lists: PriceLists,
  day: string,
): TokenPrices | null {
  for (const entries of lists) {
    const found = findEntry(call, entries, day)
    if (found !== null) return found
  }
  return null
}

/**
 * Finds the entry that applies. A model's exact name takes precedence over its name without a date, and an entry with a
 * provider over one without.
 */
function findEntry(
  { provider, model }: { readonly provider: string; readonly model: string },
  entries: readonly PriceEntry[],
  day: string,
): PriceEntry | null {
  const names = new Set([model, withoutDate(model)])
  for (const name of names) {
    const begun = entries.filter((entry) => entry.model === name && entry.from <= day)
    const found = findNewest(begun, provider, day) ?? findNewest(begun, undefined, day)
    if (found !== null) return found
  }
  return null
}

/** Returns the provider's newest entry; null if that entry has ended. Earlier entries ended when it began. */
function findNewest(entries: readonly PriceEntry[], provider: string | undefined, day: string): PriceEntry | null {
  const [first, ...others] = entries.filter((entry) => entry.provider === provider)
  if (first === undefined) return null
  const newest = others.reduce((best, entry) => (entry.from > best.from ? entry : best), first)
  return newest.until !== undefined && newest.until < day ? null : newest
}

/** Returns whether an entry can be the price of a model with this name. */
export function matchesModel(entry: PriceEntry, model: string): boolean {
  return entry.model === model || entry.model === withoutDate(model)
}

/** Removes the date from the name of a dated version, such as `gpt-5-2025-08-07` or `claude-sonnet-4-5-20250929`. */
function withoutDate(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/, "")
}
