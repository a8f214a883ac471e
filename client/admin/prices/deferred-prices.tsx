/** deferred-prices.tsx: loads the prices section, with its schema and tables, when it is needed. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { deferModule } from "../../ui/deferred-module.ts"
import { errorText } from "../../words/page-text.ts"
import type { AdminContext } from "../admin-state.ts"
import { Pending } from "../form-fields.tsx"
import type { UnpricedModelsProps } from "./unpriced-models.tsx"

const prices = deferModule(() => import("./prices-section.tsx"))

/** Loads the code for the prices section. `fault` is the error message if that failed; otherwise null. */
function usePrices(): { readonly fault: string | null; readonly reload: () => Promise<void> } {
  const fault = useSignal<string | null>(null)
  const reloadPrices = async (): Promise<void> => {
    fault.value = null
    if (!(await prices.load())) fault.value = errorText.unreachable
  }
  useEffect(() => void reloadPrices(), [])
  return { fault: fault.value, reload: reloadPrices }
}

export function DeferredPrices(props: AdminContext): VNode {
  const { fault, reload } = usePrices()
  const code = prices.module.value
  return code === null ? <Pending of={{ value: null, fault, reload }} /> : <code.PricesSection {...props} />
}

export function DeferredUnpricedModels(props: UnpricedModelsProps): VNode | null {
  usePrices()
  const code = prices.module.value
  return code === null ? null : <code.UnpricedModels {...props} />
}
