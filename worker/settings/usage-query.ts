/** usage-query.ts: the query of `GET /v1/usage`. Pure. */

import * as v from "valibot"
import { MAX_MODEL_NAME_CHARS } from "../../shared/usage/call-usage.ts"
import { daySchema } from "../../shared/usage/price-change.ts"
import { USAGE_GROUPS } from "../../shared/usage/usage-page.ts"

/**
 * Maximum length of a range, in days: a leap year. The range is limited because each day can have a row per model,
 * agent and user.
 */
export const MAX_USAGE_DAYS = 366

/** Maximum length of a cursor, in characters. A cursor contains the names of a provider and a model as JSON. */
const MAX_CURSOR_CHARS = 4 * MAX_MODEL_NAME_CHARS

const MS_PER_DAY = 86_400_000

export const usageQuerySchema = v.pipe(
  v.object({
    from: daySchema,
    to: daySchema,
    by: v.optional(v.picklist(USAGE_GROUPS), "day"),
    after: v.optional(v.pipe(v.string(), v.maxLength(MAX_CURSOR_CHARS))),
    format: v.optional(v.picklist(["json", "csv"])),
  }),
  v.forward(
    v.check(({ from, to }) => from <= to && Date.parse(to) - Date.parse(from) < MAX_USAGE_DAYS * MS_PER_DAY),
    ["to"],
  ),
)
