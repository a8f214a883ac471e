/**
 * issuer-registry.ts: finds the tenant that registered an issuer and audience. At most one tenant of a deployment can
 * register a pair.
 *
 * The registry of a region stores the pairs of that region's tenants, so that nothing about them is stored elsewhere. A
 * look-up queries all registries, because a token doesn't name a region. A registration queries them too, because
 * tenants of different regions must not register the same pair. The registries receive only a hash, and a query stores
 * nothing (SPEC RG1).
 */

import { fail, type Result } from "../../../shared/fault.ts"
import { computeHash } from "../../platform/crypto/sha256-hex.ts"
import type { Env } from "../../env.ts"
import { listServedRegions } from "../../platform/media-bucket.ts"
import { registryStub } from "../../platform/rpc/object-stubs.ts"
import { getRegion, type Region } from "../../platform/tenant-id.ts"

/** A registry's region; null for the registry of tenants without a region. */
type Place = Region | null

function listPlaces(env: Env): readonly Place[] {
  return [null, ...listServedRegions(env)]
}

async function createRegistryKey(issuer: string, audience: string): Promise<string> {
  return `issuer:${await computeHash(`${issuer}\0${audience}`)}`
}

/**
 * Returns the tenant that registered the pair. Null if there is none, or if two tenants of different regions are
 * registering the pair at this moment. Stores nothing.
 */
export async function findIssuerTenant(env: Env, issuer: string, audience: string): Promise<string | null> {
  const key = await createRegistryKey(issuer, audience)
  const tenants = await Promise.all(listPlaces(env).map((place) => registryStub(env, place, key).lookup()))
  const found = tenants.filter((tenant) => tenant !== null)
  return found.length === 1 ? (found[0] ?? null) : null
}

/**
 * Registers an issuer and audience for a tenant. Repeating the call has no effect. Errors: `issuer_taken`.
 *
 * The other registries are queried after the claim. So if two tenants of different regions claim the same pair at the
 * same time, at most one succeeds.
 */
export async function claimIssuer(env: Env, tenant: string, issuer: string, audience: string): Promise<Result<null>> {
  const key = await createRegistryKey(issuer, audience)
  const own = getRegion(tenant)
  const claimed = await registryStub(env, own, key).claim(tenant)
  if (!claimed.ok) return claimed
  const others = listPlaces(env).filter((place) => place !== own)
  const tenants = await Promise.all(others.map((place) => registryStub(env, place, key).lookup()))
  if (tenants.every((other) => other === null)) return claimed
  await registryStub(env, own, key).release(tenant)
  return fail({ reason: "issuer_taken" })
}

export async function releaseIssuer(env: Env, tenant: string, issuer: string, audience: string): Promise<void> {
  const key = await createRegistryKey(issuer, audience)
  await registryStub(env, getRegion(tenant), key).release(tenant)
}
