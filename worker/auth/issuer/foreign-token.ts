/**
 * foreign-token.ts: verifies tokens of OpenID providers.
 *
 * A token belongs to the tenant that registered exactly this issuer and audience. The keys come from the tenant's
 * object, never from a URL in the token. While the caches are warm, no object is called.
 */

import { base64url, createLocalJWKSet, errors, jwtVerify } from "jose"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_FOREIGN_TOKEN_SECONDS, TOKEN_TRUST_MS } from "../../../shared/limits.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { removeControls } from "../../../shared/text/title.ts"
import type { Env } from "../../env.ts"
import { BoundedMap } from "../../platform/bounded-map.ts"
import { FreshCache } from "../../platform/fresh-cache.ts"
import { type Actor, SYSTEM_ACTOR } from "../../platform/rpc/actor.ts"
import type { Claims, Role } from "../../platform/rpc/claims.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readTimeLimits } from "../../platform/time-limits.ts"
import {
  claimToRole,
  FOREIGN_USER_PREFIX,
  hasRequiredClaims,
  type IssuerConfig,
  type IssuerKeys,
  limitRole,
} from "../../settings/issuer-config.ts"
import { CLOCK_TOLERANCE_SECONDS } from "../verify-token.ts"
import { recordFailure } from "../record-failure.ts"
import { findIssuerTenant } from "./issuer-registry.ts"
import { cacheRole, getCachedRole } from "./role-cache.ts"
import { type ForeignPayload, parseToken, type TokenParts } from "./token-parts.ts"

/**
 * Maximum number of issuers that an isolate caches. Unknown issuers have a cache of their own, because anybody can
 * invent them.
 */
const MAX_CACHED_ISSUERS = 500
const MAX_UNKNOWN_ISSUERS = 500

/**
 * Minimum time between two audit entries of an isolate about a tenant's refused tokens, in milliseconds. Each entry
 * contains the number of tokens that were refused.
 */
const REFUSAL_INTERVAL_MS = 60_000

/** Maximum length of the claim that identifies a user, in characters. */
const MAX_USER_CLAIM_CHARS = 512

/** Maximum length of a user's name, in UTF-16 code units. */
const MAX_NAME_CHARS = 120

/**
 * The form and length of a token id, which is stored with each revocation. A token with a longer id cannot be revoked
 * individually.
 */
const TOKEN_ID = /^[\x20-\x7e]{1,256}$/

/** A user as described by a provider. */
export interface ForeignIdentity {
  /** `o_…`, derived from the issuer and the user claim. */
  readonly user: string
  readonly name: string | null
  /**
   * The role from the issuer's role claim; null if no role claim is configured, in which case the stored role applies.
   */
  readonly role: Role | null
}

/** An issuer with its imported keys. */
class CachedIssuer {
  readonly tenant: string
  readonly keys: IssuerKeys
  readonly findKey: ReturnType<typeof createLocalJWKSet>
  readonly #kids: ReadonlySet<string | undefined>
  /** When the tenant's object was last called for a key that is not in the set, in milliseconds since 1970. */
  askedAt: number

  constructor(tenant: string, keys: IssuerKeys, now: number) {
    this.tenant = tenant
    this.keys = keys
    this.askedAt = now
    this.findKey = createLocalJWKSet({ keys: [...keys.keys] })
    this.#kids = new Set(keys.keys.map(({ kid }) => kid))
  }

  hasKey(kid: string | undefined): boolean {
    return kid === undefined || this.#kids.has(kid)
  }
}

const issuerCache = new FreshCache<CachedIssuer>(TOKEN_TRUST_MS, MAX_CACHED_ISSUERS)
/** Pairs of issuer and audience that no tenant has registered. */
const unknownIssuers = new FreshCache<true>(TOKEN_TRUST_MS, MAX_UNKNOWN_ISSUERS)

/**
 * Verifies a token of an OpenID provider. Cost: while the issuer and the user are cached (TOKEN_TRUST_MS), only the
 * verification.
 *
 * Errors: `token_expired`; `token_invalid`; `issuer_unreachable` if the keys could not be fetched for an hour;
 * `user_suspended`; `token_revoked` if the user is being erased; `tenant_leaving` for a new user of a tenant that is
 * leaving.
 */
export async function verifyForeignToken(
  env: Env,
  token: string,
  now: number,
  actor: Actor = SYSTEM_ACTOR,
): Promise<Result<Claims>> {
  const parts = parseToken(token)
  if (parts === null) return fail({ reason: "token_invalid" })
  const issuer = await findIssuer(env, parts, now)
  if (issuer === null) return fail({ reason: "token_invalid" })
  const verified = await verifySignature(token, parts, issuer, issuer.keys.config.audience, now)
  const { exp, iat, jti } = parts.payload
  const expires = Math.min(exp, iat + MAX_FOREIGN_TOKEN_SECONDS)
  if (verified.ok && now / 1000 >= expires + CLOCK_TOLERANCE_SECONDS) return fail({ reason: "token_expired" })
  const { tenant, keys } = issuer
  const identity = verified.ok ? await readIdentity(parts.payload, keys.config) : null
  if (identity === null) {
    const fault = verified.ok ? ({ reason: "token_invalid" } as const) : verified.fault
    // Expired tokens are common, so they are not recorded.
    if (fault.reason === "token_invalid") await recordRefusal(env, issuer, actor, now)
    return fail(fault)
  }
  const role = await loadRole(env, tenant, keys, identity, now)
  if (!role.ok) return role
  const id = typeof jti === "string" && TOKEN_ID.test(jti) ? jti : null
  const claims = { tenant, user: identity.user, expires, token: id, issued: iat, role: role.value }
  return succeed(identity.role === null ? { ...claims, hasStoredRole: true } : claims)
}

/**
 * Returns the issuer that a token names, if this isolate has ever found it registered; otherwise null. Doesn't verify
 * the token. Forged tokens that name such an issuer can make the isolate call an object only rarely.
 */
export function findKnownIssuer(token: string): string | null {
  const parts = parseToken(token)
  if (parts === null) return null
  const { iss } = parts.payload
  const isFound = (cache: FreshCache<unknown>, audience: string): boolean =>
    cache.get(`${iss}\0${audience}`, Date.now(), Infinity) !== undefined
  const isKnown =
    parts.audiences.some((audience) => isFound(issuerCache, audience)) &&
    parts.audiences.every((audience) => isFound(issuerCache, audience) || isFound(unknownIssuers, audience))
  return isKnown ? iss : null
}

/**
 * Verifies the ID token of a sign-in with the issuer's keys, which the caller has fetched. Errors: `token_expired`,
 * `token_invalid`, `issuer_unreachable`.
 */
export async function verifyIdToken(
  token: string,
  tenant: string,
  keys: IssuerKeys,
  audience: string,
  now: number,
): Promise<Result<ForeignIdentity>> {
  const parts = parseToken(token)
  if (parts === null || !parts.audiences.includes(audience)) return fail({ reason: "token_invalid" })
  const verified = await verifySignature(token, parts, new CachedIssuer(tenant, keys, now), audience, now)
  if (!verified.ok) return verified
  const identity = await readIdentity(parts.payload, keys.config)
  return identity === null ? fail({ reason: "token_invalid" }) : succeed(identity)
}

/**
 * Returns the issuer of the token, with the newest keys that are known. Null if the issuer is unknown, or if the token's audiences belong to
 * different tenants.
 */
async function findIssuer(
  env: Env,
  { header, payload, audiences }: TokenParts,
  now: number,
): Promise<CachedIssuer | null> {
  const found = await Promise.all(
    [...new Set(audiences)].map((audience) => loadIssuer(env, payload.iss, audience, header.kid, now)),
  )
  const issuers = found.filter((issuer) => issuer !== null)
  const isAmbiguous = new Set(issuers.map(({ tenant }) => tenant)).size > 1
  return isAmbiguous ? null : (issuers[0] ?? null)
}

async function loadIssuer(
  env: Env,
  issuer: string,
  audience: string,
  kid: string | undefined,
  now: number,
): Promise<CachedIssuer | null> {
  const cacheKey = `${issuer}\0${audience}`
  const cached = issuerCache.get(cacheKey, now)
  if (cached === undefined && unknownIssuers.get(cacheKey, now)) return null
  const isUsable = cached?.hasKey(kid) === true && now < cached.keys.trustedUntil
  // Anybody can invent key ids, so an isolate looks up unknown ones only at intervals.
  const isAskedRecently = cached !== undefined && now - cached.askedAt < readTimeLimits(env).unknownKeyMs
  if (cached !== undefined && (isUsable || isAskedRecently)) return cached
  const tenant = cached?.tenant ?? (await findIssuerTenant(env, issuer, audience))
  const keys = tenant === null ? null : await tenantStub(env, tenant).getIssuerKeys(issuer, audience, kid ?? null)
  // RPC wraps the type; the value is what `getIssuerKeys` returned.
  const loaded = tenant === null || keys === null ? null : new CachedIssuer(tenant, keys as IssuerKeys, now)
  if (loaded !== null) issuerCache.set(cacheKey, loaded, now)
  else {
    issuerCache.delete(cacheKey)
    unknownIssuers.set(cacheKey, true, now)
  }
  return loaded
}

async function verifySignature(
  token: string,
  { payload }: TokenParts,
  { keys, findKey }: CachedIssuer,
  audience: string,
  now: number,
): Promise<Result<null>> {
  const { config, trustedUntil } = keys
  if (now >= trustedUntil) return fail({ reason: "issuer_unreachable" })
  if (!isAuthorizedParty(payload, config, audience)) return fail({ reason: "token_invalid" })
  if (payload.iat > now / 1000 + CLOCK_TOLERANCE_SECONDS) return fail({ reason: "token_invalid" })
  try {
    await jwtVerify(token, findKey, {
      algorithms: [...config.algorithms],
      issuer: config.issuer,
      audience,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["exp", "iat"],
    })
    return succeed(null)
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "token_expired" : "token_invalid" })
  }
}

/**
 * Whether the token was issued to us. A token that was issued to another application must not be accepted, even if it
 * also has our audience.
 */
function isAuthorizedParty({ azp }: ForeignPayload, config: IssuerConfig, audience: string): boolean {
  return azp === undefined || [audience, config.client_id, ...config.authorized_parties].includes(azp)
}

async function readIdentity(payload: ForeignPayload, config: IssuerConfig): Promise<ForeignIdentity | null> {
  if (!hasRequiredClaims(payload, config)) return null
  const claim = payload[config.user_claim]
  if (typeof claim !== "string" || claim === "" || claim.length > MAX_USER_CLAIM_CHARS) return null
  // Without this check, anybody could sign in as another person by entering that person's email address at the
  // provider. Some providers omit the claim or send it as a string.
  if (config.user_claim === "email" && String(payload["email_verified"]) !== "true") return null
  const name = payload[config.name_claim]
  return {
    user: await createForeignUserId(config.issuer, config.user_claim, claim),
    name: typeof name === "string" ? cutText(removeControls(name).trim(), MAX_NAME_CHARS) || null : null,
    role: config.role_claim === undefined ? null : claimToRole(payload[config.role_claim], config),
  }
}

/**
 * Creates the id of an issuer's user. The id is different for each issuer of a tenant, and for each claim. It reveals
 * nothing about the person.
 */
export async function createForeignUserId(issuer: string, claim: string, value: string): Promise<string> {
  // No issuer begins with a bracket, so the two forms never result in the same string.
  const text = claim === "sub" ? `${issuer}\0${value}` : JSON.stringify([issuer, claim, value])
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return `${FOREIGN_USER_PREFIX}${base64url.encode(new Uint8Array(digest)).slice(0, 27)}`
}

/**
 * Registers the user on first contact and returns the role. Errors: `user_suspended`, `token_revoked`; `tenant_leaving`
 * for a new user.
 */
async function loadRole(
  env: Env,
  tenant: string,
  { name: issuer, config }: IssuerKeys,
  { user, name, role }: ForeignIdentity,
  now: number,
): Promise<Result<Role>> {
  const cached = getCachedRole({ tenant, user }, now)
  if (cached !== undefined) return succeed(role ?? limitRole(cached, config))
  const newUser = { id: user, name: name ?? undefined, role: role ?? undefined, issuer }
  const stored = await tenantStub(env, tenant).registerUser(newUser)
  if (stored.isLeaving === true) return fail({ reason: "tenant_leaving" })
  if (stored.status === "suspended") return fail({ reason: "user_suspended" })
  if (stored.status !== "active") return fail({ reason: "token_revoked" })
  cacheRole({ tenant, user }, stored.role, now)
  return succeed(role ?? limitRole(stored.role, config))
}

/** For each tenant, the number of tokens refused since this isolate's last audit entry, and the time of that entry. */
const refusals = new BoundedMap<string, { readonly at: number; readonly count: number }>(MAX_CACHED_ISSUERS)

/**
 * Records that a token naming a registered issuer was refused. Cost: one request to the tenant's object per isolate and
 * REFUSAL_INTERVAL_MS.
 */
async function recordRefusal(env: Env, { tenant, keys }: CachedIssuer, actor: Actor, now: number): Promise<void> {
  const { at, count } = refusals.get(tenant) ?? { at: 0, count: 0 }
  if (now - at < REFUSAL_INTERVAL_MS) {
    refusals.set(tenant, { at, count: count + 1 })
    return
  }
  refusals.set(tenant, { at: now, count: 0 })
  const event = { action: "token.refused", target: keys.name, details: { count: count + 1 } }
  await recordFailure(env, tenant, actor, event)
}

/** Makes a changed issuer effective at once in this isolate. */
export function clearCachedIssuer(issuer: string, audience: string): void {
  issuerCache.delete(`${issuer}\0${audience}`)
  unknownIssuers.delete(`${issuer}\0${audience}`)
}
