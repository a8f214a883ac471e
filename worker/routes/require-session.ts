/**
 * require-session.ts: middleware that puts the session of the path into the context, as a stub of its object.
 */

import type { MiddlewareHandler } from "hono"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { AppEnv } from "./request-body.ts"

/**
 * Sets `session` from `:id`, in the token's tenant. Errors: `session_unknown` if it is not a valid id.
 *
 * Whether the session exists and belongs to the user is checked by its object, in the call that the route makes anyway.
 */
export const requireSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const id = context.req.param("id")
  if (!v.is(idSchema, id)) return faultToResponse({ reason: "session_unknown" })
  context.set("session", sessionStub(context.env, context.get("claims").tenant, id))
  return await next()
}

/** Behind `requireSession`: asks the object whether the session is the user's. Errors: `session_unknown`. */
export const requireOwnSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const checked = await context.get("session").checkOwner(context.get("claims"))
  return checked.ok ? await next() : faultToResponse(checked.fault)
}

/** For tokens of scope `external`: sets `session` if the token is for the session of the path. Errors: `scope_denied`. */
export const requireTokenSession: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { tenant, session } = context.get("claims")
  if (session === undefined || session !== context.req.param("id")) return faultToResponse({ reason: "scope_denied" })
  context.set("session", sessionStub(context.env, tenant, session))
  return await next()
}
