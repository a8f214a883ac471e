/** tokens.ts: whoever holds a token may revoke it, or, if it is the user's own, all of that user. */

import { Hono } from "hono"
import * as v from "valibot"
import { directoryOf } from "../auth/user-directory.ts"
import { scopeOf } from "../auth/verify-token.ts"
import { type App, answerFault, readBody } from "../platform/fault-response.ts"
import { forgetRevoked, requireToken } from "./request-guard.ts"

/** Strict: who misspells `all` must not believe that all are revoked. */
const revokeSchema = v.strictObject({ all: v.optional(v.boolean(), false) })

export const tokens = new Hono<App>()

// A revoked token may come here too: its first answer may have been lost.
tokens.post("/revoke", requireToken, async (context) => {
  const body = await readBody(context, revokeSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  // Nobody who was let in for less may shut its owner out.
  if (scopeOf(claims) !== "user" && (body.value.all || claims.token === null)) {
    return answerFault({ reason: "scope_denied" })
  }
  const done = await directoryOf(context.env, claims).revoke(claims, body.value.all)
  forgetRevoked(claims)
  return done.ok ? context.json(done.value) : answerFault(done.fault)
})
