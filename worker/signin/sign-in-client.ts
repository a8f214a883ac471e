/**
 * sign-in-client.ts: a provider as the tenant registered it, and its keys. Each isolate caches them, because many people sign
 * in at the same time.
 */

import type { Env } from "../env.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readCachedConfig } from "../settings/config-cache.ts"
import type { IssuerKeys, SignInClient } from "../settings/issuer-config.ts"

/** RPC wraps the type; the value is what `getSignInClient` returned. */
export type FoundClient = SignInClient | "secret_unreadable" | null

export async function findClient(env: Env, tenant: string, name: string): Promise<FoundClient> {
  const find = async () => (await tenantStub(env, tenant).getSignInClient(name)) as FoundClient
  return await readCachedConfig(tenant, `client ${name}`, find)
}

/**
 * Null if the tenant has no such provider. Keys without the one that the token names are not cached: the object fetches them again after
 * a cooldown, and the next sign-in must see the result.
 */
export async function findKeys(env: Env, tenant: string, name: string, kid: string | null): Promise<IssuerKeys | null> {
  const find = async () => (await tenantStub(env, tenant).getSignInKeys(name, kid)) as IssuerKeys | null
  const isUsable = (found: IssuerKeys | null): boolean =>
    found !== null && Date.now() < found.trustedUntil && (kid === null || found.keys.some((key) => key.kid === kid))
  return await readCachedConfig(tenant, `keys ${name} ${kid}`, find, isUsable)
}
