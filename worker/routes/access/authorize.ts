/**
 * authorize.ts: middleware that decides who may use a route: verifies the credentials of a request, and checks them
 * against the access table and the revocations.
 */

import type { Context, MiddlewareHandler } from "hono"
import { decodeProtectedHeader } from "jose"
import * as v from "valibot"
import { type Fault, fail, type FaultReason, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_FOREIGN_TOKEN_CHARS, SOCKET_REGISTER_MS, TOKEN_TRUST_MS } from "../../../shared/limits.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import { API_KEY_PREFIX, hashApiKeySecret, parseApiKey } from "../../auth/api-key.ts"
import { createRevocationCache, findTokenFault } from "../../auth/revocation.ts"
import { checkTenantAccess, findCachedKey, useApiKey } from "../../auth/tenant-access-cache.ts"
import { verifyToken } from "../../auth/verify-token.ts"
import type { Env } from "../../env.ts"
import { checkSignIn, countFailedSignIn } from "../../limits/failed-sign-ins.ts"
import { checkRate } from "../../limits/rate-limits.ts"
import { splitCommaList } from "../../platform/comma-list.ts"
import { isSameSecret } from "../../platform/crypto/compare-secrets.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { type Claims, getHighestRole, type SessionOwner } from "../../platform/rpc/claims.ts"
import type { RevocationState } from "../../platform/rpc/directory-rpc.ts"
import { directoryStub, userKey } from "../../platform/rpc/object-stubs.ts"
import { type AccessRule, getRateClass, isAllowed, isAllowedWhileLeaving, isForKeys } from "./access-table.ts"
import { findAccessRule } from "./find-access-rule.ts"
import { mayEmbed } from "./embed-access.ts"
import { readLocationHint } from "./location-hint.ts"
import { createActor, readLimitAddress } from "./request-actor.ts"
import type { AppEnv } from "../request-body.ts"

/**
 * Prefix of the WebSocket subprotocol that carries the token. A browser's WebSocket cannot send headers, and a token in
 * the URL would be logged.
 */
const TOKEN_PROTOCOL = "token."

/**
 * Checks a request against the access table: refuses unknown routes, missing and invalid credentials, roles and scopes
 * that the route does not allow, and revoked tokens and keys (at most TOKEN_TRUST_MS after the revocation). Sets
 * `claims`, except for the operator.
 */
export const authorize: MiddlewareHandler<AppEnv> = async (context, next) => {
  const rule = await findAccessRule(context.req.method, context.req.path)
  if (rule === undefined) return faultToResponse({ reason: "route_unknown" })
  // Other sites can't use a route that doesn't need a tenant's token.
  const isClosed = context.get("widgetOrigin") !== undefined && typeof rule.allow === "string"
  if (isClosed) return faultToResponse({ reason: "origin_denied" })
  if (rule.allow === "open") return await next()
  const checked = rule.allow === "operator" ? await checkOperator(context) : await authorizeClaims(context, rule)
  return checked.ok ? await next() : faultToResponse(checked.fault)
}

/**
 * Checks the operator's secret. Errors: `route_unknown` in a deployment without an operator; `token_missing`,
 * `token_invalid`.
 */
async function checkOperator(context: Context<AppEnv>): Promise<Result<null>> {
  const { OPERATOR_SECRET } = context.env
  if (OPERATOR_SECRET === undefined) return fail({ reason: "route_unknown" })
  const token = readToken(context)
  if (token === null) return fail({ reason: "token_missing" })
  return await limitFailures(context, OPERATOR, async () =>
    (await isSameSecret(token, OPERATOR_SECRET)) ? succeed(null) : fail({ reason: "token_invalid" }),
  )
}

/** Key under which failed attempts with the operator's secret are counted. No tenant has this id. */
const OPERATOR = "-"

/**
 * Key under which failed tokens of unknown issuers are counted. For a known issuer, its URL is appended, so that each
 * issuer has its own count.
 */
const FOREIGN = "issuer"

/** Faults caused by a wrong credential. Expired credentials are not included, because they were once valid. */
const FAILED_SIGN_IN: ReadonlySet<FaultReason> = new Set<FaultReason>(["token_invalid", "key_invalid"])

/**
 * Runs a check and limits its failures, so that an attacker can neither guess credentials nor keep calling an object
 * (SPEC LI7).
 */
async function limitFailures<T>(
  context: Context<AppEnv>,
  tenant: string,
  check: () => Promise<Result<T>>,
): Promise<Result<T>> {
  const attempt = { tenant, address: readLimitAddress(context) }
  const admitted = checkSignIn(attempt, Date.now())
  if (!admitted.ok) return admitted
  const checked = await check()
  if (!checked.ok && FAILED_SIGN_IN.has(checked.fault.reason)) await countFailedSignIn(context.env, attempt, Date.now())
  return checked
}

async function authorizeClaims(context: Context<AppEnv>, rule: AccessRule): Promise<Result<null>> {
  const claims = await authenticate(context, rule)
  if (!claims.ok) return claims
  const served = checkRegion(context.env, claims.value.tenant)
  if (!served.ok) return served
  if (!isAllowed(rule, claims.value)) return fail({ reason: "scope_denied" })
  const sharedBy = readSharedBy(context, rule, claims.value)
  if (!sharedBy.ok) return sharedBy
  // The rate is checked before any object is called.
  const admitted = await checkRate(context.env, getRateClass(rule), claims.value)
  if (!admitted.ok) return admitted
  const widgetOrigin = context.get("widgetOrigin")
  if (widgetOrigin !== undefined && !(await mayEmbed(context.env, claims.value.tenant, widgetOrigin)))
    return fail({ reason: "origin_denied" })
  context.set("locationHint", readLocationHint(context.req.raw))
  const [access, revoked] = await Promise.all([
    checkTenantAccess(context.env, claims.value),
    rule.admitsRevoked === true ? succeed(null) : checkRevocation(context, claims.value),
  ])
  if (!access.ok) return access
  if (!revoked.ok) return revoked
  if (access.value === "leaving" && !isAllowedWhileLeaving(rule)) return fail({ reason: "tenant_leaving" })
  const shared = sharedBy.value === null ? claims.value : { ...claims.value, sharedBy: sharedBy.value }
  context.set("claims", access.value === "leaving" ? limitSocket(context, shared) : shared)
  return succeed(null)
}

/** Makes the socket of a tenant that is leaving read-only. */
function limitSocket(context: Context<AppEnv>, claims: Claims): Claims {
  return isUpgrade(context) ? { ...claims, role: "viewer" } : claims
}

/**
 * Returns the owner of the shared session that a request names (`?owner=`); null for the caller's own session, or if
 * the request names no session.
 *
 * Errors: `field_invalid`; `scope_denied` on routes where a viewer could write, or read more than the session.
 */
function readSharedBy({ req }: Context<AppEnv>, rule: AccessRule, { user }: Claims): Result<string | null> {
  const owner = req.query("owner")
  if (owner === undefined || !rule.path.startsWith("/v1/sessions/:id")) return succeed(null)
  if (!v.is(idSchema, owner)) return fail({ reason: "field_invalid", field: "owner" })
  if (owner === user) return succeed(null)
  return rule.admitsViewers === true ? succeed(owner) : fail({ reason: "scope_denied" })
}

/**
 * Verifies the credentials of a request: an API key or a token, from the header or, for a WebSocket, from its
 * subprotocols. Does not check for revoked tokens.
 */
async function authenticate(context: Context<AppEnv>, rule: AccessRule): Promise<Result<Claims>> {
  const token = readToken(context)
  if (token === null) return fail({ reason: "token_missing" })
  if (token.startsWith(API_KEY_PREFIX)) return await authenticateKey(context, rule, token)
  if (isForeignToken(token)) return await authenticateForeign(context, token)
  return await verifyToken(token, context.env.JWT_SECRET ?? "", Date.now())
}

/**
 * Verifies a provider's token. A valid token whose issuer the isolate has cached is accepted even after failures from
 * the same IP address (SPEC LI7).
 */
async function authenticateForeign(context: Context<AppEnv>, token: string): Promise<Result<Claims>> {
  const { findKnownIssuer, verifyForeignToken } = await import("../../auth/issuer/foreign-token.ts")
  const verifyForeign = () => verifyForeignToken(context.env, token, Date.now(), createActor(context, "anonymous"))
  const issuer = findKnownIssuer(token)
  if (issuer === null) return await limitFailures(context, FOREIGN, verifyForeign)
  const verified = await verifyForeign()
  if (verified.ok || !FAILED_SIGN_IN.has(verified.fault.reason)) return verified
  // Failures with one issuer's tokens must not block the tokens of another issuer.
  return await limitFailures(context, `${FOREIGN}:${issuer}`, async () => verified)
}

/** Verifies an API key. Calls no object if the string cannot be a key, or if no key may use the route. */
async function authenticateKey(context: Context<AppEnv>, rule: AccessRule, text: string): Promise<Result<Claims>> {
  const key = parseApiKey(text)
  if (key === null) return fail({ reason: "key_invalid" })
  if (!isForKeys(rule)) return fail({ reason: "scope_denied" })
  const { tenant, id } = key
  const served = checkRegion(context.env, tenant)
  if (!served.ok) return served
  const { address } = createActor(context, "key", id)
  const use = { id, hash: await hashApiKeySecret(key.secret), address }
  const used =
    findCachedKey(tenant, use, Date.now()) ??
    (await limitFailures(context, tenant, () => useApiKey(context.env, tenant, use, Date.now())))
  if (!used.ok) return used
  const expires = used.value.expires === null ? Number.MAX_SAFE_INTEGER : used.value.expires / 1000
  const role = getHighestRole(used.value.roles)
  return succeed({ tenant, user: `key:${id}`, expires, token: null, issued: 0, role, key: id })
}

/**
 * Whether a token is signed with a public-key algorithm, which this server's tokens never are. Doesn't verify the
 * token.
 */
function isForeignToken(token: string): boolean {
  if (token.length > MAX_FOREIGN_TOKEN_CHARS) return false
  try {
    return /^(?:[RPE]S|Ed)/.test(decodeProtectedHeader(token).alg ?? "")
  } catch {
    return false
  }
}

/** Recent revocation states, shared by all requests of this isolate. */
const revocationCache = createRevocationCache()

/**
 * Maximum age of a user's cached state when a socket opens, in milliseconds. The request can take SOCKET_REGISTER_MS to
 * reach the session's object, and another SOCKET_REGISTER_MS can pass until the socket is registered with the
 * directory. So a revoked token has no socket after TOKEN_TRUST_MS, even if the directory cannot be reached.
 */
const SOCKET_TRUST_MS = TOKEN_TRUST_MS - 2 * SOCKET_REGISTER_MS

async function checkRevocation(context: Context<AppEnv>, claims: Claims): Promise<Result<null>> {
  // An API key is not a user, so it has no directory.
  if (claims.key !== undefined) return succeed(null)
  const maxAgeMs = isUpgrade(context) ? SOCKET_TRUST_MS : TOKEN_TRUST_MS
  const revoked = await loadRevocations(context.env, claims, maxAgeMs, context.get("locationHint"))
  const fault = findTokenFault(claims, revoked)
  return fault === null ? succeed(null) : fail(fault)
}

/**
 * Returns why a link that was signed for a user at `signedAt` (in seconds since 1970) must be refused: the user is
 * suspended, or has been erased since then. Null if the link is valid for the user. A suspension or an erasure takes
 * effect within TOKEN_TRUST_MS.
 */
export async function findReaderFault(env: Env, user: SessionOwner, signedAt: number): Promise<Fault | null> {
  const { suspended, erased, upTo } = await loadRevocations(env, user, TOKEN_TRUST_MS)
  if (suspended === true) return { reason: "user_suspended" }
  return erased === true && upTo !== null && signedAt <= upTo ? { reason: "link_invalid" } : null
}

async function loadRevocations(
  env: Env,
  user: SessionOwner,
  maxAgeMs: number,
  locationHint?: DurableObjectLocationHint,
): Promise<RevocationState> {
  const fetchState = async () => await directoryStub(env, user, locationHint).getRevocationState()
  return await revocationCache.getOrFetch(userKey(user), Date.now(), fetchState, maxAgeMs)
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

/** Returns the subprotocols that a client offers, except the one that carries the token. */
export function listSubprotocols(context: Context<AppEnv>): string[] {
  return listOfferedProtocols(context).filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL))
}
