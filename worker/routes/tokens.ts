/** tokens.ts: whoever holds a token may revoke it, or all of its user. */

import { Hono } from "hono"
import * as v from "valibot"
import { directoryOf } from "../tenant/directory.ts"
import { type App, answerFault, readBody } from "./answer.ts"
import { forgetRevoked, requireToken } from "./guard.ts"

/** Strict: who misspells `all` must not believe that all are revoked. */
const revokeSchema = v.strictObject({ all: v.optional(v.boolean(), false) })

export const tokens = new Hono<App>()

// A revoked token may come here too: its first answer may have been lost.
tokens.post("/revoke", requireToken, async (context) => {
  const body = await readBody(context, revokeSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const done = await directoryOf(context.env, claims).revoke(claims, body.value.all)
  forgetRevoked(claims)
  return done.ok ? context.json(done.value) : answerFault(done.fault)
})
