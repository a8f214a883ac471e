/**
 * config-cache.ts: caches the configuration of tenants in this isolate for CONFIG_TRUST_MS.
 *
 * All sessions and sign-ins of a tenant read it. Without the cache, each of them would call the tenant's object. A change is effective at
 * once in the isolate of the tenant's object, and elsewhere after CONFIG_TRUST_MS.
 */

import { BoundedMap } from "../platform/bounded-map.ts"
import { FreshCache } from "../platform/fresh-cache.ts"

/** How long an isolate relies on a value, in milliseconds. No token depends on it. SPEC CM4. */
const CONFIG_TRUST_MS = 3 * 60_000

/** Tenants, and values of a tenant, that an isolate caches: an agent has one, a provider of a sign-in two. */
const MAX_CACHED_TENANTS = 1_000
const MAX_CACHED_VALUES = 100

type TenantValues = FreshCache<unknown>

const cachedTenants = new BoundedMap<string, TenantValues>(MAX_CACHED_TENANTS)

/**
 * The value of `key`, cached or fetched. Null is not cached, so that an added value is found at once. Each key always has values of one type.
 * A value that is not usable is neither cached nor returned from the cache.
 *
 * Cost: a request to the tenant's object, at most once in CONFIG_TRUST_MS for each key.
 */
export async function readCachedConfig<T>(
  tenant: string,
  key: string,
  fetchValue: () => Promise<T>,
  isUsable: (value: T) => boolean = (value) => value !== null,
): Promise<T> {
  const values = cachedTenants.get(tenant) ?? new FreshCache<unknown>(CONFIG_TRUST_MS, MAX_CACHED_VALUES)
  const cached = values.get(key, Date.now())
  if (cached !== undefined && isUsable(cached as T)) return cached as T
  cachedTenants.set(tenant, values)
  const fetchedAtMs = Date.now()
  const value = await fetchValue()
  // A change in the meantime has replaced the map.
  if (isUsable(value) && cachedTenants.get(tenant) === values) values.set(key, value, fetchedAtMs)
  return value
}

/** Makes a change of a tenant's configuration effective at once in this isolate. */
export function clearCachedConfig(tenant: string): void {
  cachedTenants.delete(tenant)
}
