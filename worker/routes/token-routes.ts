/**
 * token-routes.ts: issues tokens for the users of a tenant, for development and for external producers, and revokes
 * tokens.
 */

import * as v from "valibot"
import {
  DEV_TOKEN_SECONDS,
  EXTERNAL_TOKEN_SECONDS,
  MAX_EXTERNAL_TOKEN_SECONDS,
  MAX_USER_TOKEN_SECONDS,
  USER_TOKEN_SECONDS,
} from "../../shared/limits.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import { issueNewToken } from "../auth/new-token.ts"
import { getPageTenant } from "../env.ts"
import { getScope, ROLES } from "../platform/rpc/claims.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { isLoopbackName } from "../platform/origin.ts"
import { directoryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { userNameSchema } from "../settings/user-change.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { clearCachedRevocations } from "./access/authorize.ts"
import { readActor } from "./access/request-actor.ts"
import { requireOwnSession, requireSession } from "./access/require-session.ts"
import { createHono } from "./hono-app.ts"

const devTokenSchema = v.object({ user: v.optional(idSchema, "you"), role: v.optional(v.picklist(ROLES)) })

/**
 * Issues a token to the page for its tenant, by default `demo`. Only available with AUTH=dev and at a local host name.
 */
export const devTokenRoutes = createHono<AppEnv>().post("/", async (context) => {
  const { AUTH, ENVIRONMENT } = context.env
  const url = new URL(context.req.url)
  const isLocal = ENVIRONMENT !== "production" && isLoopbackName(url.hostname)
  if (AUTH !== "dev" || !isLocal) return faultToResponse({ reason: "route_unknown" })
  const body = await readBody(context, devTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = { tenant: getPageTenant(context.env, url) ?? "demo", ...body.value }
  return context.json({ ...(await issueNewToken(context.env, claims, DEV_TOKEN_SECONDS, Date.now())), ...claims })
})

/** Strict, because with a misspelt `role` or `ttl` the token would grant more than intended. */
const userTokenSchema = v.strictObject({
  user: idSchema,
  name: v.optional(userNameSchema),
  role: v.optional(v.picklist(ROLES)),
  /** Lifetime in seconds. */
  ttl: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_USER_TOKEN_SECONDS)),
    USER_TOKEN_SECONDS,
  ),
})

/** `seconds` is the lifetime of the token. */
const externalTokenSchema = v.object({
  seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_EXTERNAL_TOKEN_SECONDS)),
    EXTERNAL_TOKEN_SECONDS,
  ),
})

/** Issues a token for an external producer that writes into one session. Mounted below the routes of sessions. */
export const externalTokenRoutes = createHono<AppEnv>()

externalTokenRoutes.post("/:id/external-token", requireSession, requireOwnSession, async (context) => {
  const body = await readBody(context, externalTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant, user, issued } = context.get("claims")
  // A revocation that covers the request's token also covers the new token, unless it names only the request's token.
  const claims = { tenant, user, scope: "external", session: context.req.param("id") } as const
  return context.json(await issueNewToken(context.env, claims, body.value.seconds, issued * 1000))
})

/** Strict, because with a misspelt `all` the caller would believe that all tokens were revoked. */
const revokeSchema = v.strictObject({ all: v.optional(v.boolean(), false) })

/** A token may revoke itself. A token of scope `user` may also revoke all tokens of its user. */
export const tokenRoutes = createHono<AppEnv>()

/** Issues a token for a user of the API key's tenant. Registers the user on first contact. */
tokenRoutes.post("/", async (context) => {
  const body = await readBody(context, userTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { user, name, role, ttl } = body.value
  const { tenant } = context.get("claims")
  const newUser = { id: user, name: name ?? undefined, role }
  const asOf = Date.now()
  const granted = await tenantStub(context.env, tenant).admitTokenUser(readActor(context), newUser)
  if (!granted.ok) return faultToResponse(granted.fault)
  return context.json(await issueNewToken(context.env, { tenant, user, role: granted.value }, ttl, asOf))
})

// Revoked tokens are admitted, so that a client can retry a revocation whose response was lost.
tokenRoutes.post("/revoke", async (context) => {
  const body = await readBody(context, revokeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  // A token without an id can only be revoked together with all others, so revoking a limited one would lock its user
  // out.
  if (getScope(claims) !== "user" && (body.value.all || claims.token === null)) {
    return faultToResponse({ reason: "scope_denied" })
  }
  const revoked = await directoryStub(context.env, claims).revokeTokens(claims, body.value.all)
  clearCachedRevocations(claims)
  return revoked.ok ? context.json(revoked.value) : faultToResponse(revoked.fault)
})
