/**
 * request-guard.ts: middleware before the routes: safe deployment, allowed origin, valid token, secure headers.
 */

import type { Context, MiddlewareHandler } from "hono"
import { parseAllowedOrigins, findDeploymentFault } from "../env.ts"
import { verifyToken } from "../auth/verify-token.ts"
import { createRevocationCache, isRevoked } from "../auth/revocation.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { splitCommaList } from "../platform/comma-list.ts"
import type { AppEnv } from "./request-body.ts"
import { directoryStub, userKey } from "../platform/rpc/object-stubs.ts"
import { type Claims, getScope, type Scope } from "../platform/rpc/claims.ts"

/** Prefix of the subprotocol that carries a socket's token: a browser's WebSocket cannot send headers, and URLs are logged. */
const TOKEN_PROTOCOL = "token."

/** How long a browser may cache a preflight response, in seconds. Most browsers allow no more. */
const PREFLIGHT_SECONDS = "600"

/** For all responses of the Worker itself. The page's files have headers of their own (public/_headers). */
const SECURE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}

/** An unsafe deployment answers every request with 503 and the reason. */
export const requireSafeDeployment: MiddlewareHandler<AppEnv> = async (context, next) => {
  const because = findDeploymentFault(context.env, new URL(context.req.url))
  return because === null ? await next() : faultToResponse({ reason: "deployment_unsafe", because })
}

/** Admits the request's own origin and those of ALLOWED_ORIGINS. A request without Origin does not come from another site. */
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
  // The headers of an upgrade cannot be changed, and no script can read them.
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

/** Adds the secure headers, unless the route has set them itself. */
export const setSecureHeaders: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next()
  if (context.res.status === 101) return
  for (const [name, value] of Object.entries(SECURE_HEADERS)) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}

/** Verifies the bearer token, or for a WebSocket the one among its subprotocols. Does not check for revocation. */
export const requireToken: MiddlewareHandler<AppEnv> = async (context, next) => {
  const token = readToken(context)
  if (token === null) return faultToResponse({ reason: "token_missing" })
  const claims = await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
  if (!claims.ok) return faultToResponse(claims.fault)
  context.set("claims", claims.value)
  return await next()
}

/** Recent revocation states, shared by all requests of this isolate. */
const revocationCache = createRevocationCache()

/** Behind `requireToken`: refuses revoked tokens, at the latest TOKEN_TRUST_MS after the revocation. */
export const refuseRevoked: MiddlewareHandler<AppEnv> = async (context, next) => {
  const claims = context.get("claims")
  const fetchState = () => directoryStub(context.env, claims).getRevocationState()
  const revoked = await revocationCache.getOrFetch(userKey(claims), Date.now(), fetchState)
  return isRevoked(claims, revoked) ? faultToResponse({ reason: "token_revoked" }) : await next()
}

/** Behind `requireToken`: refuses tokens of another scope. */
export function requireScope(scope: Scope): MiddlewareHandler<AppEnv> {
  return async (context, next) =>
    getScope(context.get("claims")) === scope ? await next() : faultToResponse({ reason: "scope_denied" })
}

/** Makes a revocation effective at once in this isolate. */
export function clearCachedRevocations(claims: Claims): void {
  revocationCache.delete(userKey(claims))
}

function readToken(context: Context<AppEnv>): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1]
  if (bearer !== undefined) return bearer
  const tokenProtocol = isUpgrade(context)
    ? listOfferedProtocols(context).find((protocol) => protocol.startsWith(TOKEN_PROTOCOL))
    : undefined
  return tokenProtocol?.slice(TOKEN_PROTOCOL.length) ?? null
}

export function isUpgrade(context: Context<AppEnv>): boolean {
  return context.req.header("upgrade")?.toLowerCase() === "websocket"
}

function listOfferedProtocols(context: Context<AppEnv>): string[] {
  return splitCommaList(context.req.header("sec-websocket-protocol"))
}

/** The subprotocols that a client offers, without the one that carries the token. */
export function listSubprotocols(context: Context<AppEnv>): string[] {
  return listOfferedProtocols(context).filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL))
}
