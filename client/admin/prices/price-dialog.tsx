/** price-dialog.tsx: the dialogs that add, change, end and delete a price. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { PricesView, PriceView } from "../../../shared/usage/price-view.ts"
import { RequestError } from "../../net/http-request.ts"
import { adminText } from "../../words/admin-text.ts"
import { pricesText } from "../../words/usage-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { notice } from "../admin-state.ts"
import { ConfirmDialog, FormDialog } from "../confirm-dialog.tsx"
import { DateField, TextField } from "../form-fields.tsx"
import {
  fieldsToPrice,
  findPriceFlaw,
  findUnreadablePrice,
  isEqualPrice,
  isSamePrice,
  parsePrices,
  PRICES_PATH,
  type PriceFields,
  priceToFields,
} from "./price-fields.ts"

interface PriceDialogProps {
  readonly api: AdminApi
  readonly onChange: (prices: PricesView) => void
  readonly onClose: () => void
}

/** Maximum attempts to save a change while other administrators keep changing the list. */
const MAX_TRIES = 3

/**
 * Replaces the price `old` with `next`. If `old` is null, adds `next`; if `next` is null, removes `old`. Reloads the
 * list first, because another administrator may have changed it.
 */
async function replacePrice(api: AdminApi, old: PriceView | null, next: PriceView | null): Promise<PricesView> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryReplacePrice(api, old, next)
    } catch (error) {
      const isLate = error instanceof RequestError && error.code === "prices_changed"
      if (!isLate || tries === MAX_TRIES) throw error
    }
  }
}

async function tryReplacePrice(api: AdminApi, old: PriceView | null, next: PriceView | null): Promise<PricesView> {
  const { prices: stored, revision } = await api.get(PRICES_PATH, parsePrices)
  if (old !== null && !stored.some((price) => isEqualPrice(price, old))) throw new RequestError(409, pricesText.changed)
  const others = stored.filter((price) => old === null || !isSamePrice(price, old))
  const prices = next === null ? others : [...others, next]
  const flaw = next === null ? null : findPriceFlaw(prices, others.length)
  // The server would respond with status 400.
  if (flaw !== null) throw new RequestError(400, flaw)
  return await api.send("PUT", PRICES_PATH, { prices, revision }, parsePrices)
}

interface PriceFormProps extends PriceDialogProps {
  /** The price to change; null to add a price. */
  readonly price: PriceView | null
  readonly fields: PriceFields
}

export function PriceForm({ api, price, fields: first, onChange, onClose }: PriceFormProps): VNode {
  const fields = useSignal(first)
  const setField =
    (name: keyof PriceFields) =>
    (text: string): void => {
      fields.value = { ...fields.peek(), [name]: text }
    }
  const submitPrice = async (): Promise<void> => {
    const unreadable = findUnreadablePrice(fields.peek())
    if (unreadable !== null) throw new RequestError(400, unreadable)
    const next = fieldsToPrice(fields.peek())
    onChange(await replacePrice(api, price, next))
    notice.value = pricesText.saved(next.model)
  }
  const { model, provider, from, until, input, output, cached, cache_write: cacheWrite } = fields.value
  const { asInput, cachedField, cacheWriteField, inputField, modelHint, outputField, providerHint } = pricesText
  return (
    <FormDialog
      title={price === null ? pricesText.addTitle : pricesText.editTitle(price.model)}
      submit={adminText.save}
      onSubmit={submitPrice}
      onClose={onClose}
    >
      <TextField
        label={pricesText.model}
        hint={modelHint}
        value={model}
        onChange={setField("model")}
        isRequired
        isFirst={first.model === ""}
      />
      <TextField label={pricesText.provider} hint={providerHint} value={provider} onChange={setField("provider")} />
      <DateField label={pricesText.from} value={from} onChange={setField("from")} isRequired />
      <DateField label={pricesText.until} hint={pricesText.untilHint} value={until} onChange={setField("until")} />
      <TextField
        label={inputField}
        type="decimal"
        value={input}
        onChange={setField("input")}
        isRequired
        isFirst={first.model !== ""}
      />
      <TextField label={outputField} type="decimal" value={output} onChange={setField("output")} isRequired />
      <TextField label={cachedField} type="decimal" hint={asInput} value={cached} onChange={setField("cached")} />
      <TextField
        label={cacheWriteField}
        type="decimal"
        hint={asInput}
        value={cacheWrite}
        onChange={setField("cache_write")}
      />
    </FormDialog>
  )
}

interface EndPriceProps extends PriceDialogProps {
  readonly price: PriceView
  /** The current day in UTC. */
  readonly today: string
}

export function EndPriceDialog({ api, price, today, onChange, onClose }: EndPriceProps): VNode {
  const until = useSignal(price.from > today ? price.from : today)
  const submitPrice = async (): Promise<void> => {
    onChange(await replacePrice(api, price, fieldsToPrice({ ...priceToFields(price), until: until.peek() })))
    notice.value = pricesText.ended(price.model)
  }
  return (
    <FormDialog
      title={pricesText.endTitle(price.model)}
      submit={pricesText.confirmEnd}
      onSubmit={submitPrice}
      onClose={onClose}
    >
      <p>{pricesText.endText}</p>
      <DateField
        label={pricesText.until}
        value={until.value}
        onChange={(day) => (until.value = day)}
        isRequired
        isFirst
      />
    </FormDialog>
  )
}

export function RemovePriceDialog({ api, price, onChange, onClose }: PriceDialogProps & { readonly price: PriceView }) {
  return (
    <ConfirmDialog
      title={pricesText.removeTitle(price.model)}
      text={pricesText.removeText}
      confirm={pricesText.confirmRemove}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        onChange(await replacePrice(api, price, null))
        notice.value = pricesText.removed(price.model)
      }}
    />
  )
}
