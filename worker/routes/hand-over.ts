/** hand-over.ts: passes a request on to routes that are loaded on demand. */

import type { Context, Hono, MiddlewareHandler } from "hono"
import type { AppEnv } from "./request-body.ts"

type Variables = Pick<AppEnv["Variables"], "claims" | "locationHint">

/** The variables that `authorize` set for each request that is being handed over. */
const handedOver = new WeakMap<Request, Variables>()

/** Handles the request with other routes, which begin with `receiveHandover`. */
export async function handOver(context: Context<AppEnv>, routes: Hono<AppEnv>): Promise<Response> {
  const { raw } = context.req
  handedOver.set(raw, { claims: context.get("claims"), locationHint: context.get("locationHint") })
  return await routes.fetch(raw, context.env, context.executionCtx)
}

/** Restores the variables that `authorize` set. */
export const receiveHandover: MiddlewareHandler<AppEnv> = async (context, next) => {
  const variables = handedOver.get(context.req.raw)
  if (variables !== undefined) {
    context.set("claims", variables.claims)
    context.set("locationHint", variables.locationHint)
  }
  await next()
}
