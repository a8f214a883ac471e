/** budget-fields.ts: converts the limits of a budget to form fields and back, in the units that people use. Pure. */

import type { BudgetName } from "../../../shared/fault.ts"
import { BUDGET_NAMES, type BudgetLimits, type BudgetTable, MAX_BUDGET } from "../../../shared/usage/budget-limits.ts"
import { createParser, hasShape, isNumber, isOptional } from "../../../shared/protocol/shape-check.ts"
import { isJsonObject } from "../../../shared/json.ts"
import { formatDecimal, parseDecimal } from "../usage/decimal-text.ts"
import { BYTES_PER_MEGABYTE, NANO_PER_DOLLAR } from "../../words/budget-text.ts"

export type BudgetFields = Readonly<Record<BudgetName, string>>

const isLimits = hasShape<BudgetLimits>(
  Object.fromEntries(BUDGET_NAMES.map((name) => [name, isOptional(isNumber)])) as Record<
    BudgetName,
    ReturnType<typeof isOptional>
  >,
)

const isLimitsBySubject = (value: unknown): boolean => isJsonObject(value) && Object.values(value).every(isLimits)

export const parseBudgetTable = createParser<BudgetTable>({
  tenant: isLimits,
  roles: isLimitsBySubject,
  users: isLimitsBySubject,
})

export function limitsToFields(limits: BudgetLimits): BudgetFields {
  const toField = (name: BudgetName): string => {
    const limit = limits[name]
    return limit === undefined ? "" : formatDecimal(limit / unitOf(name))
  }
  return Object.fromEntries(BUDGET_NAMES.map((name) => [name, toField(name)])) as Record<BudgetName, string>
}

/** Returns the limits, or the name of the first field that isn't a valid limit. */
export function fieldsToLimits(fields: BudgetFields): BudgetLimits | { readonly bad: BudgetName } {
  const limits: Partial<Record<BudgetName, number>> = {}
  for (const name of BUDGET_NAMES) {
    const text = fields[name]
    if (text.trim() === "") continue
    const limit = Math.round(parseDecimal(text) * unitOf(name))
    if (!(limit <= MAX_BUDGET)) return { bad: name }
    limits[name] = limit
  }
  return limits
}

function unitOf(name: BudgetName): number {
  if (name === "cost_per_day" || name === "cost_per_month") return NANO_PER_DOLLAR
  return name === "stored_bytes" ? BYTES_PER_MEGABYTE : 1
}
