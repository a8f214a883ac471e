/** unpriced-models.tsx: the models that were used without a price, each with a link to the form that sets its price. */

import type { VNode } from "preact"
import { BUILT_IN_PRICES } from "../../../shared/usage/built-in-prices.ts"
import { findPrice } from "../../../shared/usage/price-table.ts"
import type { UsageRowView } from "../../../shared/usage/usage-view.ts"
import { pricesText, usageText } from "../../words/usage-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { useLoaded } from "../admin-state.ts"
import { Pending } from "../form-fields.tsx"
import { parseUsage, type Range, toDays } from "../usage/usage-data.ts"
import { parsePrices, priceHash, PRICES_PATH, viewsToEntries } from "./price-fields.ts"

/** Maximum number of pages to search; each has at most about a hundred models. */
const MAX_PAGES = 10

export interface UnpricedModelsProps {
  readonly api: AdminApi
  readonly range: Range
  /** When this value changes, the list is reloaded. */
  readonly version?: string
}

interface UnpricedModel extends Pick<UsageRowView, "unpriced_calls"> {
  readonly provider: string | undefined
  readonly model: string
}

export function UnpricedModels({ api, range, version = "" }: UnpricedModelsProps): VNode | null {
  const list = useLoaded(() => findUnpriced(api, range), `${range} ${version}`)
  const models = list.value
  if (models === null && list.fault !== null) return <Pending of={list} />
  if (models === null || models.length === 0) return null
  return (
    <section class="unpriced">
      <h2>{pricesText.unpriced}</h2>
      <p class="row-note">{pricesText.unpricedLead(usageText.ranges[range].toLowerCase())}</p>
      <ul class="rows" aria-label={pricesText.unpriced}>
        {models.map(({ provider, model, unpriced_calls: calls }) => (
          <li key={`${provider ?? ""} ${model}`}>
            <div class="row-main">
              <p class="row-title">
                <bdi>{model}</bdi>
              </p>
              <p class="row-note">
                <bdi>{provider}</bdi> · {usageText.unpriced(calls)}
              </p>
            </div>
            <a class="firm" href={priceHash(provider, model)} aria-label={pricesText.setPriceOf(model)}>
              {pricesText.setPrice}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/**
 * Finds the models that were used without a price. A model that has a price is left out: if its calls have no cost, the
 * provider reported no tokens.
 */
async function findUnpriced(api: AdminApi, range: Range): Promise<readonly UnpricedModel[]> {
  const own = viewsToEntries((await api.get(PRICES_PATH, parsePrices)).prices)
  const days = toDays(range, Date.now())
  const found: UnpricedModel[] = []
  let after: string | null = null
  for (let i = 0; i < MAX_PAGES; i++) {
    const query = new URLSearchParams({ ...days, by: "model", ...(after === null ? {} : { after }) })
    const page = await api.get(`/v1/usage?${query.toString()}`, parseUsage)
    for (const { provider, model, unpriced_calls } of page.rows) {
      if (model === undefined || unpriced_calls === 0) continue
      if (findPrice({ provider: provider ?? "", model }, [own, BUILT_IN_PRICES], days.to) === null)
        found.push({ provider, model, unpriced_calls })
    }
    after = page.next
    if (after === null) break
  }
  return found
}
