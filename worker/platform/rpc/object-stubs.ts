/**
 * object-stubs.ts: the names of the Durable Objects, and stubs for them.
 *
 * Every name begins with the tenant, so no id in a request reaches an object of another tenant.
 */

/** The part of a Durable Object namespace that is used here. */
interface ObjectNamespace<Stub> {
  getByName(name: string): Stub
}

/** The object of one session. `id` must be a valid id. */
export function sessionStub<Stub>(env: { readonly SESSION: ObjectNamespace<Stub> }, tenant: string, id: string): Stub {
  return env.SESSION.getByName(`${tenant}:${id}`)
}

/** The directory of one user: the list of sessions and the revoked tokens. */
export function directoryStub<Stub>(
  env: { readonly DIRECTORY: ObjectNamespace<Stub> },
  identity: { readonly tenant: string; readonly user: string },
): Stub {
  return env.DIRECTORY.getByName(userKey(identity))
}

/** The object of one tenant: its agents and settings. */
export function tenantStub<Stub>(env: { readonly TENANT: ObjectNamespace<Stub> }, tenant: string): Stub {
  return env.TENANT.getByName(tenant)
}

/** Identifies a user across tenants. Neither id contains a colon. */
export function userKey({ tenant, user }: { readonly tenant: string; readonly user: string }): string {
  return `${tenant}:${user}`
}
