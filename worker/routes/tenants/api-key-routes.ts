/** api-key-routes.ts: lists, creates, rotates and revokes a tenant's API keys. A key's secret is shown only once. */

import type { Administrator } from "../../platform/rpc/actor.ts"
import * as v from "valibot"
import type { Result } from "../../../shared/fault.ts"
import { createApiKey } from "../../auth/api-key.ts"
import { clearCachedKey } from "../../auth/tenant-access-cache.ts"
import type { Env } from "../../env.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { ROLES } from "../../platform/rpc/claims.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { ApiKeyInfo, NewApiKey } from "../../settings/tenant-access.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

const DAY_SECONDS = 24 * 60 * 60

/** Maximum length of a key's name, in UTF-16 code units. */
const MAX_KEY_NAME_CHARS = 80

/** Maximum lifetime of a key that expires, in seconds: ten years. */
const MAX_KEY_SECONDS = 3650 * DAY_SECONDS

/**
 * How long the old key still works after a rotation, in seconds. The default is a day, so that all services can be
 * updated.
 */
const ROTATION_SECONDS = DAY_SECONDS
const MAX_ROTATION_SECONDS = 30 * DAY_SECONDS

/**
 * Creates the schema for a name: one line without control characters, because names are shown in lists and stored in
 * the audit log.
 */
export function createNameSchema(maxChars: number) {
  return v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(maxChars), v.regex(/^[^\p{Cc}\p{Cf}]*$/u))
}

/** Strict, because a misspelt `ttl` or `roles` would make a key more powerful than intended. */
export const newKeySchema = v.strictObject({
  name: createNameSchema(MAX_KEY_NAME_CHARS),
  roles: v.optional(v.pipe(v.array(v.picklist(ROLES)), v.minLength(1), v.maxLength(ROLES.length)), ["member"]),
  /** Lifetime in seconds; if absent, the key does not expire. */
  ttl: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_KEY_SECONDS))),
})

const rotationSchema = v.strictObject({
  grace_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_ROTATION_SECONDS)),
    ROTATION_SECONDS,
  ),
})

/** A new key with its secret text, which is shown to its creator only once. */
export type CreatedKey = ApiKeyInfo & { readonly key: string }

/** Adds a key to a tenant. Errors: those of `TenantRpc.addKey`. */
export async function createTenantKey(
  env: Env,
  tenant: string,
  manager: Administrator,
  { name, roles, ttl }: v.InferOutput<typeof newKeySchema>,
): Promise<Result<CreatedKey>> {
  const { text, stored } = await createApiKey(tenant)
  const expires = ttl === undefined ? null : Date.now() + ttl * 1000
  // The roles are stored in the order of ROLES, without duplicates.
  const key: NewApiKey = { ...stored, name, expires, roles: ROLES.filter((role) => roles.includes(role)) }
  const added = await tenantStub(env, tenant).addKey(manager, key)
  return added.ok ? { ok: true, value: { ...added.value, key: text } } : added
}

export const apiKeyRoutes = createHono<AppEnv>()

apiKeyRoutes.get("/", async (context) => {
  const keys = await tenantStub(context.env, context.get("claims").tenant).listKeys()
  return context.json({ keys })
})

apiKeyRoutes.post("/", async (context) => {
  const body = await readBody(context, newKeySchema)
  if (!body.ok) return faultToResponse(body.fault)
  const created = await createTenantKey(
    context.env,
    context.get("claims").tenant,
    readAdministrator(context),
    body.value,
  )
  return created.ok ? context.json(created.value, 201) : faultToResponse(created.fault)
})

apiKeyRoutes.delete("/:id", async (context) => {
  const { tenant } = context.get("claims")
  const id = context.req.param("id")
  const removed = await tenantStub(context.env, tenant).removeKey(readAdministrator(context), id)
  clearCachedKey(tenant, id)
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

apiKeyRoutes.post("/:id/rotate", async (context) => {
  const body = await readBody(context, rotationSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant } = context.get("claims")
  const id = context.req.param("id")
  const { text, stored } = await createApiKey(tenant)
  const graceMs = body.value.grace_seconds * 1000
  const rotated = await tenantStub(context.env, tenant).rotateKey(readAdministrator(context), id, stored, graceMs)
  clearCachedKey(tenant, id)
  return rotated.ok ? context.json({ ...rotated.value, key: text }, 201) : faultToResponse(rotated.fault)
})
