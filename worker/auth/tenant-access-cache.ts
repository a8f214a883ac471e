/**
 * tenant-access-cache.ts: caches tenants' access states and the rights of API keys for TOKEN_TRUST_MS. All requests of
 * the isolate share the cache.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { isSameHash } from "../platform/crypto/compare-secrets.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { ApiKeyUse, ApiKeyUser, TenantAccess } from "../settings/tenant-access.ts"

/** Maximum number of tenants, and of API keys, that an isolate caches. */
const MAX_CACHED_TENANTS = 1_000
const MAX_CACHED_KEYS = 1_000

const accessCache = new FreshCache<TenantAccess>(TOKEN_TRUST_MS, MAX_CACHED_TENANTS)
const keyCache = new FreshCache<ApiKeyUser & { readonly hash: string }>(TOKEN_TRUST_MS, MAX_CACHED_KEYS)

/** Returns the access state of a tenant. Cost: a request to the tenant's object, whose response is cached. */
export async function getTenantAccess(env: Env, tenant: string): Promise<TenantAccess> {
  return await accessCache.getOrFetch(tenant, Date.now(), () => tenantStub(env, tenant).getAccess())
}

/** Makes a change to a tenant's access effective at once in this isolate. */
export function clearCachedAccess(tenant: string): void {
  accessCache.delete(tenant)
}

/**
 * Checks that a token's tenant has not been erased and that the token's key has not been retired, which the signature
 * does not prove. Returns whether the tenant is leaving. Errors: `token_revoked`, `tenant_erased`.
 */
export async function checkTenantAccess(env: Env, { tenant, generation }: Claims): Promise<Result<"open" | "leaving">> {
  let access = await getTenantAccess(env, tenant)
  // Another isolate has rotated the keys. The signature is already verified, so an attacker cannot cause requests by
  // inventing generations.
  if (generation !== undefined && generation > access.newestTokenKey) {
    clearCachedAccess(tenant)
    access = await getTenantAccess(env, tenant)
  }
  const isRetired =
    generation !== undefined && (generation < access.firstTokenKey || generation > access.newestTokenKey)
  if (access.status === "erased") return fail({ reason: "tenant_erased" })
  return isRetired ? fail({ reason: "token_revoked" }) : succeed(access.status)
}

/**
 * Returns the rights of a key if this isolate has cached them; otherwise null, and the caller must use `useApiKey`.
 * Errors: `key_expired`.
 */
export function findCachedKey(tenant: string, use: ApiKeyUse, now: number): Result<ApiKeyUser> | null {
  const cached = keyCache.get(`${tenant}:${use.id}`, now)
  if (cached === undefined || !isSameHash(cached.hash, use.hash)) return null
  return cached.expires !== null && cached.expires <= now ? fail({ reason: "key_expired" }) : succeed(cached)
}

/**
 * Fetches the rights of a key from the tenant's object. Errors: `key_invalid`, `key_expired`.
 *
 * A revoked key is refused within TOKEN_TRUST_MS. Cost: a request to the tenant's object. The result is cached for
 * `findCachedKey`, unless the key was refused.
 */
export async function useApiKey(env: Env, tenant: string, use: ApiKeyUse, now: number): Promise<Result<ApiKeyUser>> {
  const used = await tenantStub(env, tenant).useKey(use)
  if (used.ok) keyCache.set(`${tenant}:${use.id}`, { ...used.value, hash: use.hash }, now)
  return used
}

/** Makes a change to an API key effective at once in this isolate. */
export function clearCachedKey(tenant: string, id: string): void {
  keyCache.delete(`${tenant}:${id}`)
}
