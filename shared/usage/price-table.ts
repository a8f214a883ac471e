/**
 * price-table.ts: finds the price of a model call in the tenant's own entries and the built-in ones.
 *
 * A model or a day without an entry has an unknown price; it is never guessed.
 */

import { BUILT_IN_PRICES } from "./built-in-prices.ts"
import type { PriceEntry, TokenPrices } from "./price-entry.ts"

/** The prices of a model on a day (`2026-01-31`). The tenant's own entries come first. Null: unknown. */
export function findPrice(
  call: { readonly provider: string; readonly model: string },
  ownPrices: readonly PriceEntry[],
  day: string,
): TokenPrices | null {
  return findEntry(call, ownPrices, day) ?? findEntry(call, BUILT_IN_PRICES, day)
}

/** The newest entry that is valid. The exact name of a model comes before its name without a date, a provider before none. */
function findEntry(
  { provider, model }: { readonly provider: string; readonly model: string },
  entries: readonly PriceEntry[],
  day: string,
): PriceEntry | null {
  const names = new Set([model, withoutDate(model)])
  for (const name of names) {
    const valid = entries.filter(
      (entry) =>
        entry.model === name && entry.from <= day && (entry.provider === undefined || entry.provider === provider),
    )
    const ofProvider = valid.filter((entry) => entry.provider !== undefined)
    const [first, ...others] = ofProvider.length > 0 ? ofProvider : valid
    if (first !== undefined) return others.reduce((best, entry) => (entry.from > best.from ? entry : best), first)
  }
  return null
}

/** Whether an entry can be the price of a model of this name. */
export function matchesModel(entry: PriceEntry, model: string): boolean {
  return entry.model === model || entry.model === withoutDate(model)
}

/** `gpt-5-2025-08-07` and `claude-sonnet-4-5-20250929` are dated versions of the model without the date. */
function withoutDate(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/, "")
}
