/** dev-token.ts: with AUTH=dev, and nowhere else, the page may fetch a token for the tenant `demo`. */

import { Hono } from "hono"
import { nanoid } from "nanoid"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { DEV_TOKEN_SECONDS } from "../../shared/limits.ts"
import { issueToken } from "../auth/verify-token.ts"
import { type AppEnv, faultToResponse, readBody } from "../platform/fault-response.ts"

const bodySchema = v.object({ user: v.optional(idSchema, "you") })

export const devTokenRoutes = new Hono<AppEnv>().post("/", async (context) => {
  const { AUTH, ENVIRONMENT, JWT_SECRET } = context.env
  if (AUTH !== "dev" || ENVIRONMENT === "production") return faultToResponse({ reason: "route_unknown" })
  const body = await readBody(context, bodySchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { user } = body.value
  // With its fraction: a token that was issued just after a revocation is not taken for one issued before.
  const issued = Date.now() / 1000
  const expires = Math.floor(issued) + DEV_TOKEN_SECONDS
  const token = await issueToken({ tenant: "demo", user, expires, token: nanoid(), issued }, JWT_SECRET ?? "")
  return context.json({ token, expires, tenant: "demo", user })
})
