/**
 * budget-meters.tsx: shows in the user menu how much of each budget is left, or that the budgets could not be loaded.
 * Shows nothing if there are none. Source: SPEC BU13.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useId } from "preact/hooks"
import type { BudgetView, UserBudgets } from "../../shared/usage/budget-view.ts"
import { createParser, hasShape, isListOf, isNumber, isString } from "../../shared/protocol/shape-check.ts"
import { parseBody } from "../net/http-request.ts"
import { budgetText, formatAmount, formatReset } from "../words/budget-text.ts"
import { tokenResponse } from "./token-response.ts"

/** Timeout for loading the budgets, in milliseconds. */
const LOAD_TIMEOUT_MS = 15_000

const parseUserBudgets = createParser<UserBudgets>({
  budgets: isListOf(
    hasShape<Pick<BudgetView, "budget" | "scope" | "limit" | "used" | "left">>({
      budget: isString,
      scope: isString,
      limit: isNumber,
      used: isNumber,
      left: isNumber,
    }),
  ),
})

export function BudgetMeters(): VNode | null {
  const budgets = useSignal<readonly BudgetView[]>([])
  const hasFailed = useSignal(false)
  const refreshBudgets = async (): Promise<void> => {
    const loaded = await loadBudgets()
    hasFailed.value = loaded === null
    budgets.value = loaded ?? []
  }
  useEffect(() => void refreshBudgets(), [])
  if (hasFailed.value)
    return (
      <>
        <p role="status">{budgetText.failed}</p>
        <button type="button" onClick={() => void refreshBudgets()}>
          {budgetText.retry}
        </button>
      </>
    )
  // A newer server may send a budget that this page has no name for.
  const known = budgets.value.filter(({ budget }) => Object.hasOwn(budgetText.name, budget))
  if (known.length === 0) return null
  return (
    <ul class="budgets" aria-label={budgetText.title}>
      {known.map((view) => (
        <BudgetMeter key={`${view.scope} ${view.budget}`} view={view} />
      ))}
    </ul>
  )
}

function BudgetMeter({ view }: { readonly view: BudgetView }): VNode {
  const { budget, scope, limit, used, left } = view
  const id = useId()
  const isMetered = view.resets !== null
  const name = budgetText.name[budget]
  const reset = formatReset(view)
  const amount =
    left === 0 ? budgetText.usedUp : budgetText.left(formatAmount(budget, left), formatAmount(budget, limit))
  return (
    <li>
      <span id={id} dir="auto">
        {scope === "tenant" && isMetered ? budgetText.shared(name) : name}
      </span>
      <meter
        aria-labelledby={id}
        aria-valuetext={amount}
        min={0}
        max={Math.max(limit, 1)}
        high={Math.max(limit, 1) * 0.9}
        value={limit === 0 ? 1 : Math.min(used, limit)}
      />
      <small dir="auto">
        {amount}
        {reset !== null && ` · ${reset}`}
      </small>
    </li>
  )
}

/** Returns null if the budgets can't be loaded; the rest of the menu works without them. */
async function loadBudgets(): Promise<readonly BudgetView[] | null> {
  try {
    // The page reloads its session list periodically and renews the token as it does so, so the latest token is valid.
    const headers = { authorization: `Bearer ${tokenResponse.value?.token ?? ""}` }
    const response = await fetch("/v1/usage/me", { headers, signal: AbortSignal.timeout(LOAD_TIMEOUT_MS) })
    return (await parseBody(response, parseUserBudgets)).budgets
  } catch {
    return null
  }
}
