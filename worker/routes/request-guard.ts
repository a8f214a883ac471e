/**
 * request-guard.ts: what stands before every route: a safe deployment, an allowed origin, a valid token, safe headers.
 */

import type { Context, MiddlewareHandler } from "hono"
import { parseAllowedOrigins, findDeploymentFault } from "../env.ts"
import { getDirectoryStub } from "../auth/user-directory.ts"
import { type Claims, type Scope, getScope, createUserKey, verifyToken } from "../auth/verify-token.ts"
import { createRevocationCache, isRevoked } from "../auth/revocation.ts"
import { type AppEnv, faultToResponse } from "../platform/fault-response.ts"

/** Subprotocol that carries a socket's token, since a browser's socket takes no headers and a URL ends up in logs. */
const TOKEN_PROTOCOL = "token."

/** How long a browser may keep the answer to a preflight, in seconds: as long as most of them would at most. */
const PREFLIGHT_SECONDS = "600"

/** On everything that the Worker itself answers. The page's files bring their own (public/_headers). */
const SECURE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}

/** A deployment that is not safe answers 503 to everything, saying why. */
export const requireSafeDeployment: MiddlewareHandler<AppEnv> = async (context, next) => {
  const because = findDeploymentFault(context.env, new URL(context.req.url))
  return because === null ? await next() : faultToResponse({ reason: "deployment_unsafe", because })
}

/** Our own origin and those of ALLOWED_ORIGINS may call; a request without Origin is no other site's. */
export const checkOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const origin = context.req.header("origin")
  if (origin !== undefined && !isAllowedOrigin(origin, context)) {
    const denied = faultToResponse({ reason: "origin_denied" })
    denied.headers.set("vary", "Origin")
    return denied
  }
  if (origin !== undefined && context.req.header("access-control-request-method") !== undefined) {
    return new Response(null, { status: 204, headers: createPreflightHeaders(origin) })
  }
  await next()
  // An upgrade's headers cannot be changed, and no script can read them.
  if (context.res.status !== 101) {
    context.header("vary", "Origin")
    if (origin !== undefined) context.header("access-control-allow-origin", origin)
  }
  return undefined
}

function isAllowedOrigin(origin: string, context: Context<AppEnv>): boolean {
  return origin === new URL(context.req.url).origin || parseAllowedOrigins(context.env).includes(origin)
}

function createPreflightHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-headers": "authorization, content-type",
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-max-age": PREFLIGHT_SECONDS,
    vary: "Origin",
  }
}

/** No sniffing, no referrer, no caching of what is somebody's own, nothing to run. */
export const setSecureHeaders: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next()
  if (context.res.status === 101) return
  for (const [name, value] of Object.entries(SECURE_HEADERS)) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}

/** Verifies the bearer token, or on a socket the one among its subprotocols. It may be a revoked one. */
export const requireToken: MiddlewareHandler<AppEnv> = async (context, next) => {
  const token = readToken(context)
  if (token === null) return faultToResponse({ reason: "token_missing" })
  const claims = await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
  if (!claims.ok) return faultToResponse(claims.fault)
  context.set("claims", claims.value)
  return await next()
}

/** What the directories of the users of late said; one for all requests of this isolate. */
const revocationCache = createRevocationCache()

/** Behind `requireToken`: a revoked token gets no further, at the latest REVOCATION_MS after. */
export const refuseRevoked: MiddlewareHandler<AppEnv> = async (context, next) => {
  const claims = context.get("claims")
  const fetchState = () => getDirectoryStub(context.env, claims).getRevocationState()
  const revoked = await revocationCache.getOrFetch(createUserKey(claims), Date.now(), fetchState)
  return isRevoked(claims, revoked) ? faultToResponse({ reason: "token_revoked" }) : await next()
}

/** Behind `requireToken`: a token of another scope gets no further. */
export function requireScope(scope: Scope): MiddlewareHandler<AppEnv> {
  return async (context, next) =>
    getScope(context.get("claims")) === scope ? await next() : faultToResponse({ reason: "scope_denied" })
}

/** Here, where somebody revoked something, it holds at once. */
export function clearCachedRevocations(claims: Claims): void {
  revocationCache.delete(createUserKey(claims))
}

function readToken(context: Context<AppEnv>): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1]
  if (bearer !== undefined) return bearer
  const tokenProtocol = isUpgrade(context)
    ? listOfferedProtocols(context).find((one) => one.startsWith(TOKEN_PROTOCOL))
    : undefined
  return tokenProtocol?.slice(TOKEN_PROTOCOL.length) ?? null
}

export function isUpgrade(context: Context<AppEnv>): boolean {
  return context.req.header("upgrade")?.toLowerCase() === "websocket"
}

function listOfferedProtocols(context: Context<AppEnv>): string[] {
  return (context.req.header("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim())
}

/** The subprotocols that a socket offers, but for the one that is its token. */
export function listSubprotocols(context: Context<AppEnv>): string[] {
  return listOfferedProtocols(context).filter((one) => one !== "" && !one.startsWith(TOKEN_PROTOCOL))
}
