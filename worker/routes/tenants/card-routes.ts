/**
 * card-routes.ts: a tenant's cards. Administrators set them; a template is checked, and filled with its samples, before
 * it is stored. Source: SPEC CV1, CV9.
 */

import * as v from "valibot"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { parseJson } from "../../../shared/json.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { hashTemplate } from "../../tool/cards/hash-template.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBodyText } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

const nameSchema = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/))

export const cardRoutes = createHono<AppEnv>()

cardRoutes.get("/", async ({ env, get, json }) => {
  return json({ cards: await tenantStub(env, get("claims").tenant).listCards() })
})

cardRoutes.get("/:name", async ({ env, get, req, json }) => {
  const card = await tenantStub(env, get("claims").tenant).getCard(req.param("name"))
  if (card === null) return faultToResponse({ reason: "card_unknown" })
  const { view, schema, samples, ...summary } = card
  const [shown = {}, ...rest] = [view, schema, samples].map((text) => parseJson(text))
  return json({ ...summary, ...(shown as object), schema: rest[0], samples: rest[1] })
})

/** With `?dry_run=1`, the template is checked but not stored. */
cardRoutes.put("/:name", async (context) => {
  const name = v.safeParse(nameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const text = await readBodyText(context)
  if (!text.ok) return faultToResponse(text.fault)
  const body = parseJson(text.value)
  if (body === undefined) return faultToResponse({ reason: "body_malformed" })
  const checked = checkTemplate(body)
  if (!checked.ok) {
    const { pointer, problem } = checked
    return faultToResponse({ reason: "card_refused", pointer, problem })
  }
  const { for: tool, title, schema, view, actions, samples } = checked.template
  const stored = { view: JSON.stringify({ title, view, actions }), schema: JSON.stringify(schema) }
  const revision = await hashTemplate(tool, stored.view, stored.schema)
  if (context.req.query("dry_run") === "1") return context.json({ name: name.output, for: tool, revision })
  const card = { name: name.output, for: tool, revision, ...stored, samples: JSON.stringify(samples) }
  const { tenant } = context.get("claims")
  const put = await tenantStub(context.env, tenant).putCard(readActor(context), card)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

cardRoutes.delete("/:name", async (context) => {
  const { tenant } = context.get("claims")
  const removed = await tenantStub(context.env, tenant).removeCard(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
