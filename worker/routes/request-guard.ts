/**
 * request-guard.ts: what stands before every route: a safe deployment, an allowed origin, a valid token, safe headers.
 */

import type { Context, MiddlewareHandler } from "hono"
import { allowedOrigins, deploymentFault } from "../env.ts"
import { directoryOf } from "../auth/user-directory.ts"
import { type Claims, type Scope, scopeOf, userName, verifyToken } from "../auth/verify-token.ts"
import { createRevokedMemory, isRevoked } from "../auth/revocation.ts"
import { type App, answerFault } from "../platform/fault-response.ts"

/** Subprotocol that carries a socket's token, since a browser's socket takes no headers and a URL ends up in logs. */
const TOKEN_PROTOCOL = "token."

/** How long a browser may keep the answer to a preflight, in seconds: as long as most of them would at most. */
const PREFLIGHT_SECONDS = "600"

/** On everything that the Worker itself answers. The page's files bring their own (public/_headers). */
const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}

/** A deployment that is not safe answers 503 to everything, saying why. */
export const requireSafeDeployment: MiddlewareHandler<App> = async (context, next) => {
  const because = deploymentFault(context.env, new URL(context.req.url))
  return because === null ? await next() : answerFault({ reason: "deployment_unsafe", because })
}

/** Our own origin and those of ALLOWED_ORIGINS may call; a request without Origin is no other site's. */
export const checkOrigin: MiddlewareHandler<App> = async (context, next) => {
  const origin = context.req.header("origin")
  if (origin !== undefined && !isAllowed(origin, context)) {
    const denied = answerFault({ reason: "origin_denied" })
    denied.headers.set("vary", "Origin")
    return denied
  }
  if (origin !== undefined && context.req.header("access-control-request-method") !== undefined) {
    return new Response(null, { status: 204, headers: preflightHeaders(origin) })
  }
  await next()
  // An upgrade's headers cannot be changed, and no script can read them.
  if (context.res.status !== 101) {
    context.header("vary", "Origin")
    if (origin !== undefined) context.header("access-control-allow-origin", origin)
  }
  return undefined
}

function isAllowed(origin: string, context: Context<App>): boolean {
  return origin === new URL(context.req.url).origin || allowedOrigins(context.env).includes(origin)
}

function preflightHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-headers": "authorization, content-type",
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin",
  }
}

/** No sniffing, no referrer, no caching of what is somebody's own, nothing to run. */
export const secureHeaders: MiddlewareHandler<App> = async (context, next) => {
  await next()
  if (context.res.status === 101) return
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}

/** Verifies the bearer token, or on a socket the one among its subprotocols. It may be a revoked one. */
export const requireToken: MiddlewareHandler<App> = async (context, next) => {
  const token = tokenOf(context)
  if (token === null) return answerFault({ reason: "token_missing" })
  const claims = await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
  if (!claims.ok) return answerFault(claims.fault)
  context.set("claims", claims.value)
  return await next()
}

/** What the directories of the users of late said; one for all requests of this isolate. */
const remembered = createRevokedMemory()

/** Behind `requireToken`: a revoked token gets no further, at the latest REVOCATION_MS after. */
export const refuseRevoked: MiddlewareHandler<App> = async (context, next) => {
  const claims = context.get("claims")
  const ask = () => directoryOf(context.env, claims).revoked()
  const revoked = await remembered.of(userName(claims), Date.now(), ask)
  return isRevoked(claims, revoked) ? answerFault({ reason: "token_revoked" }) : await next()
}

/** Behind `requireToken`: a token of another scope gets no further. */
export function requireScope(scope: Scope): MiddlewareHandler<App> {
  return async (context, next) =>
    scopeOf(context.get("claims")) === scope ? await next() : answerFault({ reason: "scope_denied" })
}

/** Here, where somebody revoked something, it holds at once. */
export function forgetRevoked(claims: Claims): void {
  remembered.forget(userName(claims))
}

function tokenOf(context: Context<App>): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1]
  if (bearer !== undefined) return bearer
  const carried = isUpgrade(context)
    ? offeredProtocols(context).find((one) => one.startsWith(TOKEN_PROTOCOL))
    : undefined
  return carried?.slice(TOKEN_PROTOCOL.length) ?? null
}

export function isUpgrade(context: Context<App>): boolean {
  return context.req.header("upgrade")?.toLowerCase() === "websocket"
}

function offeredProtocols(context: Context<App>): string[] {
  return (context.req.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim())
}

/** The subprotocols that a socket offers, but for the one that is its token. */
export function spokenProtocols(context: Context<App>): string[] {
  return offeredProtocols(context).filter((one) => one !== "" && !one.startsWith(TOKEN_PROTOCOL))
}
