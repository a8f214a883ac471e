/**
 * token-routes.ts: issues tokens for development and for external producers, and revokes tokens.
 */

import { Hono } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { DEV_TOKEN_SECONDS, EXTERNAL_TOKEN_SECONDS, MAX_EXTERNAL_TOKEN_SECONDS } from "../../shared/limits.ts"
import { idSchema } from "../../shared/protocol/event.ts"
import { issueToken } from "../auth/verify-token.ts"
import type { Env } from "../env.ts"
import { type Claims, getScope } from "../platform/rpc/claims.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { isLoopbackName } from "../platform/origin.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { clearCachedRevocations } from "./access/authorize.ts"
import { requireOwnSession, requireSession } from "./access/require-session.ts"

type NewToken = Pick<Claims, "tenant" | "user" | "scope" | "session">

async function issueNewToken(env: Env, claims: NewToken, seconds: number): Promise<{ token: string; expires: number }> {
  // `iat` keeps its fraction: a token issued just after a revocation must not look as if it was issued before it.
  const issued = Date.now() / 1000
  const expires = Math.floor(issued) + seconds
  const token = await issueToken({ ...claims, expires, token: nanoid(), issued }, env.JWT_SECRET ?? "")
  return { token, expires }
}

const devTokenSchema = v.object({ user: v.optional(idSchema, "you") })

/** Only with AUTH=dev, and only under a name of this machine: gives the page a token for the tenant `demo`. */
export const devTokenRoutes = new Hono<AppEnv>().post("/", async (context) => {
  const { AUTH, ENVIRONMENT } = context.env
  const isLocal = ENVIRONMENT !== "production" && isLoopbackName(new URL(context.req.url).hostname)
  if (AUTH !== "dev" || !isLocal) return faultToResponse({ reason: "route_unknown" })
  const body = await readBody(context, devTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = { tenant: "demo", user: body.value.user }
  return context.json({ ...(await issueNewToken(context.env, claims, DEV_TOKEN_SECONDS)), ...claims })
})

/** `seconds` is the lifetime of the token. */
const externalTokenSchema = v.object({
  seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_EXTERNAL_TOKEN_SECONDS)),
    EXTERNAL_TOKEN_SECONDS,
  ),
})

/** Mounted below the routes of sessions: a token for an external producer that writes into one session. */
export const externalTokenRoutes = new Hono<AppEnv>()

externalTokenRoutes.post("/:id/external-token", requireSession, requireOwnSession, async (context) => {
  const body = await readBody(context, externalTokenSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant, user } = context.get("claims")
  const claims = { tenant, user, scope: "external", session: context.req.param("id") } as const
  return context.json(await issueNewToken(context.env, claims, body.value.seconds))
})

/** Strict: a misspelt `all` must be an error, or the caller would believe that all tokens were revoked. */
const revokeSchema = v.strictObject({ all: v.optional(v.boolean(), false) })

/** A token may revoke itself. A token of scope `user` may also revoke all tokens of its user. */
export const tokenRoutes = new Hono<AppEnv>()

// Revoked tokens are admitted, so that a client can repeat a revocation whose response was lost.
tokenRoutes.post("/revoke", async (context) => {
  const body = await readBody(context, revokeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  // A token without an id can only be revoked with all others, so a limited one would lock its user out.
  if (getScope(claims) !== "user" && (body.value.all || claims.token === null)) {
    return faultToResponse({ reason: "scope_denied" })
  }
  const revoked = await directoryStub(context.env, claims).revokeTokens(claims, body.value.all)
  clearCachedRevocations(claims)
  return revoked.ok ? context.json(revoked.value) : faultToResponse(revoked.fault)
})
