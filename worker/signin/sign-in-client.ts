/**
 * sign-in-client.ts: loads a provider's registration and keys from the tenant's object. Each isolate caches them,
 * because many people sign in at the same time.
 */

import type { Env } from "../env.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readCachedConfig } from "../settings/config-cache.ts"
import type { IssuerKeys, SignInClient } from "../settings/issuer-config.ts"

/** RPC wraps the type; the value is what `getSignInClient` returned. */
export type FoundClient = SignInClient | "secret_unreadable" | null

export async function findClient(env: Env, tenant: string, name: string): Promise<FoundClient> {
  const findInTenant = async () => (await tenantStub(env, tenant).getSignInClient(name)) as FoundClient
  return await readCachedConfig(tenant, `client ${name}`, findInTenant)
}

/**
 * Returns the keys of a provider; null if the tenant has no such provider. Key sets that lack the token's key are not
 * cached, because the object fetches the keys again after a cooldown, and the next sign-in must see the result.
 */
export async function findKeys(env: Env, tenant: string, name: string, kid: string | null): Promise<IssuerKeys | null> {
  const findInTenant = async () => (await tenantStub(env, tenant).getSignInKeys(name, kid)) as IssuerKeys | null
  const isUsable = (found: IssuerKeys | null): boolean =>
    found !== null && Date.now() < found.trustedUntil && (kid === null || found.keys.some((key) => key.kid === kid))
  return await readCachedConfig(tenant, `keys ${name} ${kid}`, findInTenant, isUsable)
}

/**
 * Creates the URL at which the user also signs out at the provider, which redirects to `returnTo`. Null if the
 * registration doesn't ask for that, or the provider has no such endpoint.
 */
export function createLogoutUrl({ config, metadata }: SignInClient, returnTo: string): string | null {
  if (config.logout !== true || metadata.end_session_endpoint === undefined) return null
  const url = new URL(metadata.end_session_endpoint)
  url.searchParams.set("client_id", config.client_id)
  url.searchParams.set("post_logout_redirect_uri", returnTo)
  return url.href
}
