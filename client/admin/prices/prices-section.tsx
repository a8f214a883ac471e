/** prices-section.tsx: the tenant's own prices and the built-in ones. Source: SPEC AD10, AD11, AD24. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { PriceView } from "../../../shared/usage/price-view.ts"
import { adminText } from "../../words/admin-text.ts"
import { formatPrice, pricesText } from "../../words/usage-text.ts"
import { type AdminContext, useLoaded } from "../admin-state.ts"
import { Detail, Pending } from "../form-fields.tsx"
import { toDays } from "../usage/usage-data.ts"
import { EndPriceDialog, PriceForm, RemovePriceDialog } from "./price-dialog.tsx"
import {
  findPriceState,
  NO_PRICE,
  parsePriceHash,
  parsePrices,
  PRICES_PATH,
  type PriceFields,
  priceToFields,
  sortPrices,
} from "./price-fields.ts"
import { UnpricedModels } from "./unpriced-models.tsx"

export { UnpricedModels } from "./unpriced-models.tsx"

type OpenDialog =
  | { readonly kind: "form"; readonly price: PriceView | null; readonly fields: PriceFields }
  | { readonly kind: "end" | "remove"; readonly price: PriceView }

export function PricesSection({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(PRICES_PATH, parsePrices))
  const dialog = useSignal<OpenDialog | null>(null)
  const today = toDays("week", Date.now()).to
  const openForm = (fields: Partial<PriceFields>, price: PriceView | null = null): void => {
    dialog.value = { kind: "form", price, fields: { ...NO_PRICE, from: today, ...fields } }
  }
  useNamedModel(({ model, provider }) => openForm({ model, provider }))
  const shared = { api, onChange: list.set, onClose: () => (dialog.value = null) }
  const own = list.value?.prices ?? []
  const open = dialog.value
  return (
    <>
      <p class="lead">{pricesText.lead}</p>
      <Pending of={list} />
      {list.value !== null && (
        <>
          <p>
            <button type="button" class="firm" onClick={() => openForm({})}>
              {pricesText.add}
            </button>
          </p>
          <UnpricedModels api={api} range="month" version={JSON.stringify(own)} />
          <section>
            <h2>{pricesText.own}</h2>
            {own.length === 0 && <p class="row-note">{pricesText.noOwn}</p>}
            <ul class="rows" aria-label={pricesText.own}>
              {sortPrices(own).map((price) => (
                <OwnPrice
                  key={`${price.provider ?? ""} ${price.model} ${price.from}`}
                  price={price}
                  state={findPriceState(price, own, today)}
                  onEdit={() => openForm(priceToFields(price), price)}
                  onEnd={() => (dialog.value = { kind: "end", price })}
                  onRemove={() => (dialog.value = { kind: "remove", price })}
                />
              ))}
            </ul>
          </section>
          <BuiltInPrices
            prices={list.value.built_in}
            onReplace={(price) => openForm({ ...priceToFields(price), from: today })}
          />
        </>
      )}
      {open?.kind === "form" && <PriceForm {...shared} price={open.price} fields={open.fields} />}
      {open?.kind === "end" && <EndPriceDialog {...shared} price={open.price} today={today} />}
      {open?.kind === "remove" && <RemovePriceDialog {...shared} price={open.price} />}
    </>
  )
}

/**
 * Calls `onNamed` with the model named in the URL hash, and removes the model from the hash, so that reloading the page
 * shows the list.
 */
function useNamedModel(onNamed: (named: Pick<PriceFields, "provider" | "model">) => void): void {
  useEffect(() => {
    const openNamedPrice = (): void => {
      const named = parsePriceHash(location.hash)
      if (named === null) return
      history.replaceState(history.state, "", "#prices")
      onNamed(named)
    }
    openNamedPrice()
    addEventListener("hashchange", openNamedPrice)
    return () => removeEventListener("hashchange", openNamedPrice)
  }, [])
}

interface OwnPriceProps {
  readonly price: PriceView
  readonly state: keyof typeof pricesText.state
  readonly onEdit: () => void
  readonly onEnd: () => void
  readonly onRemove: () => void
}

function OwnPrice({ price, state, onEdit, onEnd, onRemove }: OwnPriceProps): VNode {
  const { provider, model, from, until } = price
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{model}</bdi>
          <span class={state === "past" ? "tag warn" : "tag"}>{pricesText.state[state]}</span>
        </p>
        <p class="row-note">
          <bdi>{provider ?? pricesText.anyProvider}</bdi> · {pricesText.period(from, until)}
        </p>
        <PriceDetails price={price} />
      </div>
      <fieldset class="row-actions" aria-label={pricesText.actionsOf(model, from)}>
        <button type="button" onClick={onEdit}>
          {pricesText.edit}
        </button>
        {state !== "past" && (
          <button type="button" onClick={onEnd}>
            {pricesText.end}
          </button>
        )}
        <button type="button" class="danger-text" onClick={onRemove}>
          {adminText.remove}
        </button>
      </fieldset>
    </li>
  )
}

function PriceDetails({ price: { input, output, cached, cache_write: cacheWrite } }: { readonly price: PriceView }) {
  return (
    <dl>
      <Detail label={pricesText.input}>{formatPrice(input)}</Detail>
      <Detail label={pricesText.output}>{formatPrice(output)}</Detail>
      {cached !== null && <Detail label={pricesText.cached}>{formatPrice(cached)}</Detail>}
      {cacheWrite !== null && <Detail label={pricesText.cacheWrite}>{formatPrice(cacheWrite)}</Detail>}
    </dl>
  )
}

interface BuiltInPricesProps {
  readonly prices: readonly PriceView[]
  readonly onReplace: (price: PriceView) => void
}

function BuiltInPrices({ prices, onReplace }: BuiltInPricesProps): VNode {
  return (
    <section>
      <h2>{pricesText.builtIn}</h2>
      <p class="row-note">{pricesText.builtInLead}</p>
      <ul class="rows" aria-label={pricesText.builtIn}>
        {sortPrices(prices).map((price) => (
          <li key={`${price.provider ?? ""} ${price.model} ${price.from}`}>
            <div class="row-main">
              <p class="row-title">
                <bdi>{price.model}</bdi>
              </p>
              <p class="row-note">
                <bdi>{price.provider}</bdi> · {pricesText.period(price.from, undefined)}
              </p>
              <PriceDetails price={price} />
            </div>
            <div class="row-actions">
              <button
                type="button"
                aria-label={pricesText.replaceOf(price.model, price.from)}
                onClick={() => onReplace(price)}
              >
                {pricesText.replace}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
