/**
 * config-cache.ts: caches the configuration of tenants in this isolate for CONFIG_TRUST_MS.
 *
 * All sessions and sign-ins of a tenant read it. Without the cache, each of them would call the tenant's object. A
 * change takes effect at once in the isolate of the tenant's object, and within CONFIG_TRUST_MS elsewhere.
 */

import { BoundedMap } from "../platform/bounded-map.ts"
import { FreshCache } from "../platform/fresh-cache.ts"

/**
 * How long an isolate relies on a cached value, in milliseconds. The validity of tokens does not depend on it. SPEC
 * CM4.
 */
const CONFIG_TRUST_MS = 3 * 60_000

/**
 * Maximum number of tenants, and of values per tenant, that an isolate caches. An agent has one value, and a sign-in
 * provider has two.
 */
const MAX_CACHED_TENANTS = 1_000
const MAX_CACHED_VALUES = 100

type TenantValues = FreshCache<unknown>

const cachedTenants = new BoundedMap<string, TenantValues>(MAX_CACHED_TENANTS)

/**
 * Returns the cached value of `key`, or fetches it. Null is not cached, so that a value that is added later is found at
 * once. All values of a key must have the same type. A value for which `isUsable` is false is neither cached nor
 * returned from the cache.
 *
 * Cost: a request to the tenant's object, at most once per CONFIG_TRUST_MS for each key.
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
  // If the configuration was changed in the meantime, the map was replaced, and this value may be stale.
  if (isUsable(value) && cachedTenants.get(tenant) === values) values.set(key, value, fetchedAtMs)
  return value
}

/** Makes a change to a tenant's configuration effective at once in this isolate. */
export function clearCachedConfig(tenant: string): void {
  cachedTenants.delete(tenant)
}
