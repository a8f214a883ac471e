/** tenant-routes.ts: the operator's routes, which create and list tenants and give them API keys. */

import type { Context } from "hono"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { createApiKey } from "../../auth/api-key.ts"
import { clearCachedAccess } from "../../auth/tenant-access-cache.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { checkRegion, listServedRegions } from "../../platform/media-bucket.ts"
import { ROLES } from "../../platform/rpc/claims.ts"
import { registryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { TENANT_LIST_KEY } from "../../platform/rpc/registry-rpc.ts"
import { getRegion, newTenantIdSchema, tenantIdSchema } from "../../platform/tenant-id.ts"
import { readActor } from "../access/request-actor.ts"
import { cutPage } from "../cut-page.ts"
import { removeIssuer } from "./issuer-routes.ts"
import { type AppEnv, readBody, readQuery } from "../request-body.ts"
import { createNameSchema, createTenantKey, newKeySchema } from "./api-key-routes.ts"
import { createHono } from "../hono-app.ts"

/** Number of tenants per page of the list. */
const TENANT_PAGE_ROWS = 100

/** Maximum length of a tenant's name, in UTF-16 code units. */
const MAX_TENANT_NAME_CHARS = 80

const FIRST_KEY_NAME = "First key"

const newTenantSchema = v.strictObject({
  id: newTenantIdSchema,
  name: v.optional(createNameSchema(MAX_TENANT_NAME_CHARS)),
})

const listSchema = v.object({ after: v.optional(newTenantIdSchema) })

export const tenantRoutes = createHono<AppEnv>()

tenantRoutes.post("/", async (context) => {
  const body = await readBody(context, newTenantSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { id, name } = body.value
  const served = checkRegion(context.env, id)
  if (!served.ok) return faultToResponse(served.fault)
  // The id of an erased tenant remains taken, and the tenant is not listed again.
  const { status } = await tenantStub(context.env, id).getStanding()
  if (status === "erased") return faultToResponse({ reason: "tenant_taken" })
  // The tenant is listed first. If this process ends before the tenant exists, repeating the request completes it.
  await registryStub(context.env, getRegion(id), TENANT_LIST_KEY).addTenant(id)
  const { text, stored } = await createApiKey(id)
  const key = { ...stored, name: FIRST_KEY_NAME, roles: ROLES, expires: null }
  const created = await tenantStub(context.env, id).createTenant(readActor(context), { id, name }, key)
  clearCachedAccess(id)
  return created.ok
    ? context.json({ id, name: name ?? null, key: text, key_id: stored.id }, 201)
    : faultToResponse(created.fault)
})

tenantRoutes.get("/", async (context) => {
  const query = readQuery(context, listSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const lists = await Promise.all(
    [null, ...listServedRegions(context.env)].map((region) =>
      registryStub(context.env, region, TENANT_LIST_KEY).listTenants(TENANT_PAGE_ROWS + 1, query.value.after),
    ),
  )
  const { page, last } = cutPage(lists.flat().sort(), TENANT_PAGE_ROWS)
  return context.json({ tenants: page.map((id) => ({ id })), next: last ?? null })
})

/**
 * Adds an API key. Also works for a tenant that exists only because tokens name it, and for one that has lost all its
 * keys.
 */
tenantRoutes.post("/:id/keys", async (context) => {
  const id = readServedTenant(context)
  if (!id.ok) return faultToResponse(id.fault)
  const body = await readBody(context, newKeySchema)
  if (!body.ok) return faultToResponse(body.fault)
  const manager = { actor: readActor(context), role: "owner" } as const
  const created = await createTenantKey(context.env, id.value, manager, body.value)
  return created.ok ? context.json(created.value, 201) : faultToResponse(created.fault)
})

/**
 * Lists a tenant's issuers, for example to find the owner of an issuer that another tenant wants to register
 * (`issuer_taken`). Client secrets are not shown.
 */
tenantRoutes.get("/:id/issuers", async (context) => {
  const id = readServedTenant(context)
  if (!id.ok) return faultToResponse(id.fault)
  return context.json({ issuers: await tenantStub(context.env, id.value).listIssuers() })
})

/**
 * Removes an issuer that a tenant had no right to register. Ends its users' sign-ins, as when the tenant removes the
 * issuer itself.
 */
tenantRoutes.delete("/:id/issuers/:name", async (context) => {
  const id = readServedTenant(context)
  if (!id.ok) return faultToResponse(id.fault)
  const manager = { actor: readActor(context), role: "owner" } as const
  const removed = await removeIssuer(context.env, id.value, manager, context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

/** Returns the tenant named in the path. Errors: `field_invalid`, `region_unavailable`. */
function readServedTenant({ env, req }: Context<AppEnv>): Result<string> {
  const id = v.safeParse(tenantIdSchema, req.param("id"))
  if (!id.success) return fail({ reason: "field_invalid", field: "id" })
  const served = checkRegion(env, id.output)
  return served.ok ? succeed(id.output) : served
}

/** Returns the receipt for an erased tenant, whose users can no longer sign in to read it. */
tenantRoutes.get("/:id/receipt", async (context) => {
  const id = v.safeParse(tenantIdSchema, context.req.param("id"))
  const receipt = id.success ? await tenantStub(context.env, id.output).getTenantReceipt() : null
  return receipt === null ? faultToResponse({ reason: "receipt_unknown" }) : context.json(receipt)
})
