/**
 * guard.ts: what stands before every route: a safe deployment, an allowed origin, a valid token, safe headers.
 */

import type { MiddlewareHandler } from "hono"
import { deploymentFault } from "../env.ts"
import { verifyToken } from "../tenant/keys.ts"
import { type App, answerFault } from "./answer.ts"

/** Subprotocol that carries a socket's token, since a browser's socket takes no headers and a URL ends up in logs. */
const TOKEN_PROTOCOL = "token."

/** A production deployment that is not safe answers 503 to everything, saying why. */
export const requireSafeDeployment: MiddlewareHandler<App> = async (context, next) => {
  const because = deploymentFault(context.env)
  return because === null ? await next() : answerFault({ reason: "deployment_unsafe", because })
}

/** Our own origin and those of ALLOWED_ORIGINS may call; a request without Origin is no browser's. */
export const checkOrigin: MiddlewareHandler<App> = async (context, next) => {
  const origin = context.req.header("origin")
  if (origin === undefined) return await next()
  const allowed = (context.env.ALLOWED_ORIGINS ?? "").split(",").map((one) => one.trim())
  const isOwn = origin === new URL(context.req.url).origin
  if (!isOwn && !allowed.includes(origin)) return answerFault({ reason: "origin_denied" })
  const headers = {
    "access-control-allow-origin": origin,
    "access-control-allow-headers": "authorization, content-type",
    "access-control-allow-methods": "GET, POST, PATCH, DELETE",
    "access-control-max-age": "600",
  }
  if (context.req.method === "OPTIONS")
    return new Response(null, { status: 204, headers: { ...headers, vary: "Origin" } })
  await next()
  if (context.res.status === 101) return
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
  context.header("vary", "Origin")
}

/** No sniffing, no caching of what is somebody's own. */
export const secureHeaders: MiddlewareHandler<App> = async (context, next) => {
  await next()
  if (context.res.status === 101) return
  context.header("x-content-type-options", "nosniff")
  context.header("referrer-policy", "no-referrer")
  context.header("cache-control", "no-store")
  context.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
}

/** Verifies the bearer token, or on a socket the one among its subprotocols. */
export const requireClaims: MiddlewareHandler<App> = async (context, next) => {
  const bearer = /^Bearer (.+)$/.exec(context.req.header("authorization") ?? "")?.[1]
  const protocols = (context.req.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim())
  const carried = protocols.find((one) => one.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length)
  const token = bearer ?? carried
  if (token === undefined) return answerFault({ reason: "token_missing" })
  const claims = await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
  if (!claims.ok) return answerFault(claims.fault)
  context.set("claims", claims.value)
  return await next()
}
