/** budget-change.ts: the schema of the body of `PUT /v1/budgets`. Pure. */

import * as v from "valibot"
import { isJsonObject } from "../json.ts"
import { idSchema } from "../protocol/event.ts"
import { MAX_BUDGET, MAX_USER_BUDGETS } from "./budget-limits.ts"

/** A limit is a whole number. 0 blocks everything. An absent limit means no limit. */
const limitSchema = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_BUDGET)))

export const budgetLimitsSchema = v.strictObject({
  tokens_per_day: limitSchema,
  tokens_per_month: limitSchema,
  cost_per_day: limitSchema,
  cost_per_month: limitSchema,
  concurrent_turns: limitSchema,
  sessions: limitSchema,
  stored_bytes: limitSchema,
})

/** Ids that can't have limits of their own. */
const RESERVED_NAMES: readonly string[] = ["__proto__", "constructor", "prototype"]

const subjectSchema = v.nullable(budgetLimitsSchema)

/**
 * The body of `PUT /v1/budgets`. It replaces the limits of each subject that it names; null removes a subject's limits.
 */
export const budgetChangeSchema = v.strictObject({
  tenant: v.optional(subjectSchema),
  roles: v.optional(v.record(v.picklist(["owner", "admin", "member", "viewer"]), subjectSchema)),
  users: v.optional(
    v.pipe(
      // `record` would silently drop these names.
      v.custom<Readonly<Record<string, unknown>>>(
        (users) => !isJsonObject(users) || !RESERVED_NAMES.some((name) => Object.hasOwn(users, name)),
      ),
      v.record(idSchema, subjectSchema),
      v.check((users) => Object.keys(users).length <= MAX_USER_BUDGETS),
    ),
  ),
})

export type BudgetChange = v.InferOutput<typeof budgetChangeSchema>
