/**
 * object-stubs.ts: the names and locations of the Durable Objects, and stubs for them. No other module creates stubs.
 *
 * Every name begins with the tenant, so no id in a request can reach an object of another tenant. The objects of a
 * tenant with a region are created in the platform's jurisdiction of that name. Those of other tenants are created near
 * the first request, or where `locationHint` says.
 */

import { getRegion, type Region } from "../tenant-id.ts"

/** The part of a Durable Object namespace that this module uses. */
interface ObjectNamespace<Stub> {
  getByName(name: string, options?: { readonly locationHint?: DurableObjectLocationHint }): Stub
  jurisdiction(region: Region): { getByName(name: string): Stub }
}

/**
 * Decides where objects are created. Plain workerd has no jurisdictions, so there the region is only part of the name.
 */
interface PlacementEnv {
  readonly ENVIRONMENT: string
}

/** Returns the object of one session. `id` must be a valid key of a session. */
export function sessionStub<Stub>(
  env: PlacementEnv & { readonly SESSION: ObjectNamespace<Stub> },
  tenant: string,
  id: string,
  locationHint?: DurableObjectLocationHint,
): Stub {
  return getStub(env, env.SESSION, tenant, `${tenant}:${id}`, locationHint)
}

/** Returns the directory of one user: the list of sessions, the sign-ins and the revoked tokens. */
export function directoryStub<Stub>(
  env: PlacementEnv & { readonly DIRECTORY: ObjectNamespace<Stub> },
  identity: { readonly tenant: string; readonly user: string },
  locationHint?: DurableObjectLocationHint,
): Stub {
  return getStub(env, env.DIRECTORY, identity.tenant, userKey(identity), locationHint)
}

/** Returns the object of one tenant: its configuration, users, keys and jobs. */
export function tenantStub<Stub>(env: PlacementEnv & { readonly TENANT: ObjectNamespace<Stub> }, tenant: string): Stub {
  return getStub(env, env.TENANT, tenant, tenant)
}

/**
 * Returns the object for one key in the deployment's registry. Each region has its own registry for its tenants. Null:
 * the registry of tenants without a region.
 */
export function registryStub<Stub>(
  env: PlacementEnv & { readonly REGISTRY: ObjectNamespace<Stub> },
  region: Region | null,
  key: string,
): Stub {
  const prefix = region === null ? "" : `${region}.`
  return getStub(env, env.REGISTRY, `${prefix}registry`, `${prefix}${key}`)
}

function getStub<Stub>(
  { ENVIRONMENT }: PlacementEnv,
  namespace: ObjectNamespace<Stub>,
  tenant: string,
  name: string,
  locationHint?: DurableObjectLocationHint,
): Stub {
  const region = getRegion(tenant)
  if (region !== null && ENVIRONMENT !== "local") return namespace.jurisdiction(region).getByName(name)
  return region === null && locationHint !== undefined
    ? namespace.getByName(name, { locationHint })
    : namespace.getByName(name)
}

/** Identifies a user across tenants. Neither id contains a colon. */
export function userKey({ tenant, user }: { readonly tenant: string; readonly user: string }): string {
  return `${tenant}:${user}`
}

/** Parses the name of a directory object. Every stub of one is created with `userKey`. */
export function parseUserKey(key: string | undefined): { readonly tenant: string; readonly user: string } {
  const [tenant = "", user = ""] = (key ?? "").split(":", 2)
  return { tenant, user }
}
