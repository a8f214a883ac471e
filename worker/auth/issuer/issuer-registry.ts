/**
 * issuer-registry.ts: which tenant registered an issuer and audience. At most one has them.
 */

import type { Env } from "../../env.ts"

const claims = new Map<string, string>()

/** The tenant; null if nobody registered them. */
export async function findIssuerTenant(_env: Env, issuer: string, audience: string): Promise<string | null> {
  return claims.get(`${issuer}\0${audience}`) ?? null
}

/** False: another tenant has registered them. Repeating the call has no effect. */
export async function claimIssuer(_env: Env, tenant: string, issuer: string, audience: string): Promise<boolean> {
  const key = `${issuer}\0${audience}`
  if (!claims.has(key)) claims.set(key, tenant)
  return claims.get(key) === tenant
}

export async function releaseIssuer(_env: Env, tenant: string, issuer: string, audience: string): Promise<void> {
  const key = `${issuer}\0${audience}`
  if (claims.get(key) === tenant) claims.delete(key)
}
