/**
 * history-route.ts: the route that reads a page of history around a message, or after a position.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { DEFAULT_PAGE_MESSAGES, MAX_PAGE_MESSAGES } from "../../../shared/limits.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { type AppEnv, readQuery } from "../request-body.ts"
import { decimalSchema, pageToResponse } from "../session-fields.ts"

const limitSchema = v.optional(
  v.pipe(decimalSchema, v.minValue(1), v.maxValue(MAX_PAGE_MESSAGES)),
  String(DEFAULT_PAGE_MESSAGES),
)

/** Takes either `around`, the id of a message, or `after`, the `next` value of another page. */
const windowSchema = v.union([
  v.object({ around: idSchema, after: v.optional(v.never()), limit: limitSchema }),
  v.object({ after: decimalSchema, around: v.optional(v.never()), limit: limitSchema }),
])

/** `GET /v1/sessions/:id/conversation`. */
export async function readWindow(context: Context<AppEnv>): Promise<Response> {
  const query = readQuery(context, windowSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { limit, around, after } = query.value
  const pageQuery = around === undefined ? { limit, after: after ?? 0 } : { limit, around }
  const page = await context.get("session").readHistoryPage(context.get("claims"), pageQuery)
  return page.ok ? pageToResponse(page.value) : faultToResponse(page.fault)
}
