/** tokens.ts: whoever holds a token may revoke it, or, if it is the user's own, all of that user. */

import { Hono } from "hono"
import * as v from "valibot"
import { getDirectoryStub } from "../auth/user-directory.ts"
import { getScope } from "../auth/verify-token.ts"
import { type AppEnv, faultToResponse, readBody } from "../platform/fault-response.ts"
import { clearCachedRevocations, requireToken } from "./request-guard.ts"

/** Strict: who misspells `all` must not believe that all are revoked. */
const revokeSchema = v.strictObject({ all: v.optional(v.boolean(), false) })

export const tokenRoutes = new Hono<AppEnv>()

// A revoked token may come here too: its first answer may have been lost.
tokenRoutes.post("/revoke", requireToken, async (context) => {
  const body = await readBody(context, revokeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  // Nobody who was let in for less may shut its owner out.
  if (getScope(claims) !== "user" && (body.value.all || claims.token === null)) {
    return faultToResponse({ reason: "scope_denied" })
  }
  const revoked = await getDirectoryStub(context.env, claims).revokeTokens(claims, body.value.all)
  clearCachedRevocations(claims)
  return revoked.ok ? context.json(revoked.value) : faultToResponse(revoked.fault)
})
