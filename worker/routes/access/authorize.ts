/**
 * authorize.ts: middleware that decides who may use a route: verifies the credentials of a request, and checks them against
 * the access table and the revocations.
 */

import type { Context, MiddlewareHandler } from "hono"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { createRevocationCache, isRevoked } from "../../auth/revocation.ts"
import { verifyToken } from "../../auth/verify-token.ts"
import { splitCommaList } from "../../platform/comma-list.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import { directoryStub, userKey } from "../../platform/rpc/object-stubs.ts"
import { findAccessRule, isAllowed } from "./access-table.ts"
import type { AppEnv } from "../request-body.ts"

/** Prefix of the subprotocol that carries a socket's token: a browser's WebSocket cannot send headers, and URLs are logged. */
const TOKEN_PROTOCOL = "token."

/**
 * Checks a request against the access table: refuses unknown routes, missing and invalid tokens, other roles and scopes, and
 * revoked tokens (at the latest TOKEN_TRUST_MS after the revocation). Sets `claims`.
 */
export const authorize: MiddlewareHandler<AppEnv> = async (context, next) => {
  const rule = findAccessRule(context.req.method, context.req.path)
  if (rule === undefined) return faultToResponse({ reason: "route_unknown" })
  if (rule.allow === "open") return await next()
  const claims = await authenticate(context)
  if (!claims.ok) return faultToResponse(claims.fault)
  if (!isAllowed(rule, claims.value)) return faultToResponse({ reason: "scope_denied" })
  if (rule.admitsRevoked !== true) {
    const checked = await checkRevocation(context, claims.value)
    if (!checked.ok) return faultToResponse(checked.fault)
  }
  context.set("claims", claims.value)
  return await next()
}

/** Verifies the bearer token, or for a WebSocket the one among its subprotocols. Does not check for revocation. */
async function authenticate(context: Context<AppEnv>): Promise<Result<Claims>> {
  const token = readToken(context)
  if (token === null) return fail({ reason: "token_missing" })
  return await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
}

/** Recent revocation states, shared by all requests of this isolate. */
const revocationCache = createRevocationCache()

async function checkRevocation({ env }: Context<AppEnv>, claims: Claims): Promise<Result<null>> {
  const fetchState = () => directoryStub(env, claims).getRevocationState()
  const revoked = await revocationCache.getOrFetch(userKey(claims), Date.now(), fetchState)
  return isRevoked(claims, revoked) ? fail({ reason: "token_revoked" }) : succeed(null)
}

/** Makes a revocation effective at once in this isolate. */
export function clearCachedRevocations(user: Pick<Claims, "tenant" | "user">): void {
  revocationCache.delete(userKey(user))
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
